// Bulk both ways with a peer that bounds nothing, over links whose ways have one rate or two: what arrives at both ends, and how long messages take.
import { mean, sum } from 'simple-statistics'
import { describe, expect, test } from 'vitest'
import { muxers } from '../../testing/muxers.ts'
import { KERNEL, MBIT_BYTES_PER_S, measureBulk } from '../../testing/simulation/bulk.ts'
import { Pace } from '../../testing/simulation/pace.ts'
import { Random } from '../../testing/simulation/random.ts'
import { drawMobileSteps, STEP_MS } from './paths/mobile.ts'
import { between } from './paths/plan.ts'
import type { CreateMuxer } from '../../testing/muxers.ts'
import type { Arrived, BulkWork, End } from '../../testing/simulation/bulk.ts'

const TIMEOUT_MS = 60_000
const limits = { maxInboundStreams: 100, maxOutboundStreams: 100, maxEarlyStreams: 100 }
const stock = await muxers.stock(limits)
const ours = await muxers.ours(limits)
const unbounded = await muxers.ours({ ...limits, coalesce: { maxQueueDelayMs: Infinity } })

interface Work {
  upMbit: number
  downMbit: number
  roundTripMs: number
  streams: number
}

async function measure (createMuxer: CreateMuxer, { upMbit, downMbit, roundTripMs, streams }: Work, times: Pick<BulkWork, 'settledMs' | 'measuredMs'> = { settledMs: 15_000 }): Promise<[Arrived, Arrived]> {
  return measureBulk({ createMuxer, mbit: upMbit, streams }, { createMuxer: stock, mbit: downMbit, streams }, { roundTripMs, ...times })
}

describe.each<Work>([
  { upMbit: 2, downMbit: 2, roundTripMs: 1, streams: 5 },
  { upMbit: 10, downMbit: 10, roundTripMs: 20, streams: 5 },
  { upMbit: 50, downMbit: 50, roundTripMs: 20, streams: 20 },
  { upMbit: 1, downMbit: 10, roundTripMs: 1, streams: 5 },
  { upMbit: 1, downMbit: 10, roundTripMs: 20, streams: 1 },
  { upMbit: 4, downMbit: 16, roundTripMs: 20, streams: 1 },
  { upMbit: 4, downMbit: 16, roundTripMs: 100, streams: 5 },
  { upMbit: 10, downMbit: 50, roundTripMs: 100, streams: 1 }
])('at $upMbit and $downMbit Mbit/s, $roundTripMs ms and $streams streams each way', work => {
  test('messages take less than a quarter of the time that they take if both ends have @libp2p/yamux, and each way carries over three quarters of what its link can', async () => {
    const before = await measure(stock, work)
    const now = await measure(ours, work)

    expect(longestMs(now)).toBeLessThan(longestMs(before) / 4)
    expect(lowerPart(now)).toBeGreaterThan(0.75)
  }, TIMEOUT_MS)
})

test.each<Work>([
  { upMbit: 10, downMbit: 10, roundTripMs: 20, streams: 10 },
  { upMbit: 4, downMbit: 16, roundTripMs: 20, streams: 20 },
  { upMbit: 1, downMbit: 10, roundTripMs: 20, streams: 5 },
  { upMbit: 1, downMbit: 10, roundTripMs: 20, streams: 10 }
])('in the first 20 s at $upMbit and $downMbit Mbit/s, with $streams streams each way, what this side sends carries over 0.7 of what its link can', async work => {
  const [up] = await measure(ours, work, { settledMs: 0, measuredMs: 20_000 })
  expect(up.linkPart).toBeGreaterThan(0.7)
}, TIMEOUT_MS)

test.each<Work>([
  { upMbit: 2, downMbit: 2, roundTripMs: 20, streams: 1 },
  { upMbit: 10, downMbit: 10, roundTripMs: 80, streams: 1 },
  { upMbit: 30, downMbit: 30, roundTripMs: 20, streams: 5 },
  { upMbit: 50, downMbit: 50, roundTripMs: 20, streams: 5 }
])('in the first 5 s at $upMbit Mbit/s each way and $roundTripMs ms, with $streams streams each way, both ways carry over half of what their link can', async work => {
  expect(lowerPart(await measure(ours, work, { settledMs: 0, measuredMs: 5000 }))).toBeGreaterThan(0.5)
}, TIMEOUT_MS)

describe('after the rate of a link has fallen to a tenth', () => {
  const SLOWER_PART = 0.1
  // what happens depends on the millisecond in which a pong arrives, so one round trip shows little
  const ROUND_TRIPS_MS = [20, 40, 60, 80, 100]
  const work = { settledMs: 22_000, measuredMs: 20_000 }
  const end = (createMuxer: CreateMuxer): End => ({
    createMuxer,
    mbit: 30,
    streams: 1,
    // for longer than the test
    pace: new Pace(Array.from({ length: 100 }, (_, second) => second < 12 ? 1 : SLOWER_PART), 1000)
  })

  test.each([
    { kernelMb: 2, kernel: KERNEL },
    { kernelMb: 6, kernel: { socketBufferBytes: 6_291_456, drainAtBytes: 6_000_000 } }
  ])('each way carries three quarters of it, and messages take less than a tenth of the time that they take if both ends have @libp2p/yamux, with $kernelMb MB in kernels', async ({ kernel }) => {
    const lowerParts: number[] = []

    for (const roundTripMs of ROUND_TRIPS_MS) {
      const before = await measureBulk(end(stock), end(stock), { ...work, roundTripMs, kernel })
      const now = await measureBulk(end(ours), end(stock), { ...work, roundTripMs, kernel })

      expect(longestMs(now)).toBeLessThan(longestMs(before) / 10)
      lowerParts.push(lowerPart(now))
    }

    expect(mean(lowerParts)).toBeGreaterThan(0.75 * SLOWER_PART)
  }, TIMEOUT_MS)

  test('neither of two ends with this muxer takes the link from the other', async () => {
    const lowerParts: number[] = []

    for (const roundTripMs of [...ROUND_TRIPS_MS, 120, 160]) {
      lowerParts.push(lowerPart(await measureBulk(end(ours), end(ours), { ...work, roundTripMs })))
    }

    expect(mean(lowerParts)).toBeGreaterThan(0.75 * SLOWER_PART)
  }, TIMEOUT_MS)
})

// no probe may find a longer path behind the peer's bulk, so the bound followed the rate down, for good: to 0.12, 0.05, 0.77, 0.15 and 0.05 of the link
test.each([
  [10, 40, 200, Infinity, 0.6],
  [50, 20, 150, Infinity, 0.3],
  [10, 40, 100, 15_000, 0.9],
  [10, 40, 200, 15_000, 0.85],
  [50, 20, 150, 15_000, 0.95]
])('after a path of %d Mbit/s has become longer, from %d to %d ms, while a peer sends bulk until %d ms, an upload carries %d of its link', async (mbit, fromMs, toMs, untilMs, part) => {
  const work = { roundTripMs: fromMs, longer: { fromMs: 12_000, byMs: (toMs - fromMs) / 2 }, settledMs: 45_000 }
  const [up] = await measureBulk({ createMuxer: ours, mbit, streams: 1 }, { createMuxer: stock, mbit, streams: 1, untilMs }, work)

  expect(up.linkPart).toBeGreaterThan(part)
  expect(up.p99Ms).toBeLessThan(400)
}, TIMEOUT_MS)

// a slower upload is no longer path: if credit was given back, messages took 3 to 9 s
test.each([
  [10, 0.5, 60],
  [30, 0.3, 20],
  [5, 0.5, 20]
])('after an upload of %d Mbit/s has fallen to %d of its rate at %d ms, beside bulk of the peer, messages take less than half a second', async (mbit, part, roundTripMs) => {
  const pace = new Pace(Array.from({ length: 200 }, (_, second) => second < 12 ? 1 : part), 1000)
  const ways = await measureBulk({ createMuxer: ours, mbit, streams: 1, pace }, { createMuxer: stock, mbit: Math.max(10, mbit), streams: 1 }, { roundTripMs, settledMs: 25_000, measuredMs: 10_000 })

  expect(longestMs(ways)).toBeLessThan(500)
}, TIMEOUT_MS)

// it was taken for a queue of the peer: nothing was bound any more, and messages took 1.6 s for good
test.each([2, 11, 30])('after an outage of %d s both ways carry 0.9 of the link, and messages take less than a quarter of a second', async outageS => {
  const work = { roundTripMs: 40, settledMs: 60_000, stalls: [{ atMs: 10_000, forMs: 1000 * outageS }] }
  const ways = await measureBulk({ createMuxer: ours, mbit: 10, streams: 1 }, { createMuxer: stock, mbit: 10, streams: 1 }, work)

  expect(lowerPart(ways)).toBeGreaterThan(0.9)
  expect(longestMs(ways)).toBeLessThan(250)
}, TIMEOUT_MS)

test('on mobile links, whose rate changes all the time, both ways carry nine tenths of what they carry without bounds', async () => {
  const carried = async (createMuxer: CreateMuxer, seed: number): Promise<number> => {
    const random = new Random(seed)
    const mbit = between(random, 2, 20)
    const bytesPerMs = mbit * MBIT_BYTES_PER_S / 1000
    const pace = (): Pace => new Pace(drawMobileSteps(random, bytesPerMs).map(({ rateBytesPerMs }) => rateBytesPerMs / bytesPerMs), STEP_MS)
    const ways = await measureBulk({ createMuxer, mbit, streams: 3, pace: pace() }, { createMuxer: stock, mbit, streams: 3, pace: pace() }, { roundTripMs: 40, measuredMs: 35_000 })

    return sum(ways.map(({ bulkBytes }) => bulkBytes))
  }

  const parts: number[] = []

  for (let seed = 1; seed <= 48; seed++) {
    parts.push(await carried(ours, seed) / await carried(unbounded, seed))
  }

  expect(mean(parts)).toBeGreaterThan(0.92)
  expect(Math.min(...parts)).toBeGreaterThan(0.4)
}, TIMEOUT_MS)

function lowerPart (ways: Arrived[]): number {
  return Math.min(...ways.map(({ linkPart }) => linkPart))
}

function longestMs (ways: Arrived[]): number {
  return Math.max(...ways.map(({ p99Ms }) => p99Ms))
}
