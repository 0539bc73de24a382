// An inactivityTimeout that is set, changed or taken away while the stream is open.
import { describe, expect, test } from 'vitest'
import { ACK, data, pattern, RST, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import { converse, endings, expectAlive } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

describe('an inactivityTimeout that is set when the stream is open', () => {
  async function connectInTime (count = 1): Promise<{ peer: Conversation, clock: VirtualClock, streams: YamuxStream[], statuses: () => string[] }> {
    const clock = new VirtualClock()
    const peer = converse({ clock })
    const streams: YamuxStream[] = []

    for (let i = 0; i < count; i++) {
      const stream = await peer.open()
      peer.deliver(windowUpdate(Number(stream.id), 0, ACK))
      streams.push(stream)
    }

    clock.advance(100_000)

    return { peer, clock, streams, statuses: () => streams.map(({ status }) => status) }
  }

  /** A part of it later they are found at the latest */
  const FOUND_MS = 1200

  test('is kept', async () => {
    const { peer, clock, streams: [stream] } = await connectInTime()
    const events = endings(stream)
    peer.deliver(data(1, pattern(1)))
    stream.inactivityTimeout = 1000
    expect(stream.inactivityTimeout).toBe(1000)
    clock.advance(999)
    expect(stream.status).toBe('open')
    clock.advance(FOUND_MS - 999)

    expect(events).toMatchObject([{ error: { name: 'InactivityTimeoutError', code: 'ERR_INACTIVITY_TIMEOUT', message: expect.stringMatching(/1000 ms/) } }])
    expect(await peer.written()).toContainEqual([WINDOW_UPDATE, RST, 1, 0])
    await expectAlive(peer)
  })

  test('is kept of a stream that has been idle for longer already', async () => {
    const { clock, streams: [stream] } = await connectInTime()
    stream.inactivityTimeout = 1000
    clock.advance(FOUND_MS)
    expect(stream.status).toBe('aborted')
  })

  test('is put off by data in either direction', async () => {
    const { peer, clock, streams: [stream] } = await connectInTime()
    stream.inactivityTimeout = 1000

    for (let i = 0; i < 10; i++) {
      stream.send(pattern(1))
      await nextTurn()
      clock.advance(900)
      peer.deliver(data(1, pattern(1)))
      clock.advance(900)
    }

    expect(stream.status).toBe('open')
    clock.advance(FOUND_MS)
    expect(stream.status).toBe('aborted')
  })

  test.each([0, Infinity])('is off again when it is set to %d', async timeoutMs => {
    const { peer, clock, streams: [stream] } = await connectInTime()
    stream.inactivityTimeout = 1000
    peer.deliver(data(1, pattern(1)))
    clock.advance(500)
    stream.inactivityTimeout = timeoutMs
    clock.advance(1_000_000)
    expect(stream.status).toBe('open')
    peer.deliver(data(1, pattern(1)))
    stream.inactivityTimeout = 1000
    clock.advance(FOUND_MS)
    expect(stream.status).toBe('aborted')
  })

  test('is shortened and made longer', async () => {
    const { peer, clock, streams: [stream] } = await connectInTime()
    peer.deliver(data(1, pattern(1)))
    stream.inactivityTimeout = 60_000
    clock.advance(10_000)
    stream.inactivityTimeout = 15_000
    clock.advance(4000)
    expect(stream.status).toBe('open')
    stream.inactivityTimeout = 100_000
    clock.advance(80_000)
    expect(stream.status).toBe('open')
    stream.inactivityTimeout = 95_000
    clock.advance(15_000)
    expect(stream.status).toBe('aborted')
  })

  test('is each stream\'s own', async () => {
    const { peer, clock, streams, statuses } = await connectInTime(4)
    streams.forEach(({ id }) => { peer.deliver(data(Number(id), pattern(1))) })
    streams[2].inactivityTimeout = 60_000
    streams[0].inactivityTimeout = 1000
    streams[1].inactivityTimeout = 10_000
    clock.advance(FOUND_MS)
    expect(statuses()).toEqual(['aborted', 'open', 'open', 'open'])
    clock.advance(10_000)
    expect(statuses()).toEqual(['aborted', 'aborted', 'open', 'open'])
    clock.advance(60_000)
    expect(statuses()).toEqual(['aborted', 'aborted', 'aborted', 'open'])
    clock.advance(10_000_000)
    expect(statuses()[3]).toBe('open')
  })

  test.each<[unknown]>([[-1], [NaN], ['1000'], [10n], [undefined], [Symbol('long')], [{ valueOf () { throw new Error('No number') } }]])('that is %s is refused, and the one before is kept', async timeout => {
    const { clock, streams: [stream, other] } = await connectInTime(2)
    stream.inactivityTimeout = 1000
    expect(() => { stream.inactivityTimeout = timeout as number }).toThrow(expect.objectContaining({ name: 'InvalidParametersError' }))
    expect(stream.inactivityTimeout).toBe(1000)
    clock.advance(FOUND_MS)

    expect([stream.status, other.status]).toEqual(['aborted', 'open'])
  })

  test('is refused by createStream() before anything is opened, when it is none', async () => {
    const { peer } = await connectInTime(1)
    await expect(peer.muxer.createStream({ inactivityTimeout: 10n as unknown as number })).rejects.toThrow(expect.objectContaining({ name: 'InvalidParametersError' }))

    expect(await peer.written()).toEqual([])
    expect(peer.muxer.streams).toHaveLength(1)
  })

  test('is kept of a stream that the peer has opened', async () => {
    const clock = new VirtualClock()
    const peer = converse({ clock })
    peer.muxer.addEventListener('stream', ({ detail }) => { detail.inactivityTimeout = 1000 })
    const stream = await peer.accept(2)
    clock.advance(FOUND_MS)

    expect(stream.status).toBe('aborted')
  })
})
