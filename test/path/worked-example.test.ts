// The example in the head of bytes-in-flight.ts, number by number: a link of 10 Mbit/s and 40 ms, and later of 5 Mbit/s.
import { beforeEach, expect, test } from 'vitest'
import { Path } from '../property/fixtures/path.ts'
import type { DrivenPath } from '../../testing/core/driven-path.ts'

/** By then the first ping has been answered; the example counts from here */
const STARTS_MS = 1000

const QUEUE_MS = 10
/** And what that ping took */
const PING_BYTES = 12
const ROUND_TRIP_MS = 40 + PING_BYTES / 1250

let path: Path
let inFlight: DrivenPath
let events: string[]

/** Notes what is handed down, marked and answered, and whether it holds data or releases it */
function note (name: 'write' | 'writeMark' | 'onPong', describeCall: (byteLength: number) => string): void {
  const method = inFlight[name].bind(inFlight) as (...args: number[]) => unknown

  Object.defineProperty(inFlight, name, {
    value: (...args: number[]) => {
      const wasHeld = inFlight.isHeld
      const result = method(...args)
      const held = inFlight.isHeld === wasHeld ? '' : wasHeld ? 'release' : 'hold'
      events.push(...[describeCall(args[0]), held].filter(event => event !== '').map(event => `${Math.round(path.nowMs - STARTS_MS)} ${event}`))

      return result
    }
  })
}

/** Until so many milliseconds of the example have passed */
function runUntil (ms: number): void {
  path.runUntil(STARTS_MS + ms)
}

/** The bytes a millisecond that the path carries, and the bound in kB */
function learnt (): [number, number] {
  return [Math.round(inFlight.estimate.bytesPerMs), Math.round(inFlight.estimate.bound.bytes / 1000)]
}

beforeEach(() => {
  events = []
  path = new Path({
    steps: [{ atMs: 0, rateBytesPerMs: 1250, roundTripMs: 40 }, { atMs: STARTS_MS + 1500, rateBytesPerMs: 625, roundTripMs: 40 }],
    startMs: STARTS_MS,
    maxQueueDelayMs: QUEUE_MS
  })
  inFlight = path.inFlight
  runUntil(-1)
  // a mark by itself has no data in front of it
  note('write', byteLength => byteLength > 0 ? `write ${byteLength}` : '')
  note('writeMark', () => 'mark')
  note('onPong', () => 'pong')
})

test('0 ms: two writes of 8 KiB and three of 16, a mark behind each, and the rest is held', () => {
  runUntil(0)

  expect(events).toEqual([
    ...['0 write 8192', '0 mark', '0 write 8192', '0 mark'],
    ...['0 write 16384', '0 mark', '0 write 16384', '0 mark', '0 write 16384', '0 hold', '0 mark']
  ])
  expect(inFlight.estimate.bound.bytes).toBe(65_536)
})

test('5 to 30 ms: five marks more ask again', () => {
  runUntil(0)
  events = []
  runUntil(46)

  expect(events).toEqual(['5 mark', '10 mark', '15 mark', '20 mark', '30 mark'])
})

test('47 ms: the first pong says that 8 KiB have arrived, 176 bytes a ms, in 7 ms more than the ping took', () => {
  runUntil(47)

  expect(inFlight.acknowledgedBytes - PING_BYTES).toBe(8192)
  expect(Math.round(inFlight.estimate.queueMs)).toBe(7)
  expect(learnt()).toEqual([176, 66])
})

test('53 ms: with the second pong there is room for a write', () => {
  runUntil(53)
  events = []
  runUntil(54)

  expect(events).toEqual(['53 pong', '53 release', '53 write 16384', '53 hold', '53 mark'])
})

test('93 ms: the marks that asked again have shown all that the path carries and next to no queue, and the bound is 213 kB', () => {
  runUntil(93)

  expect(learnt()).toEqual([1250, 213])
  expect(Math.round(inFlight.estimate.queueMs)).toBe(3)
  expect(inFlight.estimate.bound.bytes / inFlight.estimate.bytesPerMs).toBeCloseTo(4 * ROUND_TRIP_MS + QUEUE_MS, 1)
})

test('167 ms: there is a queue of 34 ms, and the bound is 157 kB', () => {
  runUntil(166)
  expect(learnt()).toEqual([1250, 210])

  runUntil(167)
  expect(learnt()).toEqual([1250, 157])
  expect(Math.round(inFlight.estimate.queueMs)).toBe(34)
  expect(inFlight.estimate.bound.bytes / inFlight.estimate.bytesPerMs).toBeCloseTo(2.89 * ROUND_TRIP_MS + QUEUE_MS, 6)
})

test('503 ms: the rate is found, and pongs are 28 ms apart: the bound is 114 kB', () => {
  runUntil(502)
  expect(learnt()).toEqual([1250, 157])

  runUntil(503)
  expect(learnt()).toEqual([1250, 114])
  expect(Math.round(inFlight.estimate.learned.pongGap.ms)).toBe(28)
})

test('850 ms: pongs are rare no more, and the bound is 88 kB', () => {
  runUntil(849)
  expect(learnt()).toEqual([1250, 98])

  runUntil(850)
  const carriedBytes = 1250 * (1.25 * ROUND_TRIP_MS + QUEUE_MS)
  expect(learnt()).toEqual([1250, 88])
  expect(Math.round(carriedBytes / 1000)).toBe(75)
  expect(inFlight.estimate.bound.bytes).toBeCloseTo(carriedBytes * 9 / 8 + 4096, 6)
})

test('until 1500 ms: each pong releases a write of 11 kB with a mark, which takes 71 ms, 31 of them in the queue', () => {
  runUntil(1400)
  events = []
  runUntil(1408)

  expect(events).toEqual(['1407 pong', '1407 release', '1407 write 11060', '1407 hold', '1407 mark'])
  expect(Math.round(inFlight.estimate.lastRoundTripMs)).toBe(71)
  expect(Math.round(inFlight.estimate.queueMs)).toBe(31)
})

test('from 1500 ms on: while the higher rate counts, pongs become rare, the bound grows to 105 kB, and the queue to 128 ms', () => {
  runUntil(1875)
  expect(learnt()).toEqual([1250, 88])
  expect(Math.round(inFlight.estimate.queueMs)).toBe(102)

  runUntil(3650)
  const { queueMs, learned: { pongGap } } = inFlight.estimate
  expect(learnt()).toEqual([1250, 105])
  expect(inFlight.estimate.bound.bytes).toBeCloseTo(1250 * (1.25 * ROUND_TRIP_MS + QUEUE_MS + pongGap.ms) + 4096, 6)
  expect(Math.round(pongGap.ms)).toBe(21)
  expect(Math.round(queueMs)).toBe(128)
})

test('3651 ms: the rate has fallen by half, and a probe leaves 19 kB in flight, three quarters of what the path holds', () => {
  runUntil(3650)
  expect(inFlight.estimate.isProbing).toBe(false)

  runUntil(3651)
  expect(inFlight.estimate.isProbing).toBe(true)
  expect(learnt()).toEqual([625, 19])
  expect(inFlight.estimate.bound.bytes).toBeCloseTo(0.75 * 625 * ROUND_TRIP_MS, 0)
})

test('3824 ms: a mark has found the path empty, and its round trip as it was', () => {
  runUntil(3823)
  expect(inFlight.estimate.isProbing).toBe(true)

  runUntil(3824)
  expect(inFlight.estimate.isProbing).toBe(false)
  expect(inFlight.estimate.roundTripMs).toBeCloseTo(40, 1)

  expect(learnt()).toEqual([625, 55])

  runUntil(4027)
  expect(learnt()).toEqual([625, 46])
  expect(inFlight.estimate.bound.bytes).toBeCloseTo(625 * (1.25 * (inFlight.estimate.roundTripMs ?? 0) + QUEUE_MS) * 9 / 8 + 4096, 6)
})
