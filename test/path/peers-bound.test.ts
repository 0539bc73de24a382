// What a peer may have in flight, over a model of a link: bytes that a peer with endless bulk sends as credit allows, a queue, and a delay.
import { beforeEach, describe, expect, test } from 'vitest'
import { NO_PEER_CONTROL } from '../../src/core/peer-control.ts'
import { PeersBound } from '../../src/path/peers-bound.ts'

const MBIT_BYTES_PER_MS = 125
const QUEUE_MS = 25
/** What streams begin with: the queue that nobody can take back */
const FIRST_CREDIT_BYTES = 1_310_720
const BULK_FROM_MS = 1000
const RECORD_BYTES = 16_384

interface PeerInit {
  mbit: number | ((ms: number) => number)
  roundTripMs: number | ((ms: number) => number)
  /** How long the peer's program works in each turn, in which it sends nothing and answers no ping */
  turnMs?: number
  answersPings?: boolean
}

interface Seen {
  ms: number
  arrivedBytes: number
  roundTripMs?: number
  isBound: boolean
}

const valueAt = (value: number | ((ms: number) => number), ms: number): number => typeof value === 'number' ? value : value(ms)

/** Millisecond by millisecond: what arrives, and how long each ping takes */
function watch (forMs: number, { mbit, roundTripMs, turnMs = 0, answersPings = true }: PeerInit, control = new PeersBound(QUEUE_MS)): Seen[] {
  const seen: Seen[] = []
  // a connection begins with a ping
  const toPeer: Array<{ atMs: number, creditBytes?: number, pingMs?: number }> = []
  const toHere: Array<{ atMs: number, byteLength?: number, pingMs?: number }> = []
  const queue: Array<{ byteLength: number, pingMs?: number }> = []
  let creditBytes = 0
  let carriedBytes = 0
  let readBytes = 0
  /** What the peer may still send, as this side sees it */
  let availableBytes = 0
  /** Granted before the last ping, and since */
  let earlierBytes = 0
  let laterBytes = 0
  let isInRound = false
  const isAtWork = (ms: number): boolean => turnMs > 0 && ms % turnMs !== 0
  const inFlightBytes = (): number => Math.min(availableBytes, earlierBytes + laterBytes)

  for (let ms = 1; ms <= forMs; ms++) {
    if (ms === 1) {
      ask(true, valueAt(roundTripMs, ms) / 2, ms)
    } else if (ms === BULK_FROM_MS) {
      creditBytes = FIRST_CREDIT_BYTES
      availableBytes = FIRST_CREDIT_BYTES
    }

    const delayMs = valueAt(roundTripMs, ms) / 2
    const bytesPerMs = valueAt(mbit, ms) * MBIT_BYTES_PER_MS
    let arrivedBytes = 0
    let endedMs: number | undefined

    while (toPeer.length > 0 && toPeer[0].atMs <= ms && !isAtWork(ms)) {
      const { creditBytes: bytes, pingMs } = toPeer.shift() as typeof toPeer[number]
      creditBytes += bytes ?? 0

      // what was allowed by then is in front of the pong
      if (pingMs !== undefined && answersPings) {
        send()
        queue.push({ byteLength: 12, pingMs })
      }
    }

    if (!isAtWork(ms)) {
      send()
    }

    carriedBytes = queue.length > 0 ? carriedBytes + bytesPerMs : 0

    while (queue.length > 0 && carriedBytes >= queue[0].byteLength) {
      const { byteLength, pingMs } = queue.shift() as typeof queue[number]
      carriedBytes -= byteLength
      toHere.push({ atMs: ms + delayMs, byteLength, pingMs })
    }

    while (toHere.length > 0 && toHere[0].atMs <= ms) {
      const { byteLength = 0, pingMs } = toHere.shift() as typeof toHere[number]

      if (pingMs === undefined) {
        arrivedBytes += byteLength
        readBytes += byteLength
        availableBytes -= byteLength
        ask(control.onReceived(byteLength, ms), ms + delayMs, ms)
      } else {
        isInRound = false
        earlierBytes = 0
        endedMs = ms - pingMs
        control.onRoundEnded(endedMs, ms)
        ask(control.boundBytes < Infinity && readBytes > 0, ms + delayMs, ms)
      }
    }

    const grantBytes = Math.min(readBytes, Math.max(0, control.boundBytes - inFlightBytes()))

    if (grantBytes >= 4096 || (grantBytes > 0 && control.boundBytes === Infinity)) {
      readBytes -= grantBytes
      availableBytes += grantBytes
      laterBytes += grantBytes
      toPeer.push({ atMs: ms + delayMs, creditBytes: grantBytes })
    }

    seen.push({ ms, arrivedBytes, roundTripMs: endedMs, isBound: control.boundBytes < Infinity })
  }

  function send (): void {
    while (creditBytes >= 1) {
      const byteLength = Math.min(creditBytes, RECORD_BYTES)
      creditBytes -= byteLength
      queue.push({ byteLength })
    }
  }

  function ask (isWanted: boolean, atMs: number, ms: number): void {
    if (isWanted && !isInRound) {
      isInRound = true
      earlierBytes += laterBytes
      laterBytes = 0
      control.onRoundBegun(inFlightBytes(), readBytes >= 4096, ms)
      toPeer.push({ atMs, pingMs: ms })
    }
  }

  return seen
}

/** From an instant on: of the link's rate, the part that arrived; and the longest round trip */
function judge (seen: Seen[], fromMs: number, toMs: number, mbit: number): { part: number, longestMs: number } {
  const window = seen.filter(({ ms }) => ms > fromMs && ms <= toMs)

  return {
    part: window.reduce((sum, { arrivedBytes }) => sum + arrivedBytes, 0) / ((toMs - fromMs) * mbit * MBIT_BYTES_PER_MS),
    longestMs: Math.max(...window.map(({ roundTripMs = 0 }) => roundTripMs))
  }
}

const SETTLED_MS = 10_000
const END_MS = 30_000

describe('bulk that queues at the peer', () => {
  test.each([[2, 0.5], [10, 0.5], [10, 40], [10, 200], [50, 40], [90, 100]])('at %d Mbit/s and %d ms stays as long as the bound says, and the link stays busy', (mbit, roundTripMs) => {
    const { part, longestMs } = judge(watch(END_MS, { mbit, roundTripMs }), SETTLED_MS, END_MS, mbit)
    // one that arrives is in front of the pong, and so is one that is being sent
    const recordsMs = 2 * RECORD_BYTES / (mbit * MBIT_BYTES_PER_MS)

    expect(part).toBeGreaterThan(0.97)
    expect(longestMs).toBeLessThan(1.25 * roundTripMs + 2 * QUEUE_MS + recordsMs)
  })

  test('waits for a second and more without a bound', () => {
    expect(judge(watch(END_MS, { mbit: 10, roundTripMs: 40 }, NO_PEER_CONTROL as PeersBound), SETTLED_MS, END_MS, 10).part).toBeGreaterThan(0.97)
    expect(FIRST_CREDIT_BYTES / (10 * MBIT_BYTES_PER_MS)).toBeGreaterThan(1000)
  })
})

describe('nothing is withheld', () => {
  test.each([
    ['from 100 Mbit/s on', { mbit: 120, roundTripMs: 20 }],
    ['from a peer that answers no ping', { mbit: 10, roundTripMs: 40, answersPings: false }]
  ])('%s', (_, init) => {
    expect(watch(END_MS, init).filter(({ ms, isBound }) => ms > SETTLED_MS && isBound)).toEqual([])
  })

  test('any more after the peer has nothing to send for seconds', () => {
    const control = new PeersBound(QUEUE_MS)
    watch(SETTLED_MS, { mbit: 10, roundTripMs: 40 }, control)
    expect(control.boundBytes).toBeLessThan(Infinity)

    control.onRoundBegun(0, false, SETTLED_MS + 3000)
    control.onRoundEnded(40, SETTLED_MS + 3040)
    expect(control.boundBytes).toBe(Infinity)
  })
})

describe('if nothing is asked for', () => {
  let control: PeersBound

  beforeEach(() => {
    control = new PeersBound(undefined)
    watch(SETTLED_MS, { mbit: 10, roundTripMs: 40 }, control)
  })

  test('bulk of the peer alone is not bound', () => {
    expect(control.boundBytes).toBe(Infinity)
    expect(control.roundTripMs).toBe(0)
  })

  test('it is bound if data of this side waits behind it, and both ends make room for the same round trip', () => {
    control.heldUntilMs = Infinity

    expect(control.bindBothWays(SETTLED_MS)).toBe(true)
    expect(control.boundBytes).toBeLessThan(150_000)
    expect(control.roundTripMs).toBeCloseTo(1.25 * 40 + QUEUE_MS + RECORD_BYTES / (10 * MBIT_BYTES_PER_MS), -1)
  })

  test('it is bound as soon as the first pong is late, if the rate is even: then little is added to what streams begin with', () => {
    const earlyMs = BULK_FROM_MS + 1000
    control = new PeersBound(undefined)
    control.heldUntilMs = Infinity

    expect(watch(earlyMs, { mbit: 10, roundTripMs: 40 }, control).find(({ isBound }) => isBound)?.ms).toBeLessThan(earlyMs)
  })

  test('but not a peer that bounds itself', () => {
    control = new PeersBound(undefined)
    control.heldUntilMs = Infinity
    control.boundsItself = true

    expect(watch(SETTLED_MS, { mbit: 10, roundTripMs: 40 }, control).filter(({ isBound }) => isBound)).toEqual([])
  })

  test('it stays bound when the link has become slower, as that is no reason for more credit', () => {
    control = new PeersBound(undefined)
    control.heldUntilMs = Infinity
    const seen = watch(END_MS, { mbit: ms => ms < 15_000 ? 30 : 3, roundTripMs: 40 }, control)

    expect(seen.filter(({ ms, isBound }) => ms > 15_000 && !isBound)).toEqual([])
  })

  test('while the rate changes, a pong that is late is not enough', () => {
    control = new PeersBound(undefined)
    control.heldUntilMs = Infinity

    // a fifth less every 200 ms
    expect(watch(BULK_FROM_MS + 1000, { mbit: ms => 10 * 0.8 ** ((ms - BULK_FROM_MS) / 200), roundTripMs: 40 }, control).filter(({ isBound }) => isBound)).toEqual([])
  })

  test('it is bound for two seconds after the last data of this side was held', () => {
    control.heldUntilMs = SETTLED_MS
    control.bindBothWays(SETTLED_MS)
    endRound(SETTLED_MS + 1999)
    expect(control.boundBytes).toBeLessThan(Infinity)

    endRound(SETTLED_MS + 2000)
    expect(control.boundBytes).toBe(Infinity)
  })

  /** The link carries a third of what it did, until the bound is given up. Returns when that was. */
  function slowDown (): number {
    control.heldUntilMs = Infinity
    control.bindBothWays(SETTLED_MS)
    let nowMs = SETTLED_MS

    for (; control.boundBytes < Infinity && nowMs < SETTLED_MS + 20_000; nowMs += 400) {
      control.onRoundBegun(0, true, nowMs)

      for (let ms = 1; ms <= 400; ms++) {
        control.onReceived(3 * MBIT_BYTES_PER_MS, nowMs + ms)
      }

      control.onRoundEnded(400, nowMs + 400)
    }

    return nowMs
  }

  test('it is not bound for two minutes if credit for 225 ms more than a round trip was not enough for three seconds: the link is not steady', () => {
    const nowMs = slowDown()

    expect(control.boundBytes).toBe(Infinity)
    expect(nowMs).toBeGreaterThan(SETTLED_MS + 3000)
    expect(nowMs).toBeLessThan(SETTLED_MS + 8000)
    expect(control.bindBothWays(nowMs + 119_000)).toBe(false)
    expect(control.bindBothWays(nowMs + 121_000)).toBe(true)
  })

  test('meanwhile windows may grow for the whole round trip, as it contains the queues of both ends', () => {
    const nowMs = slowDown()
    control.onRoundBegun(0, false, nowMs)
    control.onRoundEnded(5000, nowMs + 5000)

    expect(control.creditMs).toBe(Infinity)
  })

  test('it is not bound before the rate was seen for a second and a half, and that is no reason not to bind it later', () => {
    control = new PeersBound(undefined)
    watch(BULK_FROM_MS + 1400, { mbit: 10, roundTripMs: 40 }, control)

    expect(control.bindBothWays(BULK_FROM_MS + 1400)).toBe(false)
    expect(control.bindBothWays(BULK_FROM_MS + 1600)).toBe(true)
  })

  test('it is not bound for two minutes if the rate of the link varies', () => {
    control = new PeersBound(undefined)
    // 3 Mbit/s in each third second
    watch(SETTLED_MS, { mbit: ms => ms % 3000 < 2000 ? 10 : 3, roundTripMs: 40 }, control)

    expect(control.bindBothWays(SETTLED_MS)).toBe(false)
    expect(control.bindBothWays(SETTLED_MS + 119_000)).toBe(false)
    expect(control.bindBothWays(SETTLED_MS + 121_000)).toBe(true)
  })

  test('from 100 Mbit/s on it is not bound', () => {
    control = new PeersBound(undefined)
    watch(SETTLED_MS, { mbit: 120, roundTripMs: 40 }, control)

    expect(control.bindBothWays(SETTLED_MS)).toBe(false)
  })

  test('nor is it with Infinity', () => {
    control = new PeersBound(Infinity)
    watch(SETTLED_MS, { mbit: 10, roundTripMs: 40 }, control)

    expect(control.bindBothWays(SETTLED_MS)).toBe(false)
  })

  /** With credit that waits */
  function endRound (nowMs: number): void {
    control.onRoundBegun(0, true, nowMs - 40)
    control.onRoundEnded(40, nowMs)
  }
})

test('where data of this side is held, credit waits behind it, so more may be in flight, up to a limit for the bound of this side', () => {
  const control = new PeersBound(QUEUE_MS)
  watch(SETTLED_MS, { mbit: 10, roundTripMs: 40 }, control)
  const { boundBytes } = control
  control.heldUntilMs = Infinity

  for (let nowMs = SETTLED_MS; nowMs < SETTLED_MS + 2000; nowMs += 200) {
    control.onRoundBegun(boundBytes, true, nowMs)

    // half of what the link carries, without a gap
    for (let ms = 1; ms <= 200; ms++) {
      control.onReceived(5 * MBIT_BYTES_PER_MS, nowMs + ms)
    }

    control.onRoundEnded(200, nowMs + 200)
  }

  expect(control.creditMs).toBeGreaterThan(1.25 * 40 + 200)
  expect(control.roundTripMs).toBeLessThan(1.25 * 40 + 2 * QUEUE_MS + 20)
})

test('when the start-up of this side is over, less is in its way, and less may be in flight', () => {
  const control = new PeersBound(QUEUE_MS)
  watch(SETTLED_MS, { mbit: 10, roundTripMs: 40 }, control)
  control.heldUntilMs = Infinity
  const endRound = (nowMs: number): void => {
    control.onRoundBegun(0, true, nowMs - 200)
    control.onRoundEnded(200, nowMs)
  }

  // nothing comes, as credit waits behind data of this side
  for (let nowMs = SETTLED_MS + 200; nowMs <= SETTLED_MS + 1000; nowMs += 200) {
    endRound(nowMs)
  }

  const before = control.creditMs
  control.onStartUpOver()
  endRound(SETTLED_MS + 1200)

  expect(before).toBeGreaterThan(1.25 * 40 + 200)
  expect(control.creditMs).toBeLessThan(1.25 * 40 + 4 * QUEUE_MS)
})

describe('the link stays busy', () => {
  test.each([20, 50, 100, 200])('while the program of the peer works %d ms in each turn', turnMs => {
    expect(judge(watch(END_MS, { mbit: 10, roundTripMs: 20, turnMs }), SETTLED_MS, END_MS, 10).part).toBeGreaterThan(0.93)
  })

  test('mostly when the path has become ten times as long', () => {
    const seen = watch(60_000, { mbit: 10, roundTripMs: ms => ms < 15_000 ? 20 : 200 })

    expect(judge(seen, 20_000, 60_000, 10).part).toBeGreaterThan(0.85)
  })

  test.each([[10, 50], [2, 20]])('when the rate rises from %d to %d Mbit/s', (before, after) => {
    const seen = watch(END_MS, { mbit: ms => ms < 15_000 ? before : after, roundTripMs: 40 })

    expect(judge(seen, 20_000, END_MS, after).part).toBeGreaterThan(0.95)
  })
})

test('the queue is short again seconds after the rate has fallen to a fifth', () => {
  const seen = watch(END_MS, { mbit: ms => ms < 15_000 ? 10 : 2, roundTripMs: 40 })

  expect(judge(seen, 15_000, 22_000, 2).longestMs).toBeLessThan(1000)
  expect(judge(seen, 22_000, END_MS, 2)).toMatchObject({ part: expect.closeTo(1, 1) })
  expect(judge(seen, 22_000, END_MS, 2).longestMs).toBeLessThan(300)
})
