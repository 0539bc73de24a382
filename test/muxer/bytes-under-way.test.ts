// What waits in its stream because enough is under way, what passes, and what a peer's pongs, or their absence, do to it.
import { describe, expect, test } from 'vitest'
import { FIRST_MARK_VALUE } from '../../src/core/path/bytes-under-way.ts'
import { ACK, DATA, parseFrames, pattern, PING, ping, SYN, WINDOW_UPDATE, windowUpdate } from '../fixtures/frames.ts'
import { createSession } from '../core/fixtures/sessions.ts'
import { nextTurn } from '../fixtures/raw-peer.ts'
import { createMeteredPeer, openStreams } from './fixtures/metered-peer.ts'
import { marksOf, payloadBytes, written } from './fixtures/marks.ts'
import type { MeteredPeer, MeteredPeerInit } from './fixtures/metered-peer.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Frame } from '../fixtures/frames.ts'

/** What is allowed before anything was measured, and a write more */
const FIRST_BYTES = 262_144
const MOST_FIRST_BYTES = FIRST_BYTES + 65_519
const ROUND_TRIP_MS = 20

interface Bounded {
  peer: MeteredPeer
  bulk: YamuxStream
  other: YamuxStream
}

async function connect ({ coalesce, ...init }: MeteredPeerInit = {}): Promise<Bounded> {
  const peer = createMeteredPeer({ ...init, coalesce: { maxQueueDelayMs: 10, ...coalesce } })
  const [bulk, other] = await openStreams(peer, 2)
  peer.deliver(windowUpdate(Number(bulk.id), 2 ** 30))

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

describe('what is not urgent', () => {
  test('waits in its stream when 256 KiB are under way of which nothing is known', async () => {
    const { peer, bulk } = await connect()
    await measure(peer)
    expect(bulk.send(pattern(1_000_000))).toBe(false)
    const sentBytes = payloadBytes(await written(peer))

    expect(sentBytes).toBeGreaterThan(FIRST_BYTES / 2)
    expect(sentBytes).toBeLessThan(MOST_FIRST_BYTES)
    expect(bulk.writeBufferLength).toBe(1_000_000 - sentBytes)
    expect(bulk.writableNeedsDrain).toBe(true)
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

  test('urgent data without end does not keep it for ever', async () => {
    const { peer, bulk, other } = await connect()
    await measure(peer)
    other.priority = 'urgent'
    peer.deliver(windowUpdate(Number(other.id), 2 ** 30))
    bulk.send(pattern(1_000_000))
    await written(peer)
    other.send(pattern(2_000_000))
    const frames = await written(peer)

    expect(frames.filter(({ type, id }) => type === DATA && id === Number(bulk.id)).length).toBeGreaterThan(5)
  })
})

describe('a peer', () => {
  test('that has answered no ping yet is waited for 2 s', async () => {
    const { peer, bulk } = await connect()
    bulk.send(pattern(1_000_000))
    const frames = await written(peer)
    expect(payloadBytes(frames)).toBeLessThan(MOST_FIRST_BYTES)
    // one that is no mark: it may be a peer that answers none
    expect(frames.filter(({ type }) => type === PING).map(({ length }) => length)).toEqual([0])

    peer.clock.advance(1900)
    expect(payloadBytes(await written(peer))).toBe(0)
    peer.clock.advance(2000)
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

  test('that drops some pongs says with a later one that all before has come', async () => {
    const { peer, bulk } = await connect()
    await measure(peer)
    bulk.send(pattern(1_000_000))
    const marks = marksOf(await written(peer))
    expect(marks.length).toBeGreaterThan(3)
    peer.clock.advance(ROUND_TRIP_MS)
    peer.deliver(ping(marks[marks.length - 1], ACK))

    expect(payloadBytes(await written(peer))).toBeGreaterThan(60_000)
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

    for (let request = 0; request < 100; request++) {
      other.send(pattern(100))
      frames.push(...await written(peer))
      peer.clock.advance(ROUND_TRIP_MS)
    }

    expect(marksOf(frames)).toEqual([])
  })

  test('share a write with data on a fast path too, where writes are full', async () => {
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

  test('are writes of their own under \'off\'', async () => {
    const { peer, bulk } = await connect({ coalesce: { strategy: 'off' } })
    await measure(peer)
    bulk.send(pattern(200_000))
    await nextTurn()
    const writes = peer.transport.writes.map(({ byteLength }) => byteLength)

    expect(writes.filter(byteLength => byteLength === 12).length).toBeGreaterThan(3)
    expect(marksOf(peer.takeFrames()).length).toBe(writes.filter(byteLength => byteLength === 12).length)
  })

  test('are not sent, and nothing is held back, with maxQueueDelayMs: Infinity', async () => {
    const { peer, bulk } = await connect({ coalesce: { maxQueueDelayMs: Infinity } })
    await measure(peer)
    bulk.send(pattern(3_000_000))
    const frames = await written(peer)

    expect(payloadBytes(frames)).toBe(3_000_000)
    expect(marksOf(frames)).toEqual([])
  })
})

describe('metrics', () => {
  test('show what is under way and how much may be, what the path carries, and how long data was held back', async () => {
    const { peer, bulk } = await connect()
    expect(['path_bytes_per_second', 'path_round_trip_seconds'].map(name => peer.sink.calculate(name))).toEqual([0, 0])
    await measure(peer)
    bulk.send(pattern(400_000))
    const marks = marksOf(await written(peer))
    const { actual, bound } = peer.sink.calculate('under_way_bytes') as Record<string, number>
    expect(bound).toBe(FIRST_BYTES)
    expect(actual).toBeGreaterThan(FIRST_BYTES / 2)
    expect(peer.sink.calculate('held_back_seconds_total')).toBe(0)

    peer.clock.advance(1000)
    marks.forEach(value => { peer.deliver(ping(value, ACK)) })
    expect(peer.sink.calculate('held_back_seconds_total')).toBe(1)
    expect(peer.sink.calculate('path_round_trip_seconds')).toBe(ROUND_TRIP_MS / 1000)
    expect(peer.sink.calculate('path_bytes_per_second')).toBeGreaterThan(100_000)

    peer.muxer.abort(new Error('The test is over'))
    expect(peer.sink.calculate('held_back_seconds_total')).toBe(1)
    expect(peer.sink.calculate('under_way_bytes')).toEqual({ actual: 0, bound: 0 })
  })
})

test('marks of the peer are told from other pings by their values, which count up', async () => {
  const values = (pings: number[]): boolean => {
    const { underWay } = createSession()
    pings.forEach(value => { underWay.onPing(value) })

    return underWay.estimate.isPeerBounded
  }

  expect(values([FIRST_MARK_VALUE, FIRST_MARK_VALUE + 1])).toBe(true)
  expect(values([0, 1, 2, 3])).toBe(false)
  expect(values([FIRST_MARK_VALUE + 77, FIRST_MARK_VALUE + 5])).toBe(false)
  expect(values([FIRST_MARK_VALUE])).toBe(false)
})
