// Which lane a stream goes out in: by protocol, and by hand.
import { describe, expect, test } from 'vitest'
import { LANES } from '../../src/core/scheduler/lane.ts'
import { yamux } from '../../src/index.ts'
import { createLaneOf } from '../../src/options/priority.ts'
import { ACK, parseFrames, pattern, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import type { Priority } from '../../src/index.ts'

const ETHEREUM: Priority = { '/meshsub/*': 'urgent', '/eth2/beacon_chain/req/*': 'bulk', '/exact/1.0.0': 'bulk' }

describe('a table of protocols', () => {
  test.each([
    ['/meshsub/1.1.0', 'urgent'],
    ['/meshsub/', 'urgent'],
    ['/eth2/beacon_chain/req/beacon_blocks_by_range/2/ssz_snappy', 'bulk'],
    ['/exact/1.0.0', 'bulk'],
    ['/exact/1.0.0/more', 'normal'],
    ['/exact/1x0.0', 'normal'],
    ['/old/meshsub/1.1.0', 'normal'],
    ['', 'normal']
  ])('puts %s in the lane %s', (protocol, lane) => {
    expect(LANES[createLaneOf(ETHEREUM)(protocol)]).toBe(lane)
  })

  test.each([...'\\^$.|?+()[]{}/-'])('takes %s literally', character => {
    const laneOf = createLaneOf({ [`/a${character}b${character}/*`]: 'urgent' })
    const lanes = [`/a${character}b${character}/1`, '/ab/1', '/axbx/1', '/aab/1'].map(protocol => LANES[laneOf(protocol)])

    expect(lanes).toEqual(['urgent', 'normal', 'normal', 'normal'])
  })

  test('is read from the top', () => {
    const laneOf = createLaneOf({ '/a/b': 'bulk', '/a/*': 'urgent' })

    expect([LANES[laneOf('/a/b')], LANES[laneOf('/a/c')]]).toEqual(['bulk', 'urgent'])
  })

  test('with an unknown lane is refused at once', () => {
    expect(() => yamux({ priority: { '/a': 'high' as 'urgent' } })).toThrow(expect.objectContaining({
      name: 'InvalidParametersError',
      message: 'priority["/a"] is "high", it must be \'urgent\' or \'normal\' or \'bulk\''
    }))
  })
})

describe('a function', () => {
  test('is asked for every protocol; what it does not know is normal', () => {
    const laneOf = createLaneOf(protocol => protocol.startsWith('/a') ? 'bulk' : undefined)

    expect([LANES[laneOf('/a')], LANES[laneOf('/b')]]).toEqual(['bulk', 'normal'])
  })

  test('that answers with an unknown lane is an error for who sets the protocol', () => {
    const laneOf = createLaneOf(() => 'high' as 'urgent')

    expect(() => laneOf('/a')).toThrow('priority("/a") is "high", it must be \'urgent\' or')
  })
})

describe('a stream', () => {
  test('is normal, and changes lane when its protocol is agreed on', async () => {
    const { muxer } = createRawPeer({ priority: ETHEREUM })
    const stream = await muxer.createStream()
    expect(stream.priority).toBe('normal')

    stream.protocol = '/meshsub/1.2.0'
    expect([stream.protocol, stream.priority]).toEqual(['/meshsub/1.2.0', 'urgent'])

    stream.protocol = '/ping/1.0.0'
    expect(stream.priority).toBe('normal')
  })

  test('takes what is queued along when it changes lane', async () => {
    const peer = createRawPeer()
    const streams = [await peer.muxer.createStream(), await peer.muxer.createStream(), await peer.muxer.createStream()]
    streams.forEach((_, i) => { peer.deliver(windowUpdate(1 + 2 * i, 0, ACK)) })
    await nextTurn()
    peer.takeWrites()
    streams.forEach(stream => stream.send(pattern(10)))
    streams[0].priority = 'bulk'
    streams[2].priority = 'urgent'
    await nextTurn()

    expect(peer.takeWrites().flatMap(bytes => parseFrames(bytes.subarray())).map(({ id }) => id)).toEqual([5, 3, 1])
  })

  test('refuses an unknown lane and stays where it is', async () => {
    const { muxer } = createRawPeer()
    const stream = await muxer.createStream()
    stream.priority = 'bulk'

    expect(() => { stream.priority = 'low' as 'bulk' }).toThrow('stream.priority is "low", it must be \'urgent\' or')
    expect(stream.priority).toBe('bulk')
  })

  test('that is over may be given any lane', async () => {
    const { muxer } = createRawPeer()
    const stream = await muxer.createStream()
    stream.abort(new Error('over'))

    expect(() => { stream.priority = 'urgent' }).not.toThrow()
  })
})
