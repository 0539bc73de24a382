// What the strategies and their options do to the writes, in virtual time: nothing here waits for a real timer.
import { describe, expect, test } from 'vitest'
import { HEADER_BYTES } from '../../src/core/wire/frame.ts'
import { ACK, DATA, parseFrames, pattern, PING, ping, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { NO_TIMEOUTS } from '../../testing/protocol/limits.ts'
import { createRawPeer, nextTurn, quietMicrotasks } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import type { RawPeer } from '../../testing/protocol/raw-peer.ts'
import type { CoalesceOptions, Lane, YamuxStream } from '../../src/index.ts'

interface Connection {
  peer: RawPeer
  clock: VirtualClock
  streams: YamuxStream[]
  /** What was written since the last call: of each write its frames' stream ids */
  writes (): number[][]
}

/** One open stream of each lane, with a window of 4 MB; no other timer than the strategy's */
async function connect (coalesce: CoalesceOptions, ...lanes: Lane[]): Promise<Connection> {
  const clock = new VirtualClock()
  const peer = createRawPeer({ clock, coalesce, limits: NO_TIMEOUTS, streamOptions: { inactivityTimeout: 0 } })
  const streams: YamuxStream[] = []

  for (const lane of lanes) {
    const stream = await peer.muxer.createStream()
    stream.priority = lane
    peer.deliver(windowUpdate(Number(stream.id), 4_000_000, ACK))
    streams.push(stream)
  }

  await nextTurn()
  clock.advance(1000)
  peer.takeWrites()

  return {
    peer,
    clock,
    streams,
    writes: () => peer.takeWrites().map(write => parseFrames(write.subarray()).map(({ id }) => id))
  }
}

async function measureRoundTrip ({ peer, clock }: Connection, roundTripMs: number): Promise<void> {
  const pinged = peer.muxer.ping()
  await nextTurn()
  const [{ length }] = peer.takeFrames()
  clock.advance(roundTripMs)
  peer.deliver(ping(length, ACK))
  await pinged
}

describe('delay', () => {
  test('lets data wait for its delay, and writes what came meanwhile with it', async () => {
    const { streams: [stream], clock, peer } = await connect({ delayMs: 5 }, 'normal')
    stream.send(pattern(10))
    await nextTurn()
    clock.advance(3)
    stream.send(pattern(20))
    await nextTurn()
    clock.advance(1.9)
    expect(peer.takeWrites()).toEqual([])

    clock.advance(0.1)
    expect(peer.takeWrites().map(write => parseFrames(write.subarray()).map(({ length }) => length))).toEqual([[10, 20]])
  })

  test.each([{ delayMs: 5 }, { strategy: 'adaptive' as const }])('%o: the SYN takes what libp2p says of the protocol along, which would have to wait by itself', async coalesce => {
    const { peer } = await connect(coalesce)
    const stream = await peer.muxer.createStream()
    stream.send(pattern(26))
    await nextTurn()

    expect(peer.takeFrames()).toMatchObject([{ type: DATA, flags: SYN, length: 26 }])
  })

  test('the end of the connection does not wait for the delay', async () => {
    const { streams: [stream], peer, writes } = await connect({ delayMs: 1000 }, 'normal')
    stream.send(pattern(10))
    await nextTurn()
    expect(writes()).toEqual([])
    const closing = peer.muxer.close()
    await nextTurn()

    expect(writes().flat()).toContain(Number(stream.id))
    peer.transport.end()
    await closing
  })

  test('does not hold back urgent data, and what waits rides along behind it', async () => {
    const { streams: [bulk, urgent], writes, clock } = await connect({ delayMs: 5 }, 'bulk', 'urgent')
    bulk.send(pattern(10))
    await nextTurn()
    expect(writes()).toEqual([])

    urgent.send(pattern(10))
    await nextTurn()
    expect(writes()).toEqual([[3, 1]])
    expect(clock.timerCount).toBe(0)
  })

  test('does not hold back control frames, and what waits rides along behind them', async () => {
    const { streams: [stream], peer } = await connect({ delayMs: 5 }, 'normal')
    stream.send(pattern(10))
    peer.deliver(ping(7, SYN))
    await nextTurn()

    expect(peer.takeFrames()).toMatchObject([{ type: PING, flags: ACK }, { type: DATA, id: 1 }])
  })

  test('writes data that waits when its stream becomes urgent', async () => {
    const { streams: [stream], writes } = await connect({ delayMs: 5 }, 'normal')
    stream.send(pattern(10))
    await nextTurn()
    stream.priority = 'urgent'
    await nextTurn()

    expect(writes()).toEqual([[1]])
  })

  test.each([
    [undefined, undefined, 52_416],
    [0.5, undefined, 32_760],
    [1, undefined, 65_519],
    [undefined, 8192, 6554],
    [0.5, 8192, 4096]
  ])('does not hold back more than the watermark (%s) of a write (%s)', async (highWatermark, maxBytes, watermarkBytes) => {
    const { streams: [stream], writes } = await connect({ delayMs: 5, highWatermark, maxBytes }, 'normal')
    stream.send(pattern(watermarkBytes - 1))
    await nextTurn()
    expect(writes()).toEqual([])

    stream.send(pattern(1))
    await nextTurn()
    expect(writes().flat().every(id => id === 1)).toBe(true)
    // what does not fit into the write waits anew
    expect(stream.writeBufferLength).toBeLessThanOrEqual(HEADER_BYTES)
  })

  test('opens streams at once', async () => {
    const { peer } = await connect({ delayMs: 5 })
    await peer.muxer.createStream()
    await nextTurn()

    expect(peer.takeFrames()).toMatchObject([{ type: WINDOW_UPDATE, flags: SYN, id: 1 }])
  })
})

describe('adaptive', () => {
  test.each([
    ['4 ms, a quarter of which is the shortest a timer takes,', [4], 20, 1],
    ['8 ms', [8], 20, 2],
    ['40 ms', [40], 20, 10],
    ['400 ms', [400], 20, 20],
    ['400 ms', [400], undefined, 2],
    ['40 ms that has become 8, at once', [40, 8], 20, 2],
    ['8 ms that has become 72, by an eighth of the difference', [8, 72], 20, 4]
  ])('of a round trip of %s (%j) and a longest delay of %s ms waits %i ms', async (_, roundTripsMs, maxDelayMs, delayMs) => {
    const connection = await connect({ strategy: 'adaptive', maxDelayMs }, 'normal')
    const { streams: [stream], clock, writes } = connection

    for (const roundTripMs of roundTripsMs) {
      await measureRoundTrip(connection, roundTripMs)
    }

    stream.send(pattern(10))
    await nextTurn()
    clock.advance(delayMs - 0.01)
    expect(writes()).toEqual([])
    clock.advance(0.01)
    expect(writes()).toEqual([[1]])
  })

  test('waits only for the next turn until the round trip was measured', async () => {
    const { streams: [stream], clock, writes } = await connect({ strategy: 'adaptive' }, 'normal')
    stream.send(pattern(10))
    await nextTurn()

    expect(writes()).toEqual([[1]])
    expect(clock.timerCount).toBe(0)
  })
})

describe.each(['turn', 'delay', 'adaptive', 'off'] as const)('under %s', strategy => {
  test('there is at most one timer, none when nothing waits, and none after the end', async () => {
    const mayWait = strategy === 'delay' || strategy === 'adaptive'
    const connection = await connect({ strategy }, 'normal', 'bulk', 'urgent', 'normal')
    const { peer, streams, clock } = connection
    const counts = new Set<number>()
    // so that `adaptive` has something to go by
    await measureRoundTrip(connection, 20)

    for (let round = 0; round < 20; round++) {
      streams.forEach((stream, i) => {
        if (round % (i + 1) === 0) {
          stream.send(pattern(100))
        }

        counts.add(clock.timerCount)
      })
      await nextTurn()
      counts.add(clock.timerCount)
      clock.advance(1)
    }

    clock.advance(100)
    expect(Math.max(...counts)).toBe(Number(mayWait))
    expect(clock.timerCount).toBe(0)

    streams[0].send(pattern(10))
    expect(clock.timerCount).toBe(Number(mayWait))
    peer.muxer.abort(new Error('over'))
    expect(clock.timerCount).toBe(0)
  })

  test('no timer is left when the transport ends while something waits', async () => {
    const connection = await connect({ strategy }, 'normal')
    await measureRoundTrip(connection, 20)
    connection.streams[0].send(pattern(10))
    connection.peer.transport.end()

    expect(connection.clock.timerCount).toBe(0)
  })

  test('close hands down what waits first', async () => {
    const { peer, streams: [stream], clock } = await connect({ strategy }, 'bulk')
    stream.send(pattern(10))
    const closed = stream.close()
    await nextTurn()
    clock.advance(10)
    await closed

    expect(peer.takeFrames().filter(({ type }) => type === DATA)).toMatchObject([{ length: 10 }])
    expect(clock.timerCount).toBe(0)
  })
})

describe('off', () => {
  test('leaves the rest of more than a turn may write to the next ones, however many frames that is', async () => {
    const clock = new VirtualClock()
    const peer = createRawPeer({ clock, coalesce: { strategy: 'off' }, maxMessageSize: 1024 })
    const stream = await peer.muxer.createStream()
    peer.deliver(windowUpdate(1, 30_000_000, ACK))
    let sentBytes = 0
    peer.transport.send = bytes => {
      sentBytes += bytes.byteLength

      return true
    }
    // 29,000 frames
    stream.send(pattern(30_000_000))
    expect(sentBytes).toBeLessThan(4_194_304 + 2 * (1024 + HEADER_BYTES))

    for (let turn = 0; turn < 10; turn++) {
      await nextTurn()
    }

    expect(stream.writeBufferLength).toBe(0)
    expect(sentBytes).toBe(30_000_000 + HEADER_BYTES * Math.ceil(30_000_000 / 1024))
  })
})

describe('urgent data', () => {
  test('leaves at once however many flushes the turn has seen', async () => {
    const { peer, streams: [normal, urgent] } = await connect({}, 'normal', 'urgent')
    let urgentWrites = 0

    for (let i = 0; i < 10; i++) {
      normal.send(pattern(10))
      await quietMicrotasks()
    }

    peer.takeWrites()
    urgent.send(pattern(10))
    await quietMicrotasks()

    urgentWrites += peer.takeFrames().filter(({ id }) => id === 3).length
    expect(urgentWrites).toBe(1)
  })

  test.each([
    [0, 65_519],
    [30_000, 35_519]
  ])('finds %i bytes less in front of it where the transport is the bottleneck', async (reservedBytes, writeBytes) => {
    const { peer, streams: [bulk] } = await connect({ reservedBytes }, 'bulk', 'urgent')
    peer.transport.isFull = true
    bulk.send(pattern(1_000_000))
    await nextTurn()
    peer.takeWrites()
    peer.transport.safeDispatchEvent('drain')

    expect(peer.takeWrites().map(({ byteLength }) => byteLength)).toEqual([writeBytes])
  })

  test('costs nobody room in a write while there are no urgent streams, or the transport takes all', async () => {
    const { peer, streams: [bulk, other] } = await connect({}, 'bulk', 'normal')
    peer.transport.isFull = true
    bulk.send(pattern(200_000))
    await nextTurn()
    peer.takeWrites()
    peer.transport.safeDispatchEvent('drain')
    expect(peer.takeWrites().map(({ byteLength }) => byteLength)).toEqual([65_519])

    other.priority = 'urgent'
    peer.transport.drain()
    peer.takeWrites()
    bulk.send(pattern(200_000))
    await nextTurn()
    expect(peer.takeWrites()[0].byteLength).toBe(65_519)
  })
})
