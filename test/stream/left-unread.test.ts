// A server that answers, closes its side and never reads: its peer may send as much as a stream may hold, and the rest is refused soon, without an error.
import { lpStream } from '@libp2p/utils'
import { describe, expect, test } from 'vitest'
import { data, DATA, FIN, parseFrames, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { endings, readAll } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { createMeteredPeer } from '../muxer/fixtures/metered-peer.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { MeteredPeer, MeteredPeerInit } from '../muxer/fixtures/metered-peer.ts'

forbidIncidents()

const WINDOW_BYTES = 262_144
const FRAME_BYTES = 65_536
const MEBIBYTE = 2 ** 20
const ID = 2

type Handler = (stream: YamuxStream) => unknown

interface Upload {
  peer: MeteredPeer
  stream: YamuxStream
  /** Sends as much of it as there is credit for; returns how much, and how the peer was answered */
  send (byteLength: number): Promise<{ sentBytes: number, isReset: boolean }>
}

async function negotiate (stream: YamuxStream): Promise<void> {
  const lp = lpStream(stream)
  await lp.read()
  lp.unwrap()
}

/** The peer opens a stream, which `handler` has; the protocol is negotiated before as libp2p does it */
async function serve (handler: Handler, init: MeteredPeerInit = {}): Promise<Upload> {
  const peer = createMeteredPeer(init)
  let stream: YamuxStream | undefined
  peer.muxer.addEventListener('stream', ({ detail }) => {
    stream = detail
    negotiate(detail).then(() => handler(detail)).catch((err: Error) => { detail.abort(err) })
  })
  peer.deliver(windowUpdate(ID, 0, SYN), data(ID, Uint8Array.of(3, 1, 2, 3)))
  await nextTurn()
  let creditBytes = WINDOW_BYTES - 4
  let isReset = false

  const look = async (): Promise<void> => {
    await nextTurn()

    for (const { type, flags, length } of peer.takeFrames()) {
      isReset ||= type === WINDOW_UPDATE && (flags & RST) !== 0
      creditBytes += type === WINDOW_UPDATE && (flags & RST) === 0 ? length : 0
    }
  }

  await look()

  return {
    peer,
    stream: stream as YamuxStream,
    send: async byteLength => {
      let sentBytes = 0
      await look()

      while (sentBytes < byteLength && creditBytes > 0) {
        const count = Math.min(creditBytes, FRAME_BYTES, byteLength - sentBytes)
        peer.deliver(data(ID, pattern(count)))
        sentBytes += count
        creditBytes -= count
        await look()
      }

      peer.clock.advance(2000)
      await look()

      return { sentBytes, isReset }
    }
  }
}

const answerAndClose: Handler = async stream => {
  stream.send(pattern(100))
  await stream.close()
}

describe('a handler that answers, closes and never reads', () => {
  test('lets its peer send 1 MiB and close', async () => {
    const { peer, stream, send } = await serve(answerAndClose)
    const closes = endings(stream)

    expect(await send(MEBIBYTE)).toEqual({ sentBytes: MEBIBYTE, isReset: false })
    peer.deliver(windowUpdate(ID, 0, FIN))
    await nextTurn()
    expect([stream.status, closes.length, closes[0]?.error]).toEqual(['closed', 1, undefined])
  })

  test('lets it do so when the window was used up before the answer', async () => {
    const { stream, send } = await serve(() => {})
    await send(WINDOW_BYTES - 4)
    await answerAndClose(stream)
    await nextTurn()

    expect((await send(MEBIBYTE)).sentBytes).toBe(MEBIBYTE)
  })

  test('takes as much as a stream may hold, and resets the stream a second later, without an error', async () => {
    const { peer, stream, send } = await serve(answerAndClose)
    const closes = endings(stream)
    const { sentBytes, isReset } = await send(20 * MEBIBYTE)

    expect(sentBytes).toBeGreaterThan(3.9 * MEBIBYTE)
    expect(sentBytes).toBeLessThanOrEqual(4 * MEBIBYTE)
    expect(isReset).toBe(true)
    expect([stream.status, stream.readBufferLength]).toEqual(['closed', 0])
    expect(closes.map(({ error }) => error)).toEqual([undefined])
    expect(peer.muxer.streams).toEqual([])
    expect(peer.transport.status).toBe('open')
  })

  test('is aborted by its inactivityTimeout, if that is shorter', async () => {
    const { stream, send } = await serve(async stream => stream.close(), { streamOptions: { inactivityTimeout: 200, maxReadBufferLength: WINDOW_BYTES } })
    const events = endings(stream)
    await send(2 * MEBIBYTE)

    expect(events).toMatchObject([{ error: { name: 'InactivityTimeoutError' } }])
  })

  test('ends once, if the reset makes a listener abort it', async () => {
    const { peer, stream, send } = await serve(async stream => stream.close(), { coalesce: { strategy: 'off' } })
    const events = endings(stream)
    const sendNow = peer.transport.send.bind(peer.transport)
    peer.transport.send = bytes => {
      const takesMore = sendNow(bytes)

      if (parseFrames(bytes.subarray()).some(({ flags }) => flags === RST)) {
        stream.abort(new Error('Within'))
      }

      return takesMore
    }
    await send(8 * MEBIBYTE)

    expect(events).toHaveLength(1)
    expect(stream.status).toBe('closed')
  })

  test('takes no more than maxConnectionWindow allows', async () => {
    const { send } = await serve(answerAndClose, { maxConnectionWindow: 0 })

    expect(await send(MEBIBYTE)).toEqual({ sentBytes: WINDOW_BYTES, isReset: true })
  })

  test('tells a reader that comes after the refusal that bytes are missing', async () => {
    const { stream, send } = await serve(answerAndClose)
    await send(20 * MEBIBYTE)

    await expect(readAll(stream)).rejects.toThrow(expect.objectContaining({ name: 'StreamBufferError' }))
  })
})

describe('nothing is refused', () => {
  const cases: Record<string, Handler> = {
    'a handler that has not closed its side': stream => { stream.send(pattern(100)) },
    'one that has begun to read with a loop': async stream => {
      await answerAndClose(stream)
      const loop = stream[Symbol.asyncIterator]()
      await loop.next()
    },
    'one that pauses the stream to read it later': async stream => {
      stream.pause()
      await answerAndClose(stream)
    }
  }

  test.each(Object.entries(cases))('of %s: its peer waits', async (_, handler) => {
    const { stream, send } = await serve(handler)
    const { sentBytes, isReset } = await send(MEBIBYTE)

    expect(sentBytes).toBeLessThanOrEqual(2 * WINDOW_BYTES)
    expect(isReset).toBe(false)
    expect(stream.status).toBe('open')
  })

  test('of a handler that begins to read within a second, when all room is used up', async () => {
    const { peer, stream } = await serve(answerAndClose, { maxConnectionWindow: 0 })
    peer.deliver(data(ID, pattern(WINDOW_BYTES - 4)))
    await nextTurn()
    peer.clock.advance(500)
    await nextTurn()
    const reading = readAll(stream)
    await nextTurn()
    peer.clock.advance(5000)
    await nextTurn()
    peer.deliver(windowUpdate(ID, 0, FIN))

    expect(await reading).toBe(WINDOW_BYTES - 4)
  })

  test('of a stream that this side has opened: what comes waits until it is read', async () => {
    const peer = createMeteredPeer()
    const stream = await peer.muxer.createStream()
    await stream.close()
    peer.deliver(data(1, pattern(WINDOW_BYTES)))
    await nextTurn()
    peer.clock.advance(60_000)
    await nextTurn()

    expect([stream.status, stream.readBufferLength]).toEqual(['open', WINDOW_BYTES])
    expect(peer.takeFrames().filter(({ type, flags, length }) => type !== DATA && (flags === RST || length > 0))).toEqual([])
  })
})
