// What goes wrong has the same name with either muxer: applications look for names.
import { StreamMessageEvent } from '@libp2p/interface'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ProtocolError } from '../../src/index.ts'
import { ACK, concat, data, frame, goAway, pattern, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { isOwn, muxers, OWN_MUXERS } from '../../testing/muxers.ts'
import { closeOf } from '../../testing/libp2p/streams.ts'
import type { PingingMuxer } from './fixtures/connected-pair.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { MultiaddrConnection, Stream } from '@libp2p/interface'

const WINDOW_BYTES = 262_144
/** Beyond the window, as a stock peer may with another initialStreamWindowSize: the rest of maxReadBufferLength */
const MOST_TOLERATED_BYTES = 4_194_304

const VIOLATIONS: Array<[what: string, name: string, bytes: Uint8Array]> = [
  ['another version', 'InvalidFrameError', Uint8Array.of(1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)],
  ['an unknown type', 'InvalidFrameError', frame(9, 0, 0)],
  ['a ping on a stream', 'InvalidFrameError', frame(2, SYN, 1)],
  ['data on no stream', 'InvalidFrameError', data(0, pattern(1))],
  ['more than the window allows', 'ReceiveWindowExceededError', data(1, pattern(MOST_TOLERATED_BYTES + 1))],
  ['an opening with an id of this side', 'InvalidParametersError', windowUpdate(1, 0, SYN)]
]

describe.each<MuxerName>([...OWN_MUXERS, 'stock'])('with %s', muxerName => {
  let transport: MultiaddrConnection
  let muxer: PingingMuxer
  let stream: Stream
  const deliver = (...frames: Uint8Array[]): void => { transport.dispatchEvent(new StreamMessageEvent(concat(...frames))) }

  beforeEach(async () => {
    const createFactory = await muxers[muxerName]({ maxOutboundStreams: 2 })
    ;[transport] = multiaddrConnectionPair()
    muxer = createFactory().createStreamMuxer(transport) as PingingMuxer
    stream = await muxer.createStream()
    await new Promise(resolve => { setTimeout(resolve, 1) })
    deliver(windowUpdate(1, 0, ACK))
  })

  afterEach(() => {
    transport.abort(new Error('The test is over'))
  })

  test.each(VIOLATIONS)('%s ends the streams, and the connection, with %s', async (_, name, bytes) => {
    const closes = [stream, transport].map(closeOf)
    deliver(bytes)
    const errors = (await Promise.all(closes)).map(({ error }) => error)

    expect(errors.map(error => error?.name)).toEqual([name, name])

    if (isOwn(muxerName)) {
      expect(errors).toEqual([expect.any(ProtocolError), expect.any(ProtocolError)])
    }
  })

  test('a stream too many is refused with TooManyOutboundProtocolStreamsError', async () => {
    await muxer.createStream()

    await expect(muxer.createStream()).rejects.toThrow(expect.objectContaining({ name: 'TooManyOutboundProtocolStreamsError' }))
  })

  test('streams and pings after the end are refused with MuxerClosedError', async () => {
    muxer.abort(new Error('Enough'))

    await expect(muxer.createStream()).rejects.toThrow(expect.objectContaining({ name: 'MuxerClosedError' }))
    await expect(muxer.ping()).rejects.toThrow(expect.objectContaining({ name: 'MuxerClosedError' }))
  })

  test('so are streams once the peer has gone away', async () => {
    deliver(goAway(0))

    await expect(muxer.createStream()).rejects.toThrow(expect.objectContaining({ name: 'MuxerClosedError' }))
  })

  test('writing to a stream that is closed throws StreamStateError, and to one that was reset', async () => {
    const other = await muxer.createStream()
    await stream.close()
    deliver(windowUpdate(3, 0, 8))

    for (const each of [stream, other]) {
      expect(() => { each.send(pattern(1)) }).toThrow(expect.objectContaining({ name: 'StreamStateError' }))
    }
  })

  test('a writer that waits learns of the peer\'s reset with StreamResetError, and of an abort with its error', async () => {
    const other = await muxer.createStream()
    const errors = [stream, other].map(async each => {
      each.send(pattern(3 * WINDOW_BYTES))

      return each.onDrain().catch((err: Error) => err.name)
    })
    deliver(windowUpdate(1, 0, 8))
    other.abort(new TypeError('Enough'))

    expect(await Promise.all(errors)).toEqual(['StreamResetError', 'TypeError'])
  })
})
