// The example in the head of bytes-in-flight.ts, number by number: a link of 10 Mbit/s and 40 ms, and later of 5 Mbit/s.
import { beforeEach, expect, test } from 'vitest'
import { Path } from '../property/fixtures/path.ts'
import type { BytesInFlight } from '../../src/path/bytes-in-flight.ts'

/** By then the first ping has been answered; the example counts from here */
const STARTS_MS = 1000

const QUEUE_MS = 10

let path: Path
let inFlight: BytesInFlight
let events: string[]

/** Notes what is handed down, marked and answered, and whether it holds data or releases it */
function note (name: 'onWritten' | 'mark' | 'onPong', describeCall: (byteLength: number) => string): void {
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

/** The bytes a millisecond that the path carries, the bound in kB, how long the last mark was queued, and whether the path is probed */
function learnt (): [number, number, number, boolean] {
  const { bytesPerMs, bound, queueMs, isProbing } = inFlight.estimate

  return [Math.round(bytesPerMs), Math.round(bound.bytes / 1000), Math.round(queueMs), isProbing]
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
  note('onWritten', byteLength => byteLength > 0 ? `write ${byteLength}` : '')
  note('mark', () => 'mark')
  note('onPong', () => 'pong')
})

test.each<[when: string, fromMs: number, untilMs: number, events: string[]]>([
  ['0 ms: two writes of 8 KiB and three of 16, a mark behind each, and the rest is held', -1, 0, [
    ...['0 write 8192', '0 mark', '0 write 8192', '0 mark'],
    ...['0 write 16384', '0 mark', '0 write 16384', '0 mark', '0 write 16384', '0 hold', '0 mark']
  ]],
  ['5 to 30 ms: five marks more ask again', 0, 46, ['5 mark', '10 mark', '15 mark', '20 mark', '30 mark']],
  ['53 ms: with the second pong there is room for a write', 53, 54, ['53 pong', '53 release', '53 write 16384', '53 hold', '53 mark']],
  ['until 1500 ms: each pong releases a write of 11 kB with a mark', 1400, 1407, ['1406 pong', '1406 release', '1406 write 11060', '1406 hold', '1406 mark']]
])('%s', (_, fromMs, untilMs, expected) => {
  runUntil(fromMs)
  events = []
  runUntil(untilMs)

  expect(events).toEqual(expected)
})

test.each<[when: string, ms: number, learnt: ReturnType<typeof learnt>]>([
  ['0 ms: nothing is known', 0, [0, 66, 0, false]],
  ['47 ms: the first pong says that 8 KiB have arrived, 176 bytes a ms, in 7 ms more than the ping took', 47, [176, 66, 7, false]],
  ['93 ms: the marks that asked again have shown all that the path carries and next to no queue', 93, [1250, 213, 3, false]],
  ['until 167 ms the bound stays', 166, [1250, 210, 16, false]],
  ['167 ms: there is a queue of 34 ms', 167, [1250, 157, 34, false]],
  ['until 503 ms the rate is searched for', 502, [1250, 157, 86, false]],
  ['503 ms: the rate is found, and pongs are 27 ms apart', 503, [1250, 113, 73, false]],
  ['until 850 ms pongs are rare', 849, [1250, 98, 44, false]],
  ['850 ms: pongs are rare no more', 850, [1250, 88, 43, false]],
  ['until 1500 ms: 31 ms of a mark\'s 71 are in the queue', 1408, [1250, 88, 31, false]],
  ['from 1500 ms on the higher rate counts, and the queue grows', 1875, [1250, 88, 102, false]],
  ['until 3650 ms pongs become rare, the bound grows to 105 kB, and the queue to 128 ms', 3649, [1250, 105, 128, false]],
  ['3650 ms: the rate has fallen by half, and a probe leaves 19 kB in flight, three quarters of what the path holds', 3650, [625, 19, 128, true]],
  ['until 3823 ms the path is not empty', 3822, [625, 19, 0, true]],
  ['3823 ms: a mark has found the path empty, and its round trip as it was', 3823, [625, 55, 7, false]],
  ['3983 ms: the bound is that of the path', 3983, [625, 46, 46, false]]
])('%s', (_, ms, expected) => {
  runUntil(ms)

  expect(learnt()).toEqual(expected)
})

test('gaps between pongs are 27 ms at 503 ms, and 21 at 3650; the round trip is found to be 40 ms at 3823', () => {
  const gapsMs = [503, 3650].map(ms => {
    runUntil(ms)

    return Math.round(inFlight.estimate.learned.pongGap.ms)
  })
  runUntil(3823)

  expect(gapsMs).toEqual([27, 21])
  expect(inFlight.estimate.learned.own.ms).toBeCloseTo(40, 1)
})
