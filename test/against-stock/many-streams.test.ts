// Ours and stock at the two ends of a connection: streams by the hundred, also where the pipe is narrow.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MUXER_PAIRS } from '../libp2p/fixtures/muxers.ts'
import { pattern, patternBytes } from '../libp2p/fixtures/pattern.ts'
import { patternDigest } from '../libp2p/fixtures/pattern-digest.ts'
import { chunksOf, readAll, readDigest, sendAll, sendAndClose } from '../libp2p/fixtures/streams.ts'
import { connect, handle } from './fixtures/connected-pair.ts'
import type { ConnectedPair, PingingMuxer } from './fixtures/connected-pair.ts'
import type { Stream } from '@libp2p/interface'

/** The window that every stream starts with */
const WINDOW_BYTES = 256 * 1024

async function echo (stream: Stream): Promise<void> {
  for await (const bytes of chunksOf(stream)) {
    await sendAll(stream, [bytes])
  }

  await stream.close()
}

async function request (muxer: PingingMuxer, payload: Uint8Array): Promise<boolean> {
  const stream = await muxer.createStream()
  const answer = readAll(stream)
  await sendAndClose(stream, [payload])

  return Buffer.compare(await answer, payload) === 0
}

async function requestEach (muxer: PingingMuxer, count: number): Promise<number> {
  const matches = await Promise.all(Array.from({ length: count }, async (_, seed) => request(muxer, patternBytes(seed, 500))))

  return matches.filter(Boolean).length
}

describe.each(MUXER_PAIRS)('$dialler that dials $listener', names => {
  let pair: ConnectedPair

  beforeEach(async () => {
    pair = await connect(names)
    handle(pair.listener, echo)
    handle(pair.dialler, echo)
  })

  afterEach(() => {
    pair.disconnect()
  })

  test('opens 300 streams at once that are all answered', async () => {
    expect(await requestEach(pair.dialler, 300)).toBe(300)
  })

  test('has 300 streams at once opened to it that are all answered', async () => {
    expect(await requestEach(pair.listener, 300)).toBe(300)
  })

  test('opens streams from both sides at once', async () => {
    expect(await Promise.all([requestEach(pair.dialler, 100), requestEach(pair.listener, 100)])).toEqual([100, 100])
  })

  test('keeps no stream of 500 that came and went', async () => {
    for (let round = 0; round < 5; round++) {
      expect(await requestEach(pair.dialler, 100)).toBe(100)
    }

    await vi.waitFor(() => {
      expect([pair.dialler.streams.length, pair.listener.streams.length]).toEqual([0, 0])
    })
  })

  test('delivers data that the acceptor sends within its stream handler', async () => {
    const fresh = await connect(names)

    try {
      fresh.listener.addEventListener('stream', evt => {
        evt.detail.send(patternBytes(9, 1_000))
        evt.detail.close().catch(() => {})
      })
      // read from the first moment: stock's loops miss an end that comes before them
      const received = await Promise.all(Array.from({ length: 20 }, async () => readAll(await fresh.dialler.createStream())))

      expect(received.filter(bytes => Buffer.compare(bytes, patternBytes(9, 1_000)) === 0)).toHaveLength(20)
    } finally {
      fresh.disconnect()
    }
  })
})

describe.each(MUXER_PAIRS)('$dialler that dials $listener through a pipe of one message', names => {
  let pair: ConnectedPair

  beforeEach(async () => {
    pair = await connect(names, { capacity: 1 })
    handle(pair.listener, echo)
    handle(pair.dialler, echo)
  })

  afterEach(() => {
    pair.disconnect()
  })

  // both sides fill every window before either reads an answer: whoever stops reading while it waits to write is stuck
  test('finishes 64 streams on which both sides write more than a window before they read', async () => {
    const byteLength = WINDOW_BYTES + 64 * 1024
    const digests = await Promise.all(Array.from({ length: 64 }, async (_, seed) => {
      const muxer = seed % 2 === 0 ? pair.dialler : pair.listener
      const stream = await muxer.createStream()
      await sendAndClose(stream, pattern(seed, byteLength))

      return readDigest(stream)
    }))

    expect(digests).toEqual(digests.map((_, seed) => patternDigest(seed, byteLength)))
  })
})
