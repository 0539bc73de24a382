// What is said at debug level of streams that are refused, reset and closed, and of the end of a connection.
import { describe, expect, test } from 'vitest'
import { ACK, data, FIN, frame, GO_AWAY, goAway, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import { createSink } from './fixtures/recording-log.ts'
import type { RawPeer, RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { Sink } from './fixtures/recording-log.ts'

interface LoggedPeer extends RawPeer {
  sink: Sink
  /** The lines of the connection, and of its streams, at debug level since the last call */
  takeLines (): string[]
}

function createLoggedPeer (init: RawPeerInit = {}, isEnabled = true): LoggedPeer {
  const { sink, log } = createSink(isEnabled)

  return {
    ...createRawPeer({ log, ...init }),
    sink,
    takeLines: () => sink.lines.splice(0)
      .filter(([scope]) => !/:(error|trace)$/.test(String(scope)))
      .map(([, ...texts]) => texts.reduce<string>((text, arg) => text.replace('%s', String(arg)), '%s'))
  }
}

describe('a stream that is refused', () => {
  test('is named, with the limit', () => {
    const { deliver, takeLines } = createLoggedPeer({ maxInboundStreams: 1 })
    deliver(windowUpdate(2, 0, SYN), windowUpdate(4, 0, SYN), windowUpdate(6, 0, SYN))

    expect(takeLines()).toEqual([
      'refused stream 4, maxInboundStreams allows 1',
      'refused stream 6, maxInboundStreams allows 1'
    ])
  })

  test('is named when this side is closing', async () => {
    const { muxer, deliver, takeLines } = createLoggedPeer()
    await muxer.close()
    takeLines()
    deliver(windowUpdate(2, 0, SYN))

    expect(takeLines()).toEqual(['refused stream 2, this side is closing'])
  })

  test('harms nothing when the log ends the connection over it', async () => {
    const { muxer, deliver, sink, takeFrames } = createLoggedPeer({ maxInboundStreams: 1 })
    deliver(windowUpdate(2, 0, SYN))
    sink.onLine = () => { muxer.abort(new Error('enough')) }
    deliver(windowUpdate(4, 0, SYN), windowUpdate(6, 0, SYN), data(2, new Uint8Array(5)))
    await nextTurn()

    expect(muxer.status).toBe('closed')
    expect(muxer.streams).toEqual([])
    expect(takeFrames().at(-1)).toMatchObject({ type: GO_AWAY, length: 2 })
  })
})

describe('the end of a stream', () => {
  const ends: Array<[how: string, line: string, end: (peer: RawPeer) => void]> = [
    ['in good order', 'closed', ({ muxer, deliver }) => {
      deliver(windowUpdate(1, 0, FIN))
      muxer.streams[0].close().catch(() => {})
    }],
    ['reset by the peer', 'reset - The peer reset stream 1', ({ deliver }) => { deliver(windowUpdate(1, 0, RST)) }],
    ['reset by the peer with a code', 'reset - The peer reset stream 1 with error code 7', ({ deliver }) => { deliver(windowUpdate(1, 7, RST)) }],
    ['aborted here', 'aborted - no longer wanted', ({ muxer }) => { muxer.streams[0].abort(new Error('no longer wanted')) }],
    ['cut off', 'reset - The connection closed before the stream had ended, data may be missing', ({ transport }) => { transport.end() }]
  ]

  test.each(ends)('%s is one line: %s', async (_, line, end) => {
    const peer = createLoggedPeer()
    await peer.muxer.createStream()
    peer.deliver(windowUpdate(1, 0, ACK))
    await nextTurn()
    expect(peer.takeLines()).toEqual([])

    end(peer)
    await nextTurn()
    expect(peer.takeLines().filter(text => text.startsWith('outbound'))).toEqual([`outbound 1: ${line}`])
  })

  test('comes about although its reason cannot be printed', async () => {
    const { muxer, takeLines } = createLoggedPeer()
    const stream = await muxer.createStream()
    stream.abort(Object.defineProperty(new Error('hidden'), 'message', { get () { throw new Error('not this one') } }))

    expect(stream.status).toBe('aborted')
    expect(takeLines()).toEqual([])
  })
})

describe('the end of a connection', () => {
  const ends: Array<[how: string, lines: string[], end: (peer: RawPeer) => unknown]> = [
    ['closed here', ['closed by this side with 1 open streams, GoAway code 0', 'closed by the transport with 1 open streams'], async ({ muxer, transport }) => {
      await muxer.close()
      transport.end()
    }],
    ['closed here for a reason', ['closed by this side with 1 open streams, GoAway code 1'], ({ muxer }) => muxer.close({ reason: 1 })],
    ['aborted here', ['closed by this side with 1 open streams, GoAway code 2 - enough'], ({ muxer }) => { muxer.abort(new Error('enough')) }],
    ['because the peer broke a rule', ['closed by this side with 1 open streams, GoAway code 1 - received a frame of type 4, the highest is 3'], ({ deliver }) => { deliver(frame(4, 0, 1)) }],
    ['by a peer that has had enough', ['closed by the peer with 1 open streams, GoAway code 2'], ({ deliver }) => { deliver(goAway(2)) }],
    ['by a peer in good order', ['closed by the peer with 1 open streams, GoAway code 0', 'closed by the transport with 0 open streams'], ({ deliver }) => {
      deliver(goAway(0))
      deliver(windowUpdate(1, 0, RST))
    }],
    ['by the transport', ['closed by the transport with 1 open streams'], ({ transport }) => { transport.end() }],
    ['by a transport that failed', ['closed by the transport with 1 open streams - cut'], ({ transport }) => { transport.end(new Error('cut')) }]
  ]

  test.each(ends)('%s says who and why: %j', async (_, lines, end) => {
    const peer = createLoggedPeer()
    await peer.muxer.createStream()
    peer.deliver(windowUpdate(1, 0, ACK))
    await nextTurn()
    await end(peer)
    await nextTurn()

    expect(peer.takeLines().filter(line => !line.startsWith('outbound'))).toEqual(lines)
  })
})

describe('while nobody reads the log', () => {
  test('nothing is said, and nothing made to be said', async () => {
    let asked = 0
    const { muxer, deliver, takeLines } = createLoggedPeer({ maxInboundStreams: 0 }, false)
    const stream = await muxer.createStream()
    deliver(windowUpdate(2, 0, SYN))
    stream.abort(Object.defineProperty(new Error(), 'message', { get () { asked++; return '' } }))
    muxer.abort(Object.defineProperty(new Error(), 'message', { get () { asked++; return '' } }))

    expect(takeLines()).toEqual([])
    expect(asked).toBe(0)
  })
})
