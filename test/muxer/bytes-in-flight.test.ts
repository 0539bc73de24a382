// What waits in its stream because enough is in flight, what passes, and what a peer's pongs, or their absence, do to it.
import { describe, expect, test } from 'vitest'
import { FIRST_MARK_VALUE } from '../../src/core/wire/frame.ts'
import { ACK, DATA, parseFrames, pattern, PING, ping, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { controlOf, createSession } from '../../testing/core/sessions.ts'
import { nextTurn, quietMicrotasks } from '../../testing/protocol/raw-peer.ts'
import { createMeteredPeer, openStreams } from './fixtures/metered-peer.ts'
import { Line, marksOf, payloadBytes, payloadBytesOf, written } from './fixtures/marks.ts'
import type { MeteredPeer, MeteredPeerInit } from './fixtures/metered-peer.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Frame } from '../../testing/protocol/frames.ts'

/** What is allowed before anything was measured */
const FIRST_BYTES = 65_536
/** From here on data waits: half of a write of 16 KiB is left */
const HOLDS_FROM_BYTES = 57_344
const WRITE_BYTES = 65_519
const ROUND_TRIP_MS = 20
/** 10 Mbit/s */
const BYTES_PER_MS = 1250

interface Bounded {
  peer: MeteredPeer
  bulk: YamuxStream
  other: YamuxStream
}

/** `bulk` may send all it has, and so may `other` */
async function connect ({ coalesce, ...init }: MeteredPeerInit = {}): Promise<Bounded> {
  const peer = createMeteredPeer({ ...init, coalesce: { maxQueueDelayMs: 10, ...coalesce } })
  const [bulk, other] = await openStreams(peer, 2)
  peer.deliver(windowUpdate(Number(bulk.id), 2 ** 30), windowUpdate(Number(other.id), 2 ** 30))

  return { peer, bulk, other }
}

/** The peer has answered a ping, as it does when a connection begins */
async function measure (peer: MeteredPeer): Promise<void> {
  peer.muxer.ping().catch(() => {})
  await nextTurn()
  const [{ length }] = peer.takeFrames().filter(({ type }) => type === PING)
  peer.clock.advance(ROUND_TRIP_MS)
  peer.deliver(ping(length, ACK))
  await nextTurn()
  peer.takeFrames()
}

/** One that has answered a ping, on a line that carries so much in a millisecond */
async function connectOverLine (bytesPerMs = BYTES_PER_MS): Promise<Bounded & { line: Line }> {
  const bounded = await connect()
  await measure(bounded.peer)

  return { ...bounded, line: new Line(bounded.peer, bytesPerMs, ROUND_TRIP_MS) }
}

describe('what is not urgent', () => {
  test('waits in its stream when 64 KiB are in flight of which nothing is known', async () => {
    const { peer, bulk } = await connect()
    await measure(peer)
    expect(bulk.send(pattern(1_000_000))).toBe(false)
    const sentBytes = payloadBytes(await written(peer))

    // 65,536 with headers and marks
    expect(sentBytes).toBeGreaterThan(FIRST_BYTES - 150)
    expect(sentBytes).toBeLessThan(FIRST_BYTES)
    expect(bulk.writeBufferLength).toBe(1_000_000 - sentBytes)
    expect(bulk.writableNeedsDrain).toBe(true)
  })

  test.each([
    ['goes whole if it is hardly more, as an answer of 64 KiB', 65_700, 0],
    ['goes whole up to half a write more', 73_500, 0],
    ['waits with its end if that is longer', 74_500, 74_500 - FIRST_BYTES]
  ])('%s', async (_, byteLength, leastLeftBytes) => {
    const { peer, bulk } = await connect()
    await measure(peer)
    bulk.send(pattern(byteLength))
    await written(peer)

    expect(bulk.writeBufferLength).toBeGreaterThanOrEqual(leastLeftBytes)
    expect(bulk.writeBufferLength === 0).toBe(leastLeftBytes === 0)
  })

  test('goes on as the peer answers the marks behind it, and drains', async () => {
    const { peer, bulk } = await connect()
    const events: string[] = []
    await measure(peer)
    bulk.addEventListener('drain', () => { events.push('drain') })
    bulk.send(pattern(3_000_000))
    let sentBytes = 0

    for (let round = 0; round < 100 && bulk.writeBufferLength > 0; round++) {
      const frames = await written(peer)
      sentBytes += payloadBytes(frames)
      peer.clock.advance(ROUND_TRIP_MS)
      marksOf(frames).forEach(value => { peer.deliver(ping(value, ACK)) })
    }

    expect(sentBytes + payloadBytes(await written(peer))).toBe(3_000_000)
    expect(events).toEqual(['drain'])
  })

  test('is let go all at once when the muxer closes', async () => {
    const { peer, bulk } = await connect()
    await measure(peer)
    bulk.send(pattern(1_000_000))
    let sentBytes = payloadBytes(await written(peer))
    const closing = peer.muxer.close()
    const frames = await written(peer)
    sentBytes += payloadBytes(frames)
    marksOf(frames).forEach(value => { peer.deliver(ping(value, ACK)) })
    await closing

    expect(sentBytes).toBe(1_000_000)
  })

  test('leaves ahead of its reset when it is aborted, alone', async () => {
    const { peer, bulk, other } = await connect()
    await measure(peer)
    bulk.send(pattern(1_000_000))
    await written(peer)
    other.send(pattern(1000))
    await nextTurn()
    expect(payloadBytes(await written(peer))).toBe(0)
    other.abort(new Error('Enough'))
    const frames = await written(peer)

    expect(frames.map(({ type, id, length }) => [type, id, length])).toEqual([[DATA, Number(other.id), 1000], [WINDOW_UPDATE, Number(other.id), 0]])
  })
})

describe('while it waits', () => {
  test('urgent data and control frames leave at once', async () => {
    const { peer, bulk, other } = await connect()
    await measure(peer)
    other.priority = 'urgent'
    bulk.send(pattern(1_000_000))
    await written(peer)
    other.send(pattern(100))
    peer.deliver(ping(7, SYN))
    const frames = await written(peer)

    expect(frames.map(({ type, flags, length }) => [type, flags, length])).toEqual(expect.arrayContaining([[DATA, 0, 100], [PING, ACK, 7]]))
    expect(payloadBytes(frames)).toBe(100)
  })

  test('urgent data waits too when it is more than a little: a frame, and the write in which it becomes more', async () => {
    const { peer, bulk, other } = await connect()
    await measure(peer)
    other.priority = 'urgent'
    bulk.send(pattern(1_000_000))
    await written(peer)
    other.send(pattern(2_000_000))
    const frames = await written(peer)

    expect(payloadBytesOf(other.id, frames)).toBeGreaterThan(16_000)
    expect(payloadBytes(frames)).toBeLessThan(16_384 + WRITE_BYTES)
    expect(await written(peer)).toEqual([])
  })

  test('urgent data without end does not keep it for ever, nor the line empty, nor its queue long', async () => {
    const { bulk, other, line } = await connectOverLine()
    other.priority = 'urgent'
    bulk.send(pattern(5_000_000))
    other.send(pattern(5_000_000))
    await line.run(1000)
    const frames = await line.run(1000)

    expect(payloadBytesOf(bulk.id, frames)).toBeGreaterThan(0.3 * payloadBytes(frames))
    expect(payloadBytes(frames)).toBeGreaterThan(0.97 * 1000 * BYTES_PER_MS)
    // 50 ms
    expect(line.queuedBytes).toBeLessThan(50 * BYTES_PER_MS)
  })
})

describe('beside an urgent stream with megabytes', () => {
  test('what is in flight is as little as with any other', async () => {
    const { other, line } = await connectOverLine()
    other.priority = 'urgent'
    other.send(pattern(5_000_000))

    for (let part = 0; part < 50; part++) {
      await line.run(20)
      // what is allowed at first, a frame of urgent data and a write
      expect(line.queuedBytes).toBeLessThan(FIRST_BYTES + 16_384 + WRITE_BYTES)
    }
  })

  test.each([[0], [7], [100]])('a lone message of another leaves behind a frame of it and what was being written, not behind megabytes, %d ms later too', async laterMs => {
    const { bulk, other, line } = await connectOverLine()
    other.priority = 'urgent'
    other.send(pattern(5_000_000))
    await line.run(500 + laterMs)
    bulk.send(pattern(100))
    const frames = await line.run(100)
    const message = frames.findIndex(({ type, id }) => type === DATA && id === Number(bulk.id))

    expect(message).toBeGreaterThan(-1)
    expect(payloadBytes(frames.slice(0, message))).toBeLessThanOrEqual(2 * 16_384)
  })
})

describe('a silence of the peer', () => {
  test('behind which it answers all that was in flight, as of a program that works in its turns, does not leave the line empty for long', async () => {
    const { peer, bulk } = await connect()
    await measure(peer)
    bulk.send(pattern(5_000_000))
    const sentBytes: number[] = []

    for (let round = 0; round < 4; round++) {
      const frames = await written(peer)
      sentBytes.push(payloadBytes(frames))
      peer.clock.advance(200)
      marksOf(frames).forEach(value => { peer.deliver(ping(value, ACK)) })
    }

    expect(sentBytes[0]).toBeLessThan(FIRST_BYTES)
    // 4 times as much as was in flight
    expect(sentBytes[1]).toBeGreaterThan(4 * sentBytes[0])
    expect(sentBytes.reduce((sum, bytes) => sum + bytes)).toBe(5_000_000)
  })

  test('that a slow line explains changes nothing', async () => {
    // 262 ms for what is allowed at first
    const { bulk, line } = await connectOverLine(250)
    bulk.send(pattern(1_000_000))

    for (let part = 0; part < 30; part++) {
      await line.run(100)
      expect(line.queuedBytes).toBeLessThan(FIRST_BYTES)
    }

    // 35 ms at 250 bytes a millisecond, 4096 that marks have not shown, a write and half of one, less what 20 ms behind the line hold
    expect(line.queuedBytes).toBeLessThan(8750 + 4096 + 6144 - 5000)
  })
})

describe('a peer', () => {
  test('that has answered no ping yet is waited for half a second', async () => {
    const { peer, bulk } = await connect()
    bulk.send(pattern(1_000_000))
    const frames = await written(peer)
    expect(payloadBytes(frames)).toBeLessThan(FIRST_BYTES)
    // one that is no mark: it may be a peer that answers none
    expect(frames.filter(({ type }) => type === PING).map(({ length }) => length)).toEqual([0])

    peer.clock.advance(499)
    expect(payloadBytes(await written(peer))).toBe(0)
    peer.clock.advance(10)
    expect(payloadBytes(frames) + payloadBytes(await written(peer))).toBe(1_000_000)
  })

  test('that answers no more is asked again, less and less often, and no longer waited for after 5 s', async () => {
    const { peer, bulk } = await connect()
    await measure(peer)
    bulk.send(pattern(1_000_000))
    const sentBytes = payloadBytes(await written(peer))
    let marks = 0

    for (let ms = 0; ms < 4900; ms += 100) {
      peer.clock.advance(100)
      const frames = await written(peer)
      marks += marksOf(frames).length
      expect(payloadBytes(frames)).toBe(0)
    }

    expect(marks).toBeGreaterThan(3)
    expect(marks).toBeLessThan(30)
    peer.clock.advance(2000)
    expect(sentBytes + payloadBytes(await written(peer))).toBe(1_000_000)
  })

  test('whose pongs lie in the socket while this side stands still is heard before it is no longer waited for', async () => {
    const { peer, bulk } = await connect()
    await measure(peer)
    bulk.send(pattern(1_000_000))
    const marks = marksOf(await written(peer))
    // the timer comes first, with its microtasks, and the socket in the same turn
    peer.clock.standStill(6000)
    await quietMicrotasks()
    expect(payloadBytes(peer.takeFrames())).toBe(0)
    peer.deliver(ping(marks[marks.length - 1], ACK))
    await written(peer)

    // it was slow, and not the path: four times as much is tried
    expect(bulk.writeBufferLength).toBeGreaterThan(1_000_000 - 6 * FIRST_BYTES)
  })

  test('that drops some pongs says with a later one that all before has come', async () => {
    const { peer, bulk } = await connect()
    await measure(peer)
    bulk.send(pattern(1_000_000))
    const marks = marksOf(await written(peer))
    expect(marks.length).toBeGreaterThan(1)
    peer.clock.advance(ROUND_TRIP_MS)
    peer.deliver(ping(marks[marks.length - 1], ACK))

    expect(payloadBytes(await written(peer))).toBeGreaterThan(HOLDS_FROM_BYTES)
  })

  test.each<[string, (marks: number[]) => number[]]>([
    ['twice', marks => [...marks, ...marks, ...marks]],
    ['in the wrong order', marks => [...marks].reverse()],
    ['with values that nobody has sent', marks => [...marks, ...marks.map(value => value + 1000), FIRST_MARK_VALUE + 5000, 12_345]]
  ])('that answers %s does no harm', async (_, answersTo) => {
    const { peer, bulk } = await connect()
    await measure(peer)
    bulk.send(pattern(3_000_000))
    let sentBytes = 0

    for (let round = 0; round < 100 && bulk.writeBufferLength > 0; round++) {
      const frames = await written(peer)
      sentBytes += payloadBytes(frames)
      peer.clock.advance(ROUND_TRIP_MS)
      answersTo(marksOf(frames)).forEach(value => { peer.deliver(ping(value, ACK)) })
    }

    expect(sentBytes + payloadBytes(await written(peer))).toBe(3_000_000)
    expect(peer.muxer.status).toBe('open')
  })
})

describe('marks', () => {
  test('are not sent for a few requests', async () => {
    const { peer, other } = await connect()
    await measure(peer)
    const frames: Frame[] = []

    for (let request = 0; request < 60; request++) {
      other.send(pattern(100))
      frames.push(...await written(peer))
      peer.clock.advance(ROUND_TRIP_MS)
    }

    expect(marksOf(frames)).toEqual([])
  })

  test('share a write with data, also where writes are full', async () => {
    const { peer, bulk } = await connect()
    await measure(peer)
    bulk.send(pattern(10_000_000))
    const writes: Frame[][] = []

    for (let round = 0; round < 20; round++) {
      await nextTurn()
      const taken = peer.transport.writes.splice(0).map(write => parseFrames(write.subarray()))
      writes.push(...taken)
      peer.clock.advance(1)
      marksOf(taken.flat()).forEach(value => { peer.deliver(ping(value, ACK)) })
    }

    expect(marksOf(writes.flat()).length).toBeGreaterThan(5)
    expect(writes.filter(frames => payloadBytes(frames) === 0)).toEqual([])
    expect(writes.filter(frames => payloadBytes(frames) > 65_000).length).toBeGreaterThan(10)
  })

  test('share a write with data where writes hold several records', async () => {
    const { peer, bulk } = await connect()
    await measure(peer)
    bulk.send(pattern(20_000_000))
    const writes: Frame[][] = []
    let waiting: Frame[][] = []
    let carriedBytes = 0

    // a line of 45,000 bytes a millisecond
    for (let ms = 0; ms < 400; ms++) {
      await nextTurn()
      const taken = peer.transport.writes.splice(0).map(write => parseFrames(write.subarray()))
      writes.push(...taken)
      waiting.push(...taken)
      peer.clock.advance(1)

      for (carriedBytes += 45_000; waiting.length > 0 && carriedBytes >= payloadBytes(waiting[0]); waiting = waiting.slice(1)) {
        carriedBytes -= payloadBytes(waiting[0])
        marksOf(waiting[0]).forEach(value => { peer.deliver(ping(value, ACK)) })
      }

      carriedBytes = waiting.length > 0 ? carriedBytes : 0
    }

    expect(writes.filter(frames => payloadBytes(frames) > 2 * 65_000).length).toBeGreaterThan(20)
    expect(marksOf(writes.flat()).length).toBeGreaterThan(20)
    // those that ask once more, when the answer takes long
    expect(writes.filter(frames => payloadBytes(frames) === 0).length).toBeLessThan(marksOf(writes.flat()).length / 2)
  })

  test('begin with one in the write of the pong to the first ping of the peer', async () => {
    const { peer } = await connect()
    peer.takeFrames()
    peer.deliver(ping(7, SYN))
    await nextTurn()
    const writes = peer.transport.writes.splice(0).map(write => parseFrames(write.subarray()))

    expect(writes.map(frames => frames.map(({ type, flags, length }) => [type, flags, length >= FIRST_MARK_VALUE]))).toEqual([
      [[PING, SYN, true], [PING, ACK, false]]
    ])
  })

  test.each([
    ['go beside the pong to a mark of the peer while 4 KiB are in flight, in one write, as a reply', 4084, 0, [1]],
    ['do not go beside it while less is in flight', 4083, 0, []],
    ['do not go beside the pong to a reply', 4084, 1, []]
  ])('%s', async (_, byteLength, isReply, replies) => {
    const { peer, bulk } = await connect()
    await measure(peer)
    const peersValue = FIRST_MARK_VALUE + 800 + isReply
    // the first mark, which goes beside any pong, has arrived
    peer.deliver(ping(7, SYN))
    await written(peer)
    peer.muxer.ping().catch(() => {})
    await nextTurn()
    const [{ length }] = peer.takeFrames()
    peer.deliver(ping(length, ACK))
    // a ping and a header of 12 bytes each
    bulk.send(pattern(byteLength - 12))
    await written(peer)
    peer.deliver(ping(peersValue, SYN))
    await nextTurn()
    const writes = peer.transport.writes.splice(0).map(write => parseFrames(write.subarray()))

    expect(writes.length).toBe(1)
    expect(writes[0].filter(({ type, flags }) => type === PING && flags === ACK).map(({ length }) => length)).toEqual([peersValue])
    expect(marksOf(writes[0]).map(value => value % 2)).toEqual(replies)
  })

  test('are writes of their own under \'off\'', async () => {
    const { peer, bulk } = await connect({ coalesce: { strategy: 'off' } })
    await measure(peer)
    bulk.send(pattern(200_000))
    await nextTurn()
    const writes = peer.transport.writes.map(({ byteLength }) => byteLength)

    expect(writes.filter(byteLength => byteLength === 12).length).toBeGreaterThan(1)
    expect(marksOf(peer.takeFrames()).length).toBe(writes.filter(byteLength => byteLength === 12).length)
  })
})

describe('metrics', () => {
  test('show what is in flight and how much may be, what the path carries, and how long data was held back', async () => {
    const { peer, bulk } = await connect()
    expect(['path_bytes_per_second', 'path_round_trip_seconds'].map(name => peer.sink.calculate(name))).toEqual([0, 0])
    await measure(peer)
    bulk.send(pattern(400_000))
    const marks = marksOf(await written(peer))
    const { actual, bound } = peer.sink.calculate('in_flight_bytes') as Record<string, number>
    expect(bound).toBe(FIRST_BYTES)
    expect(actual).toBeGreaterThan(HOLDS_FROM_BYTES)
    // marks come on top
    expect(actual).toBeLessThan(FIRST_BYTES + 100)
    expect(peer.sink.calculate('held_seconds_total')).toMatchObject({ path: 0 })

    peer.clock.advance(1000)
    marks.forEach(value => { peer.deliver(ping(value, ACK)) })
    expect(peer.sink.calculate('held_seconds_total')).toMatchObject({ path: 1 })
    expect(peer.sink.calculate('path_round_trip_seconds')).toBe(ROUND_TRIP_MS / 1000)
    // of 64 KiB in a second
    expect(peer.sink.calculate('path_bytes_per_second')).toBeGreaterThan(40_000)
    expect(peer.sink.calculate('path_bytes_per_second')).toBeLessThan(66_000)

    peer.muxer.abort(new Error('The test is over'))
    expect(peer.sink.calculate('held_seconds_total')).toMatchObject({ path: 1 })
    expect(peer.sink.calculate('in_flight_bytes')).toEqual({ actual: 0, bound: 0 })
  })

  test('show that nothing is in flight a second after the peer has answered all marks, although little stands behind the last', async () => {
    const { peer, bulk, line } = await connectOverLine()
    const actual = (): number => (peer.sink.calculate('in_flight_bytes') as Record<string, number>).actual
    bulk.send(pattern(400_000))
    await line.run(100)
    expect(actual()).toBeGreaterThan(20_000)

    // in 320 ms, and a message behind that
    await line.run(400)
    bulk.send(pattern(100))
    await line.run(0)
    expect(actual()).toBeGreaterThan(0)
    await line.run(999)
    expect(actual()).toBeGreaterThan(0)
    await line.run(1)
    expect(actual()).toBe(0)
  })
})

test('marks of the peer are told from other pings when they come', () => {
  const session = createSession()
  session.receive(ping(FIRST_MARK_VALUE, SYN), 1000)
  expect(controlOf(session).estimate.peersDelay.isMarked(1000)).toBe(false)
  // 200 ms later by the peer's clock too, which is 1600 units
  session.receive(ping(FIRST_MARK_VALUE + 1600, SYN), 1200)

  expect(controlOf(session).estimate.peersDelay.isMarked(1200)).toBe(true)
})
