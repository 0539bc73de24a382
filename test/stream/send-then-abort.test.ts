// send() and then abort() in one turn: what the transport takes at once goes before the reset.
import { describe, expect, test } from 'vitest'
import { ACK, data, DATA, GO_AWAY, pattern, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, headers, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { Header, Conversation } from '../../testing/protocol/conversation.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'

forbidIncidents()

const MEBIBYTE = 2 ** 20

/** A write that the transport is slow with, so that it says to wait from then on */
async function fill (peer: Conversation): Promise<void> {
  peer.transport.isFull = true
  peer.deliver(ping(1, SYN))
  await peer.written()
}

function dataBytes (frames: Header[], streamId: number): number {
  return frames.reduce((sum, [type, , id, length]) => type === DATA && id === streamId ? sum + length : sum, 0)
}

describe.each<[string, YamuxMuxerInit]>([
  ['by default', {}],
  ['with a delay', { coalesce: { delayMs: 1000 } }],
  ['with every frame a write', { coalesce: { strategy: 'off' } }],
  ['with messages kept apart', { coalesce: { mergeMessages: false } }]
])('what was sent before an abort in the same turn, %s,', (_, options) => {
  test('is handed down within the call, and the reset behind it', async () => {
    const peer = converse(options)
    const stream = await peer.open()
    stream.send(pattern(100))
    stream.abort(new Error('Enough'))
    const frames = headers(peer.takeFrames())

    expect(dataBytes(frames, 1)).toBe(100)
    frames.push(...await peer.written())
    expect(frames.slice(1)).toEqual([[WINDOW_UPDATE, RST, 1, 0]])
  })

  test('does not move the stream to another lane', async () => {
    const peer = converse(options)
    const stream = await peer.open()
    stream.priority = 'bulk'
    stream.send(pattern(100))
    stream.abort(new Error('Enough'))

    expect(stream.priority).toBe('bulk')
  })

  test('is handed down as far as the peer has given credit', async () => {
    const peer = converse({ ...options, maxMessageSize: 1024 })
    const stream = await peer.open()

    for (let i = 0; i < WINDOW_BYTES / 1000; i++) {
      stream.send(pattern(1000))
    }

    stream.send(pattern(1000))
    stream.abort(new Error('Enough'))
    const frames = headers(peer.takeFrames())

    expect(dataBytes(frames, 1)).toBeGreaterThan(WINDOW_BYTES - 1000)
    expect(stream.writeBufferLength).toBe(0)
    peer.deliver(windowUpdate(1, WINDOW_BYTES))
    frames.push(...await peer.written())
    expect(frames.filter(([type]) => type !== DATA)).toEqual([[WINDOW_UPDATE, RST, 1, 0]])
    expect(frames.at(-1)).toEqual([WINDOW_UPDATE, RST, 1, 0])
  })

  test('is discarded while the transport is full', async () => {
    const peer = converse(options)
    await fill(peer)
    const stream = await peer.muxer.createStream()
    stream.send(pattern(100))
    stream.abort(new Error('Enough'))
    peer.transport.drain()

    // it never heard of it
    expect((await peer.written()).filter(([, , id]) => id === 1)).toEqual([])
  })

  test('is handed down when the muxer is aborted, before its resets and the GoAway', async () => {
    const peer = converse(options)
    const streams = [await peer.open(), await peer.open()]
    streams.forEach(stream => { stream.send(pattern(100)) })
    peer.muxer.abort(new Error('Enough'))
    const frames = headers(peer.takeFrames())

    expect(streams.map(({ id }) => dataBytes(frames, Number(id)))).toEqual([100, 100])
    expect(frames.slice(-3)).toEqual([[WINDOW_UPDATE, RST, 1, 0], [WINDOW_UPDATE, RST, 3, 0], [GO_AWAY, 0, 0, 2]])
  })
})

describe('an abort of a stream with bytes queued', () => {
  test('opens the stream for the peer first, if that waits too', async () => {
    const peer = converse()
    // the SYN of a turn's first stream leaves at once
    await peer.muxer.createStream()
    const stream = await peer.muxer.createStream()
    stream.send(pattern(100))
    stream.abort(new Error('Enough'))

    expect((await peer.written()).filter(([, , id]) => id === 3)).toEqual([[DATA, SYN, 3, 100], [WINDOW_UPDATE, RST, 3, 0]])
  })

  test('hands all of it down, although its turn of the event loop has written what it may', async () => {
    const peer = converse()
    const streams = await Promise.all(Array.from({ length: 30 }, async () => peer.open()))
    streams.forEach(({ id }) => { peer.deliver(windowUpdate(Number(id), 10 * MEBIBYTE)) })
    const [stream, ...others] = streams
    others.forEach(other => { other.send(pattern(WINDOW_BYTES)) })
    // a microtask later the turn is spent
    await null
    await null
    stream.send(pattern(5 * MEBIBYTE))
    stream.abort(new Error('Enough'))

    expect(dataBytes(headers(peer.takeFrames()), 1)).toBe(5 * MEBIBYTE)
  })

  test('writes nothing more for streams that have nothing queued', async () => {
    const peer = converse()
    const [sending, ...streams] = await Promise.all(Array.from({ length: 100 }, async () => peer.open()))
    sending.send(pattern(100))
    streams.forEach(stream => { stream.abort(new Error('Enough')) })

    expect(peer.takeWrites()).toEqual([])
  })

  test('stops where the transport says to wait', async () => {
    const peer = converse()
    const stream = await peer.open()
    const send = peer.transport.send.bind(peer.transport)
    peer.transport.send = bytes => {
      peer.transport.isFull = true
      return send(bytes)
    }
    stream.send(pattern(200_000))
    stream.abort(new Error('Enough'))

    const writes = peer.takeWrites()
    expect(writes).toHaveLength(1)
    expect(writes[0].byteLength).toBeLessThan(70_000)
    peer.transport.drain()
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, 1, 0]])
  })

  test('takes place within a listener of another stream', async () => {
    const peer = converse()
    const relayed = await peer.open()
    const source = await peer.open()
    source.addEventListener('message', evt => {
      relayed.send(evt.data.subarray(0, 3))
      relayed.abort(new Error('The limit is reached'))
      source.abort(new Error('The limit is reached'))
    })
    peer.deliver(data(3, pattern(5), ACK))

    expect((await peer.written()).map(([type, flags, id, length]) => [type, flags & RST, id, length])).toEqual([[DATA, 0, 1, 3], [WINDOW_UPDATE, RST, 1, 0], [WINDOW_UPDATE, RST, 3, 0]])
  })

  test('discards it in the middle of a write, and what is being written is whole', async () => {
    const peer = converse()
    const stream = await peer.open()
    const other = await peer.open()
    const send = peer.transport.send.bind(peer.transport)
    peer.transport.send = bytes => {
      peer.transport.send = send
      const takesMore = send(bytes)
      stream.send(pattern(50))
      stream.abort(new Error('Enough'))

      return takesMore
    }
    other.send(pattern(10))

    expect(await peer.written()).toEqual([[DATA, 0, 3, 10], [WINDOW_UPDATE, RST, 1, 0]])
  })

  test('delivers nothing that the peer answers meanwhile', async () => {
    const peer = converse()
    const stream = await peer.open()
    const received = receive(stream)
    const events = endings(stream)
    const send = peer.transport.send.bind(peer.transport)
    peer.transport.send = bytes => {
      peer.transport.send = send
      const takesMore = send(bytes)
      peer.deliver(data(1, pattern(20), ACK))

      return takesMore
    }
    const reason = new Error('Enough')
    stream.send(pattern(10))
    stream.abort(reason)

    expect(received.byteLength).toBe(0)
    expect(stream.readBufferLength).toBe(0)
    expect(events).toMatchObject([{ error: reason, local: true }])
    expect(await peer.written()).toEqual([[DATA, 0, 1, 10], [WINDOW_UPDATE, RST, 1, 0]])
  })

  test('is its end also when the transport breaks at that', async () => {
    const peer = converse()
    const stream = await peer.open()
    const [events, othersEvents] = [endings(stream), endings(await peer.open())]
    const broken = new Error('Broken pipe')
    const reason = new Error('Enough')
    peer.transport.send = () => { throw broken }
    stream.send(pattern(10))
    stream.abort(reason)
    await nextTurn()

    expect(events).toMatchObject([{ error: reason, local: true }])
    expect(stream.status).toBe('aborted')
    expect(othersEvents).toMatchObject([{ error: { name: 'TransportClosedError', cause: broken } }])
    expect(peer.transport.abortedWith).toBe(broken)
  })

  test.each([true, false])('says once that it is idle, whether the transport is full: %s', async isFull => {
    const peer = converse()
    const stream = await peer.open()
    const quiet = await peer.open()

    if (isFull) {
      await fill(peer)
    }

    const events: string[] = []
    const kinds = ['drain', 'idle', 'end', 'close'] as const
    kinds.forEach(kind => { stream.addEventListener(kind, () => { events.push(`${kind}, ${stream.status}, ${stream.writeBufferLength}`) }) })
    kinds.forEach(kind => { quiet.addEventListener(kind, () => { events.push(`quiet ${kind}`) }) })
    stream.send(pattern(10))
    stream.abort(new Error('Enough'))
    quiet.abort(new Error('Enough'))
    await nextTurn()

    expect(events).toEqual(['idle, aborted, 0', 'end, aborted, 0', 'close, aborted, 0', 'quiet end', 'quiet close'])
  })

  test('is told once when a listener of idle aborts it again', async () => {
    const peer = converse()
    const stream = await peer.open()
    const events = endings(stream)
    stream.addEventListener('idle', () => {
      stream.abort(new Error('Once more'))
      throw new Error('The listener failed')
    })
    stream.send(pattern(10))
    stream.abort(new Error('Enough'))
    await nextTurn()

    expect(events).toMatchObject([{ error: { message: 'Enough' } }])
  })
})
