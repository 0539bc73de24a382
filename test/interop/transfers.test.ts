// Everything that one connection carries, opened by either side.
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { describeEachPairAndLight } from './fixtures/each-pair.ts'
import { connect } from './fixtures/pair.ts'
import type { Pair } from './fixtures/pair.ts'

const MEBIBYTE = 2 ** 20
const LARGE_BYTES = 32 * MEBIBYTE
const PIECE_BYTES = 64 * 1024
/** More than the 256 that a side may leave unacknowledged */
const MANY_STREAMS = 300
/** A slow reader takes 64 KiB and then this long a rest: 13 MB/s at most, where all senders are faster */
const PAUSE_MS = 5
const SLOW_BYTES = 4 * MEBIBYTE

describeEachPairAndLight((kind, dialler, muxer) => {
  let pair: Pair

  beforeAll(async () => {
    pair = await connect(kind, dialler, { muxer })
  })

  afterEach(() => {
    expect(pair.acceptor.failures.splice(0)).toEqual([])
  })

  afterAll(async () => {
    await pair?.stop()
  })

  test('one byte there and back', async () => {
    await pair.opener.echo(1, 1)
    await pair.peer.call('echo', 1, 1)
  })

  test('32 MiB that we send', async () => {
    await pair.opener.send(LARGE_BYTES, PIECE_BYTES, 0)
  })

  test('32 MiB that the peer sends', async () => {
    await pair.peer.call('send', LARGE_BYTES, PIECE_BYTES, 0)
  })

  test('32 MiB each way at once, on streams that we open', async () => {
    await Promise.all([
      pair.opener.send(LARGE_BYTES, PIECE_BYTES, 0),
      pair.opener.receive(LARGE_BYTES, 0)
    ])
  })

  test('32 MiB that we send on a stream that the peer opens', async () => {
    await pair.peer.call('receive', LARGE_BYTES, 0)
  })

  test('300 streams that we have open at once', async () => {
    await pair.opener.echo(MANY_STREAMS, 1_000)
  })

  test('300 streams that the peer has open at once', async () => {
    await pair.peer.call('echo', Math.min(MANY_STREAMS, kind.maxOwnStreams ?? Infinity), 1_000)
  })

  test.runIf(kind.toolchain === 'go')('300 requests at once, each with its end behind it, that the peer makes in each of 20 rounds', async () => {
    for (let round = 0; round < 20; round++) {
      await pair.peer.call('ask', MANY_STREAMS, PIECE_BYTES)
    }
  })

  test('an answer of the peer after our end of stream', async () => {
    await pair.opener.send(1_000, 1_000, 0)
    await pair.opener.send(0, 1, 0)
  })

  test('an answer of ours after the peer\'s end of stream', async () => {
    await pair.peer.call('send', 1_000, 1_000, 0)
    await pair.peer.call('send', 0, 1, 0)
  })

  test('10,000 messages of 10 bytes that we send', async () => {
    await pair.opener.send(100_000, 10, 0)
  })

  test('10,000 messages of 10 bytes that the peer sends', async () => {
    await pair.peer.call('send', 100_000, 10, 0)
  })

  test('a peer that reads slowly, which holds our writer', async () => {
    pair.opener.peakHeldBytes = 0
    await pair.opener.send(SLOW_BYTES, PIECE_BYTES, PAUSE_MS)
    await pair.peer.call('receive', SLOW_BYTES, PAUSE_MS)

    expect(pair.opener.peakHeldBytes).toBeLessThan(MEBIBYTE)
  })

  test('a slow reader here, who holds the peer', async () => {
    pair.acceptor.peakUnreadBytes = 0
    await pair.peer.call('send', SLOW_BYTES, PIECE_BYTES, PAUSE_MS)
    await pair.opener.receive(SLOW_BYTES, PAUSE_MS)

    expect(pair.acceptor.peakUnreadBytes).toBeGreaterThan(0)
    expect(pair.acceptor.peakUnreadBytes).toBeLessThan(SLOW_BYTES / 2)
  })

  test('300 short requests that we make', async () => {
    for (let i = 0; i < MANY_STREAMS; i++) {
      await pair.opener.echo(1, 100)
    }
  })

  test('300 short requests that the peer makes', async () => {
    for (let i = 0; i < MANY_STREAMS; i++) {
      await pair.peer.call('echo', 1, 100)
    }
  })

  test('our ping', async () => {
    expect(await pair.session.muxer.ping()).toBeGreaterThan(0)
  })

  test('the peer\'s pings, each answered once', async () => {
    const { pings } = pair.session

    if (kind.pingsOnRequest) {
      await pair.peer.call('ping')
    }

    await vi.waitFor(() => {
      expect(pings.received).toBeGreaterThan(0)
      expect(pings.answered).toBe(pings.received)
    })
  })

  test('no stream is left behind', async () => {
    await vi.waitFor(() => {
      expect(pair.session.muxer.streams.map(stream => stream.id)).toEqual([])
    })
  })
})
