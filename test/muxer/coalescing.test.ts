// When output is written and how much of it a write holds: the `turn` strategy, `off`, and back-pressure.
import { beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { ACK, data, DATA, FIN, parseFrames, pattern, ping, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn, oneTurn, openStreams, quietMicrotasks } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import type { RawPeer, RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { YamuxStream } from '../../src/index.ts'

const NOISE_RECORD_BYTES = 65_519

async function createOpenPeer (count: number, init: RawPeerInit = {}): Promise<{ peer: RawPeer, streams: YamuxStream[] }> {
  const peer = createRawPeer({ maxOutboundStreams: 2000, ...init })

  return { peer, streams: await openStreams(peer, count) }
}

describe('one turn of the event loop', () => {
  test('makes one write of 100 sends on one stream', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)
    const sent = Array.from({ length: 100 }, (_, i) => pattern(10, i))
    sent.forEach(bytes => stream.send(bytes))
    await nextTurn()

    const writes = peer.takeWrites()
    expect(writes).toHaveLength(1)
    const frames = parseFrames(writes[0].subarray())
    expect(frames).toEqual(sent.map(payload => ({ type: DATA, flags: 0, id: 1, length: 10, payload })))
  })

  test('answers a chunk with urgent data within the call that brings it', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)
    stream.priority = 'urgent'
    stream.addEventListener('message', () => { stream.send(pattern(10)) })
    peer.deliver(data(1, pattern(5)))

    expect(peer.takeFrames()).toMatchObject([{ id: 1, length: 10 }])
  })

  test('makes one write of the frames of many streams', async () => {
    const { peer, streams } = await createOpenPeer(50)
    streams.forEach((stream, i) => stream.send(pattern(100, i)))
    await nextTurn()

    const writes = peer.takeWrites()
    expect(writes).toHaveLength(1)
    expect(parseFrames(writes[0].subarray()).map(({ id }) => id)).toEqual(streams.map(({ id }) => Number(id)))
  })

  test('does not take a message for the rest of a full write because it does not fit beside a short one', async () => {
    const { peer, streams: [talk, file] } = await createOpenPeer(2, { coalesce: { maxBytes: 16_384 } })
    talk.priority = 'urgent'
    file.send(pattern(16_300))
    talk.send(pattern(100))

    for (let turn = 0; turn < 3; turn++) {
      await oneTurn()
      talk.send(pattern(100))
    }

    expect(peer.takeFrames().filter(({ id }) => id === 3).map(({ length }) => length)).toEqual([16_300])
  })

  test('leaves what a message has left behind its full write to the next message', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)
    stream.send(pattern(65_536))
    await oneTurn()
    stream.send(pattern(65_536))
    await oneTurn()

    expect(peer.takeWrites().map(({ byteLength }) => byteLength)).toEqual([NOISE_RECORD_BYTES, NOISE_RECORD_BYTES])
  })

  test('writes it when the loop has come round and brought no more', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)
    stream.send(pattern(65_536))
    await oneTurn()
    expect(peer.takeWrites()).toHaveLength(1)
    await nextTurn()

    const [rest, ...others] = peer.takeWrites()
    expect(others).toEqual([])
    expect(parseFrames(rest.subarray())).toMatchObject([{ type: DATA, id: 1, length: 65_536 - (NOISE_RECORD_BYTES - 12) }])
  })

  test.each([
    ['data of another stream', (_: RawPeer, [, second]: YamuxStream[]) => { second.send(pattern(10)) }],
    ['a reset of another stream', (_: RawPeer, [, second]: YamuxStream[]) => { second.abort(new Error('over')) }],
    ['the answer to a ping', ({ deliver }: RawPeer) => { deliver(ping(7, SYN)) }]
  ])('takes it along with %s at once', async (_, act) => {
    const { peer, streams } = await createOpenPeer(2)
    streams[0].send(pattern(65_536))
    await oneTurn()
    peer.takeWrites()
    act(peer, streams)
    await oneTurn()

    const [write, ...others] = peer.takeWrites()
    expect(others).toEqual([])
    expect(parseFrames(write.subarray()).map(({ id }) => id)).toContain(1)
  })

  test('makes as many writes as records are needed for 1,000 streams with 4 KiB each, if none of these is cut', async () => {
    // a slow turn must not end the writing early
    const { peer, streams } = await createOpenPeer(1000, { clock: new VirtualClock() })
    streams.forEach((stream, i) => stream.send(pattern(4096, i)))
    await nextTurn()
    await nextTurn()

    const writes = peer.takeWrites()
    const payload = new Map<number, number[]>()
    writes.flatMap(write => parseFrames(write.subarray())).forEach(frame => {
      payload.set(frame.id, [...payload.get(frame.id) ?? [], ...frame.payload])
    })

    expect(writes.length).toBe(Math.ceil(1000 / Math.floor(NOISE_RECORD_BYTES / (12 + 4096))))
    expect(Math.max(...writes.map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(NOISE_RECORD_BYTES)
    streams.forEach((stream, i) => { expect(payload.get(Number(stream.id))).toEqual([...pattern(4096, i)]) })
  })

  test('lets what is sent after an await ride along', async () => {
    const { peer, streams: [first, second] } = await createOpenPeer(2)
    first.send(pattern(10))
    await Promise.resolve()
    second.send(pattern(10))
    await nextTurn()

    expect(peer.takeWrites()).toHaveLength(1)
  })

  test('tells the peer of a new stream before libp2p goes on with it, also behind the end of the stream before', async () => {
    const { peer, streams: [before] } = await createOpenPeer(1)
    await before.close()
    expect(peer.takeFrames()).toMatchObject([{ flags: FIN, id: 1 }])
    await peer.muxer.createStream()

    expect(peer.takeFrames()).toMatchObject([{ type: WINDOW_UPDATE, flags: SYN, id: 3 }])
  })

  test('tells the peer of the first new stream by itself, of the next ones of several at a time', async () => {
    const { peer, streams: [before] } = await createOpenPeer(1)
    await before.close()
    peer.takeWrites()

    for (let i = 0; i < 10; i++) {
      await peer.muxer.createStream()
    }

    await nextTurn()
    const [syns, ...others] = peer.takeWrites().map(write => parseFrames(write.subarray()).length)
    expect(syns).toBe(1)
    expect(others.length).toBeLessThanOrEqual(2)
    expect(others.reduce((sum, count) => sum + count, 0)).toBe(9)
    expect(Math.min(...others)).toBeGreaterThan(1)
  })

  test('tells the peer of a new stream with what follows when the turn has seen two flushes', async () => {
    const { peer, streams: [first, second] } = await createOpenPeer(2)

    for (const stream of [first, second]) {
      stream.send(pattern(10))
      await quietMicrotasks()
    }

    expect(peer.takeWrites()).toHaveLength(2)
    const stream = await peer.muxer.createStream()
    expect(peer.takeWrites()).toEqual([])
    stream.send(pattern(10))
    await nextTurn()

    expect(peer.takeFrames()).toMatchObject([{ type: DATA, flags: SYN, id: Number(stream.id), length: 10 }])
  })

  test('makes two writes of 100 streams that are opened in it and written to at once', async () => {
    const peer = createRawPeer()
    await Promise.all(Array.from({ length: 100 }, async () => {
      const stream = await peer.muxer.createStream()
      stream.send(pattern(10))
    }))
    await nextTurn()

    const frames = peer.takeWrites().map(write => parseFrames(write.subarray()).map(({ type, flags }) => [type, flags]))
    expect(frames).toEqual([
      Array.from({ length: 100 }, () => [WINDOW_UPDATE, SYN]),
      Array.from({ length: 100 }, () => [DATA, 0])
    ])
  })

  test('makes one write of SYN and data on opening when something was about to leave', async () => {
    const { peer, streams: [other] } = await createOpenPeer(1)
    other.send(pattern(5))
    const stream = await peer.muxer.createStream()
    stream.send(pattern(10))
    await nextTurn()

    const writes = peer.takeWrites()
    expect(writes).toHaveLength(1)
    expect(parseFrames(writes[0].subarray())).toMatchObject([
      { type: DATA, flags: 0, id: Number(other.id), length: 5 },
      { type: DATA, flags: SYN, id: Number(stream.id), length: 10 }
    ])
  })

  test('acknowledges a new stream in the frame that answers what comes with the next round of the loop', async () => {
    const peer = createRawPeer({ direction: 'inbound' })
    peer.muxer.addEventListener('stream', ({ detail }) => {
      detail.addEventListener('message', () => { detail.send(pattern(5)) })
    })
    peer.deliver(windowUpdate(1, 0, SYN))
    await oneTurn()
    peer.deliver(data(1, pattern(10)))
    await nextTurn()

    expect(peer.takeFrames()).toMatchObject([{ type: DATA, flags: ACK, id: 1, length: 5 }])
  })

  test('acknowledges the peer\'s new stream along with the SYN of its own, at once', async () => {
    const peer = createRawPeer({ direction: 'inbound' })
    peer.deliver(windowUpdate(1, 0, SYN))
    await peer.muxer.createStream()

    const [write, ...others] = peer.takeWrites()
    expect(others).toEqual([])
    expect(parseFrames(write.subarray())).toMatchObject([{ type: WINDOW_UPDATE, flags: ACK, id: 1 }, { type: WINDOW_UPDATE, flags: SYN, id: 2 }])
  })

  test('that goes on producing makes a bounded number of writes, the rest leaves in the next', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)

    for (let i = 0; i < 20; i++) {
      stream.send(pattern(10))
      await quietMicrotasks()
    }

    const writesThisTurn = peer.transport.writes.length
    await nextTurn()
    const frames = peer.takeWrites().map(write => parseFrames(write.subarray()).map(({ length }) => length))

    expect(writesThisTurn).toBeLessThanOrEqual(3)
    expect(frames.length).toBe(writesThisTurn + 1)
    expect(frames.flat()).toEqual(Array(20).fill(10))
  })
})

describe('code that goes on and on in microtasks', () => {
  test('does not put its output off for ever', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)

    for (let i = 0; i < 500; i++) {
      stream.send(pattern(1))
      await null
    }

    expect(peer.takeWrites().length).toBeGreaterThan(0)
  })
})

describe('a turn', () => {
  test.each([
    ['4 MiB', 'bulk', 4_194_304],
    ['256 KiB while there are urgent streams', 'urgent', 262_144]
  ] as const)('writes no more than %s, and the rest in the next ones', async (_, priority, turnBytes) => {
    const { peer, streams: [stream, other] } = await createOpenPeer(2, { clock: new VirtualClock() })
    other.priority = priority
    peer.deliver(windowUpdate(1, 10_000_000))
    stream.send(pattern(6_000_000))
    const bytesOfTurns: number[] = []

    while (stream.writeBufferLength > 0) {
      await oneTurn()
      bytesOfTurns.push(peer.takeWrites().reduce((sum, { byteLength }) => sum + byteLength, 0))
    }

    expect(Math.max(...bytesOfTurns)).toBeGreaterThanOrEqual(turnBytes)
    expect(Math.max(...bytesOfTurns)).toBeLessThan(turnBytes + NOISE_RECORD_BYTES)
  })

  test('writes for no more than 5 ms, but for urgent data', async () => {
    const clock = new VirtualClock()
    const { peer, streams: [stream, urgent] } = await createOpenPeer(2, { clock })
    const { transport } = peer
    const send = transport.send.bind(transport)
    urgent.priority = 'urgent'
    peer.deliver(windowUpdate(1, 10_000_000))
    transport.send = bytes => {
      clock.advance(2)

      return send(bytes)
    }
    stream.send(pattern(1_000_000))
    await quietMicrotasks()

    // the fourth begins 6 ms after the first
    expect(peer.takeWrites()).toHaveLength(4)
    urgent.send(pattern(10))
    await quietMicrotasks()
    expect(peer.takeFrames()[0]).toMatchObject({ id: 3, length: 10 })
    await oneTurn()
    expect(peer.takeWrites().length).toBeGreaterThan(0)
  })

  test('is no longer because the one before had many small flushes', async () => {
    const clock = new VirtualClock()
    const { peer, streams: [stream] } = await createOpenPeer(1, { clock, coalesce: { strategy: 'off' } })
    const { transport } = peer
    const send = transport.send.bind(transport)
    peer.deliver(windowUpdate(1, 10_000_000))
    transport.send = bytes => {
      clock.advance(0.2)

      return send(bytes)
    }
    const writesOfTurns: number[] = []

    for (let turn = 0; turn < 3; turn++) {
      for (let i = 0; i < 100; i++) {
        stream.send(pattern(10_000))
        await quietMicrotasks()
      }

      writesOfTurns.push(peer.takeWrites().length)
      await oneTurn()
      writesOfTurns[turn] += peer.takeWrites().length
    }

    // 5 ms of them in this turn, and as many of what is left in the one behind it
    expect(Math.max(...writesOfTurns)).toBeLessThanOrEqual(2 * 26)
  })

  test('begins for a connection that waits for it when it begins for all', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)
    const bytesOfTurns: number[] = []
    peer.deliver(windowUpdate(1, 20_000_000))
    // an ACK is owed, and waits for a turn in which nothing was written yet
    peer.deliver(windowUpdate(2, 0, SYN))
    stream.send(pattern(12_000_000))

    for (let turn = 0; turn < 3; turn++) {
      await oneTurn()
      bytesOfTurns.push(peer.takeWrites().reduce((sum, { byteLength }) => sum + byteLength, 0))
    }

    // in the first what was written in this turn and in the next
    expect(bytesOfTurns[0]).toBeGreaterThan(8_000_000)
    expect(bytesOfTurns[1]).toBeGreaterThan(3_000_000)
  })

  test('is looked at once for all connections, however many write in it', async () => {
    let looks = 0

    class CountingClock extends VirtualClock {
      override readonly nextTurn = (task: () => void): void => {
        looks++
        systemClock.nextTurn(task)
      }
    }

    const clock = new CountingClock()
    const opened = [await createOpenPeer(1, { clock }), await createOpenPeer(1, { clock }), await createOpenPeer(1, { clock })]
    await oneTurn()
    looks = 0

    for (let flush = 1; flush <= 3; flush++) {
      for (const { peer, streams: [stream] } of opened) {
        stream.send(pattern(100))
        await quietMicrotasks()
        expect(peer.takeWrites()).toHaveLength(1)
      }
    }

    expect(looks).toBe(1)

    // and each begins anew in the next
    await oneTurn()
    opened[2].streams[0].send(pattern(100))
    await quietMicrotasks()
    expect(opened[2].peer.takeWrites()).toHaveLength(1)
    expect(looks).toBe(2)
  })

  describe('of a program that works 50 ms in each', () => {
    const WORK_MS = 50
    const WRITE_MS = 2
    let clock: VirtualClock

    beforeEach(() => { clock = new VirtualClock() })

    /** A write takes time */
    function slowDown ({ transport }: RawPeer): void {
      const send = transport.send.bind(transport)
      // what is left to write when a test is over leaves during others
      const ownClock = clock

      transport.send = bytes => {
        ownClock.advance(WRITE_MS)

        return send(bytes)
      }
    }

    async function createSlowPeer (): Promise<Awaited<ReturnType<typeof createOpenPeer>>> {
      const created = await createOpenPeer(1, { clock })
      const { peer, streams: [stream] } = created
      peer.deliver(windowUpdate(1, 10_000_000))
      slowDown(peer)
      // one turn of the program behind a write, which may be as small as a step of a negotiation
      stream.send(pattern(10))
      await quietMicrotasks()
      clock.advance(WORK_MS)
      await oneTurn()
      peer.takeWrites()

      return created
    }

    /** What a turn writes of more than it can */
    async function countWrites (peer: RawPeer, stream: YamuxStream): Promise<number> {
      peer.takeWrites()
      stream.send(pattern(4_000_000))
      await quietMicrotasks()

      return peer.takeWrites().length
    }

    test('writes for as long as that: what is stopped waits for all of it', async () => {
      const { peer, streams: [stream] } = await createSlowPeer()
      const writes = await countWrites(peer, stream)

      expect(writes).toBeGreaterThanOrEqual(WORK_MS / WRITE_MS)
      expect(writes).toBeLessThanOrEqual(WORK_MS / WRITE_MS + 2)
    })

    /** Turns whose only flush is at their end, behind what the program does */
    async function seeShortTurns (stream: YamuxStream, count: number): Promise<void> {
      for (let turn = 0; turn < count; turn++) {
        stream.send(pattern(10))
        await quietMicrotasks()
        await oneTurn()
      }
    }

    test('writes for half as long behind a turn whose only flush was at its end', async () => {
      const { peer, streams: [stream] } = await createSlowPeer()
      await seeShortTurns(stream, 1)
      const writes = await countWrites(peer, stream)

      expect(writes).toBeGreaterThanOrEqual(WORK_MS / WRITE_MS / 2)
      expect(writes).toBeLessThanOrEqual(WORK_MS / WRITE_MS / 2 + 2)
    })

    test('writes for 5 ms when its turns have become short', async () => {
      const { peer, streams: [stream] } = await createSlowPeer()
      await seeShortTurns(stream, 8)

      expect(await countWrites(peer, stream)).toBe(4)
    })

    test.each([[1, WORK_MS / WRITE_MS], [10, 4]])('which %d chunks are read in: a flush may make %d writes, as to read many chunks is no work of a program', async (chunks, leastWrites) => {
      const { peer, streams: [stream] } = await createOpenPeer(1, { clock })
      slowDown(peer)
      stream.send(pattern(10))
      await quietMicrotasks()

      for (let chunk = 0; chunk < chunks; chunk++) {
        clock.advance(WORK_MS / chunks)
        peer.deliver(windowUpdate(1, 1_000_000))
      }

      await oneTurn()
      peer.deliver(windowUpdate(1, 10_000_000))
      const writes = await countWrites(peer, stream)

      expect(writes).toBeGreaterThanOrEqual(leastWrites)
      expect(writes).toBeLessThanOrEqual(leastWrites + 2)
    })

    test('writes no longer behind a process that was suspended for an hour than behind a second of work', async () => {
      const { peer, streams: [stream] } = await createSlowPeer()
      stream.send(pattern(10))
      await quietMicrotasks()
      clock.advance(3_600_000)
      await oneTurn()
      await seeShortTurns(stream, 7)

      expect(await countWrites(peer, stream)).toBeLessThanOrEqual(6)
    })

    test('writes no longer with several connections, but for 5 ms of each', async () => {
      const peers = [await createSlowPeer(), await createSlowPeer(), await createSlowPeer()]
      const writes: number[] = []

      for (const { peer, streams: [stream] } of peers) {
        writes.push(await countWrites(peer, stream))
      }

      expect(writes[0]).toBeGreaterThanOrEqual(WORK_MS / WRITE_MS)
      expect(writes.slice(1)).toEqual([4, 4])
    })

    test('does not put the rest of a full write off to the turn behind the next', async () => {
      const { peer, streams: [stream] } = await createSlowPeer()
      stream.send(pattern(NOISE_RECORD_BYTES + 100))
      await quietMicrotasks()

      expect(peer.takeWrites()).toHaveLength(2)
    })
  })

  test.each<[string, RawPeerInit]>([
    ['an urgent stream', { priority: () => 'urgent' }],
    ['a stream under \'off\'', { coalesce: { strategy: 'off' } }]
  ])('writes no more than 1,000 times for %s whose writer sends another byte whenever one has left', async (_, init) => {
    const { peer, streams: [stream] } = await createOpenPeer(1, init)
    const writesOfTurns: number[] = []
    stream.protocol = '/news'
    stream.addEventListener('idle', () => {
      if (peer.muxer.status === 'open') {
        stream.send(Uint8Array.of(1))
      }
    })
    stream.send(Uint8Array.of(1))
    writesOfTurns.push(peer.takeWrites().length)

    for (let turn = 0; turn < 5; turn++) {
      await oneTurn()
      writesOfTurns.push(peer.takeWrites().length)
    }

    expect(Math.max(...writesOfTurns)).toBeGreaterThan(100)
    expect(Math.max(...writesOfTurns)).toBeLessThanOrEqual(1001)
  })

  test('writes no more than 4 MiB of an urgent stream whose writer goes on as soon as it may', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)
    stream.priority = 'urgent'
    peer.deliver(windowUpdate(1, 30_000_000))
    let unsent = 200
    const bytesOfTurns: number[] = []
    const sendMore = (): void => {
      while (unsent-- > 0 && stream.send(pattern(100_000))) {
        // until the stream is full
      }
    }

    stream.addEventListener('drain', sendMore)
    sendMore()

    while (stream.writeBufferLength > 0) {
      await oneTurn()
      bytesOfTurns.push(peer.takeWrites().reduce((sum, { byteLength }) => sum + byteLength, 0))
    }

    expect(Math.max(...bytesOfTurns)).toBeLessThan(4_194_304 + 2 * NOISE_RECORD_BYTES)
  })

  test('that has written so much still writes urgent data at once', async () => {
    const { peer, streams: [stream, urgent] } = await createOpenPeer(2)
    urgent.priority = 'urgent'
    peer.deliver(windowUpdate(1, 4_000_000))
    // more than a turn's share while there are urgent streams
    stream.send(pattern(1_000_000))
    await quietMicrotasks()

    peer.takeWrites()
    urgent.send(pattern(10))
    await quietMicrotasks()

    expect(peer.takeFrames()[0]).toMatchObject({ id: 3, length: 10 })
  })
})

describe('pongs of one turn', () => {
  /** As many chunks as that, each so long behind the last, all in one turn; returns the writes of that turn */
  async function pongsOfTurn (peer: RawPeer, clock: VirtualClock, chunks: number, apartMs: number): Promise<number> {
    for (let chunk = 0; chunk < chunks; chunk++) {
      clock.advance(apartMs)
      peer.deliver(ping(chunk, SYN))
      await quietMicrotasks()
    }

    return peer.takeWrites().length
  }

  test('are three writes at most when chunks come together, and the rest waits for the next', async () => {
    const clock = new VirtualClock()
    const { peer } = await createOpenPeer(1, { clock })

    expect(await pongsOfTurn(peer, clock, 8, 0)).toBe(3)
    await nextTurn()
    expect(peer.takeWrites()).toHaveLength(1)
  })

  test('wait for no other turn when chunks come a millisecond apart: it is a long one', async () => {
    const clock = new VirtualClock()
    const { peer } = await createOpenPeer(1, { clock })

    expect(await pongsOfTurn(peer, clock, 8, 1)).toBe(8)
  })

  test('wait for none where what was left to the next waited 10 ms, as in a program that works that long in its turns', async () => {
    const clock = new VirtualClock()
    const { peer } = await createOpenPeer(1, { clock })
    await pongsOfTurn(peer, clock, 8, 0)

    // what is left to the next turn leaves in it, so that the program works between that and the one behind it
    for (let turn = 0; turn < 2; turn++) {
      clock.advance(10)
      await oneTurn()
    }

    peer.takeWrites()

    expect(await pongsOfTurn(peer, clock, 8, 0)).toBe(8)
  })
})

describe('a writer that goes on as soon as it may', () => {
  test('fills every write but the last', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)
    peer.deliver(windowUpdate(1, 4_000_000))
    let unsent = 30

    const sendMore = (): void => {
      while (unsent-- > 0 && stream.send(pattern(65_536))) {
        // until the stream is full
      }
    }

    stream.addEventListener('drain', sendMore)
    sendMore()

    for (let turn = 0; turn < 10; turn++) {
      await nextTurn()
    }

    const writes = peer.takeWrites().map(({ byteLength }) => byteLength)
    writes.pop()
    expect(writes.length).toBe(30)
    expect(new Set(writes)).toEqual(new Set([NOISE_RECORD_BYTES]))
  })
})

describe('a write', () => {
  test('is one contiguous piece when all that it holds is small', async () => {
    const { peer, streams } = await createOpenPeer(20)
    streams.forEach(stream => { stream.send(pattern(50)); stream.send(pattern(60)) })
    await nextTurn()

    expect(peer.takeWrites().map(write => [...write].length)).toEqual([1])
  })

  test('holds large payload by reference', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)
    const bytes = pattern(32_768)
    stream.send(bytes)
    await nextTurn()

    const [write] = peer.takeWrites()
    expect([...write].some(part => part.buffer === bytes.buffer)).toBe(true)
  })

  test.each([16_372, 16_373, 16_384, 16_385, 20_000])('is never larger than coalesce.maxBytes with a message of %i bytes, as long as a frame, nearly so or more', async byteLength => {
    const { peer, streams: [stream] } = await createOpenPeer(1, { coalesce: { maxBytes: 4096 } })
    stream.send(pattern(byteLength))
    await nextTurn()

    expect(Math.max(...peer.takeWrites().map(write => write.byteLength))).toBeLessThanOrEqual(4096)
  })

  test('of many streams holds one frame of each without a bound, as small frames would gain nothing', async () => {
    const { peer, streams } = await createOpenPeer(3, { coalesce: { maxQueueDelayMs: Infinity } })
    streams.forEach(stream => { stream.send(pattern(200_000)) })
    await nextTurn()

    expect(peer.takeWrites().slice(0, 3).map(write => parseFrames(write.subarray()).map(({ id, length }) => [id, length]))).toEqual([
      [[1, 65_507]], [[3, 65_507]], [[5, 65_507]]
    ])
  })
})

describe('with coalescing off', () => {
  test.each([{ strategy: 'off' as const }, { delayMs: 0 as const }])('by %o every frame is a write of its own, inside the call', async coalesce => {
    const { peer, streams: [first, second] } = await createOpenPeer(2, { coalesce })
    first.send(pattern(10))
    second.send(pattern(10))
    first.send(pattern(10))

    expect(peer.takeWrites().map(write => parseFrames(write.subarray()).map(({ id }) => id))).toEqual([[1], [3], [1]])
  })

  test('the FIN is a write of its own behind the data', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1, { coalesce: { strategy: 'off' } })
    stream.send(pattern(10))
    await stream.close()

    expect(peer.takeWrites().map(write => parseFrames(write.subarray()).map(({ type, flags }) => [type, flags])))
      .toEqual([[[DATA, 0]], [[WINDOW_UPDATE, FIN]]])
  })
})

describe('while the transport is full', () => {
  test('nothing is written, and all that gathers leaves at the drain', async () => {
    const { peer, streams: [stream, other] } = await createOpenPeer(2)
    peer.transport.isFull = true
    stream.send(pattern(10))
    await nextTurn()
    expect(peer.takeWrites()).toHaveLength(1)

    for (let i = 0; i < 10; i++) {
      stream.send(pattern(10))
      other.send(pattern(10))
      await nextTurn()
    }

    expect(peer.takeWrites()).toHaveLength(0)
    peer.transport.drain()
    expect(peer.takeFrames().map(({ id, length }) => [id, length])).toEqual(Array.from({ length: 20 }, (_, i) => [i < 10 ? 1 : 3, 10]))
  })

  test('a drain that comes from within send() counts', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)
    const { send } = peer.transport
    peer.transport.send = bytes => {
      send.call(peer.transport, bytes)
      peer.transport.drain()

      return false
    }
    stream.send(pattern(200_000))
    await nextTurn()

    expect(peer.takeFrames().reduce((sum, { length }) => sum + length, 0)).toBe(200_000)
  })

  test('one write is handed down at each drain that is followed by "wait"', async () => {
    const { peer, streams: [stream] } = await createOpenPeer(1)
    peer.transport.isFull = true
    stream.send(pattern(200_000))
    await nextTurn()
    expect(peer.takeWrites()).toHaveLength(1)

    peer.transport.addEventListener('drain', () => { peer.transport.isFull = true }, { once: true })
    peer.transport.safeDispatchEvent('drain')
    expect(peer.takeWrites()).toHaveLength(1)
  })
})

describe('close() with a signal that is aborted', () => {
  test('writes until its FIN is handed down, and not all that other streams have', async () => {
    const { peer, streams: [urgent, closing, ...others] } = await createOpenPeer(12, { coalesce: { maxQueueDelayMs: Infinity } })
    urgent.priority = 'urgent'
    others.forEach(stream => stream.send(pattern(250_000)))
    await quietMicrotasks()
    const writtenBytes = (): number => peer.takeWrites().reduce((sum, { byteLength }) => sum + byteLength, 0)
    // the turn has written all that it may
    expect(writtenBytes()).toBeLessThan(1_000_000)

    await closing.close({ signal: AbortSignal.abort() })
    expect(closing.writeStatus).toBe('closed')
    expect(writtenBytes()).toBeLessThan(200_000)
  })
})
