// How many bytes may be in flight, from what marks have shown.
import { beforeEach, describe, expect, test } from 'vitest'
import { NodePaths } from '../../src/path/node-paths.ts'
import { PathEstimate } from '../../src/path/path-estimate.ts'
import { FIRST_BYTES } from '../../src/path/phase-bytes.ts'
import { PeersBound } from '../../src/path/peers-bound.ts'
import { MIN_WRITE_BYTES } from '../../src/core/path-control.ts'
import { FIRST_MARK_VALUE } from '../../src/core/wire/frame.ts'
import { UNITS_PER_MS } from '../../src/path/marks.ts'
import type { PathSample } from '../../src/path/samples.ts'
import type { CatchUp } from '../../src/path/silences.ts'

const WRITE_BYTES = 65_519
const QUEUE_MS = 10
/** At 1000 bytes a millisecond and 50 ms: see the test of it */
const STEADY_BYTES = 85_658.5

let estimate: PathEstimate
let nowMs: number
let arrivedPositionBytes: number

/** A path that carries so much, in a round trip of so many milliseconds, with nothing else to say */
function sample (bytesPerMs: number, roundTripMs: number, init: Partial<PathSample> = {}): void {
  const intervalMs = init.intervalMs ?? roundTripMs
  const deliveredBytes = bytesPerMs * intervalMs
  nowMs += intervalMs
  arrivedPositionBytes += deliveredBytes
  // no mark is in flight any more
  estimate.onWaiting(Infinity, nowMs)
  estimate.onSample({
    nowMs,
    roundTripMs,
    intervalMs,
    deliveredBytes,
    arrivedPositionBytes,
    inFlightBytes: bytesPerMs * roundTripMs,
    peersDelayMs: 0,
    unacknowledgedBytes: 0,
    receivedBytes: 0,
    latestBytesPerMs: 0,
    isAppLimited: false,
    wasHeld: true,
    isNewRoundTrip: true,
    ...init
  })
}

/** The same for so long, at first until both halves of the time that a rate counts have seen it */
function settle (bytesPerMs: number, roundTripMs: number, forMs = Math.max(2000, 20 * roundTripMs)): void {
  const untilMs = nowMs + forMs

  while (nowMs < untilMs) {
    sample(bytesPerMs, roundTripMs)
  }
}

/** The rate falls, until no sample that counts is higher, and that starts a probe */
function fallTo (bytesPerMs: number, roundTripMs: number): void {
  const fromMs = nowMs

  while (!estimate.isProbing) {
    expect(nowMs).toBeLessThan(fromMs + 10_000)
    sample(bytesPerMs, roundTripMs, { inFlightBytes: 340_000, isNewRoundTrip: false })
  }
}

/** Behind 100 ms without a pong all that was in flight has come back at once; returns the bound */
function catchUp (init: Partial<CatchUp> = {}): number {
  estimate.onCatchUp({ nowMs, arrivedPositionBytes, untilBytes: arrivedPositionBytes, silentMs: 100, endedMs: nowMs, inFlightBytes: 80_000, restBytes: 60_000, restMs: 0, hasLost: false, ...init })

  return estimate.bound.bytes
}

function createEstimate (nodePaths = new NodePaths(), peersBound = new PeersBound(Infinity)): PathEstimate {
  nowMs = 0
  arrivedPositionBytes = 0

  return new PathEstimate(QUEUE_MS, WRITE_BYTES, nodePaths, peersBound)
}

beforeEach(() => {
  estimate = createEstimate()
})

describe('the rate of a path', () => {
  test('is kept while samples are far apart, although a mark has found the path empty', () => {
    settle(32, 640)
    sample(32, 640, { intervalMs: 1200 })
    sample(20, 2, { intervalMs: 1200, inFlightBytes: 100 })

    expect(estimate.bytesPerMs).toBe(32)
  })

  test('is kept for 1.3 s at least, and forgotten after 2.6', () => {
    settle(1000, 50, 3000)
    settle(500, 50, 1250)
    expect(estimate.bytesPerMs).toBe(1000)

    settle(500, 50, 1350)
    expect(estimate.bytesPerMs).toBe(500)
  })

  test('is not told by a first mark with less than 4 KiB in front of it, which shows only a round trip', () => {
    sample(81, 50)
    expect([estimate.bytesPerMs, estimate.learned.own.ms, estimate.bound.bytes]).toEqual([0, 50, FIRST_BYTES])

    sample(82, 50)
    expect(estimate.bytesPerMs).toBe(82)
    sample(83, 1)
    expect(estimate.bytesPerMs).toBe(83)
  })
})

describe('the bound', () => {
  test('is 64 KiB before anything is known, of which a write is a quarter, and half a write may go beyond it', () => {
    expect(estimate.bound.bytes).toBe(65_536)
    expect(estimate.bound.writeBytes).toBe(16_384)
    expect(estimate.bound.holdsFromBytes).toBe(57_344)
  })

  test('is none after a transport that said "wait" before anything was measured, and stays when it says so later', () => {
    estimate.onTransportFull()
    expect(estimate.bound.bytes).toBe(Infinity)
    expect(estimate.bound.writeBytes).toBe(WRITE_BYTES)

    settle(1000, 50)
    estimate.onTransportFull()
    expect(estimate.bound.bytes).toBe(STEADY_BYTES)
  })

  test.each([
    // 72.5 ms are 72,500 bytes, their eighth 9062.5, a write 4096
    ['is what the path carries in a round trip and a quarter and in the time that it may wait, an eighth for what marks have not shown, and a write', 1000, 50, 72_500 + 9062.5 + 4096],
    // 72.5 ms are 7250 bytes
    ['has room for 4 KiB that marks have not shown on a slow path', 100, 50, 7250 + 4096 + 4096],
    // 12.5 ms are 62,500 bytes, 5 ms 25,000
    ['has room for what 5 ms bring that marks have not shown on a short path', 5000, 2, 62_500 + 25_000 + 4096]
  ])('%s', (_, bytesPerMs, roundTripMs, boundBytes) => {
    settle(bytesPerMs, roundTripMs)

    expect(estimate.bound.bytes).toBe(boundBytes)
    // less half of a write, which is an eighth of it, and 4 KiB at least
    expect(estimate.bound.holdsFromBytes).toBe(boundBytes - Math.max(MIN_WRITE_BYTES, Math.floor(boundBytes / 8)) / 2)
  })

  test('is more than twice as much during start-up, and 64 KiB at least', () => {
    sample(1000, 50)
    // 2.89 round trips are 144.5 ms, and may wait for 10
    expect(estimate.bound.bytes).toBe(154_500)

    estimate = createEstimate()
    sample(100, 50)
    expect(estimate.bytesPerMs).toBe(100)
    expect(estimate.bound.bytes).toBe(FIRST_BYTES)
  })

  test.each([
    ['no more than that', 'in a longer queue than that makes', 73, STEADY_BYTES],
    ['as during start-up', 'no longer than that makes them', 72, 154_500]
  ])('is %s where there never is more to send, as for want of credit, and marks wait %s', (_, __, roundTripMs, boundBytes) => {
    estimate.onRoundTrip(50, 0, 0)

    for (let round = 0; round < 20; round++) {
      sample(1000, roundTripMs, { isAppLimited: true, wasHeld: false })
    }

    expect(estimate.bound.bytes).toBe(boundBytes)
  })

  test('is as much for what the newest round trip alone has shown, and four round trips where its mark has not waited, until the rate is found', () => {
    sample(500, 50)
    sample(500, 80, { latestBytesPerMs: 1000 })
    expect(estimate.bound.bytes).toBe(154_500)

    sample(500, 70, { latestBytesPerMs: 1000 })
    expect(estimate.bound.bytes).toBe(210_000)

    settle(1000, 50)
    sample(1000, 50, { latestBytesPerMs: 3000 })
    expect(estimate.bound.bytes).toBe(STEADY_BYTES)
  })

  test('is none when no pong comes, until one does', () => {
    settle(1000, 50)
    estimate.lift()
    expect(estimate.bound.bytes).toBe(Infinity)

    sample(1000, 50)
    expect(estimate.bound.bytes).toBe(154_500)
  })

  test('is two writes when the rate of a short path has fallen, until a mark finds it empty', () => {
    settle(5000, 2)

    fallTo(2500, 2.1)

    expect(estimate.bound.bytes).toBe(2 * MIN_WRITE_BYTES)
    sample(2500, 5, { inFlightBytes: 2 * (MIN_WRITE_BYTES + 12) })
    expect(estimate.bound.bytes).toBeGreaterThan(2500 * QUEUE_MS)
  })
})

describe('when all has come back behind a silence', () => {
  test('the bound lasts for a tenth more than the silence and a round trip', () => {
    settle(1000, 50)

    // 165,000 bytes in 1.1 times 150 ms, an eighth of what 72.5 ms carry, and a write
    expect(catchUp()).toBe(165_000 + 9062.5 + 4096)
  })

  test('the bound is what it was 20 s later', () => {
    settle(1000, 50)
    catchUp()
    settle(1000, 50, 20_000)

    expect(estimate.bound.bytes).toBe(STEADY_BYTES)
  })

  test('twice as much as was in flight is tried if that is more, until so much has come back', () => {
    settle(1000, 50)
    const untilBytes = arrivedPositionBytes + 200_000
    // 1.1 times 125 ms would be 150,658.5
    expect(catchUp({ silentMs: 75, inFlightBytes: 100_000 })).toBe(200_000)

    sample(1000, 50, { arrivedPositionBytes: untilBytes - 1 })
    expect(estimate.bound.bytes).toBe(200_000)
    sample(1000, 50, { arrivedPositionBytes: untilBytes })
    expect(estimate.bound.bytes).toBeLessThan(150_658.5)
    expect(estimate.bound.bytes).toBeGreaterThan(145_000)
  })

  test('the bound is what it was when pings say that so much has come back, and time has passed', () => {
    settle(1000, 50)
    catchUp({ silentMs: 75, inFlightBytes: 1_000_000, restBytes: 1_000_000 })
    estimate.onRoundTrip(50, arrivedPositionBytes + 1_999_999, nowMs + 30_000)
    expect(estimate.bound.bytes).toBe(2_000_000)
    estimate.onRoundTrip(50, arrivedPositionBytes + 2_000_000, nowMs + 30_000)

    expect(estimate.bound.bytes).toBe(STEADY_BYTES)
  })

  test.each([[25], [150]])('of %d ms during start-up four times as much is tried', silentMs => {
    sample(1000, 50)

    expect(catchUp({ silentMs, inFlightBytes: 60_000 })).toBe(4 * 60_000)
  })

  test.each([[30, 178_158.5], [30.1, STEADY_BYTES]])('and 60,000 bytes of it took %d ms, where the path takes 60, the bound is %d', (restMs, boundBytes) => {
    settle(1000, 50)

    expect(catchUp({ restMs })).toBe(boundBytes)
  })
})

describe('if the marks of another path wait for as long', () => {
  let other: PathEstimate

  /** Both carry 1000 bytes a millisecond in 50 ms, and their marks take 150 now */
  beforeEach(() => {
    const nodePaths = new NodePaths()
    other = createEstimate(nodePaths)
    estimate = other
    settle(1000, 50)
    estimate = createEstimate(nodePaths)
    settle(1000, 50)
    other.queueMs = 100
    other.lastRoundTripMs = 150
  })

  test('what came back at no more than the pace of both is no reason to have more in flight', () => {
    // half of the 30 ms that both take for 60,000 bytes
    expect(catchUp({ restMs: 15.1 })).toBe(STEADY_BYTES)
    expect(catchUp({ restMs: 15 })).toBe(178_158.5)
  })

  test('what came back all at once, in one pong, is no reason either, unless marks were lost: it is the peer that was silent', () => {
    expect(catchUp({ restBytes: 0 })).toBe(STEADY_BYTES)
    expect(catchUp({ restBytes: 19_999 })).toBe(STEADY_BYTES)
    expect(catchUp({ restBytes: 0, hasLost: true })).toBe(178_158.5)
  })

  /** The rate of one has fallen, and what it then measures with little in flight is longer */
  function seemLonger (): void {
    fallTo(500, 150)
    other.sampledMs = nowMs
    sample(500, 150, { inFlightBytes: 4096 })
  }

  test('both drain the link when one seems to be longer, and measure it with marks that were written when the link was empty', () => {
    seemLonger()
    expect([estimate, other].map(({ bound, isProbing }) => [bound.bytes, isProbing])).toEqual([[0, true], [0, true]])

    // written 149 ms later, and 150 ms
    sample(500, 70, { inFlightBytes: 4096, intervalMs: 219 })
    expect(estimate.bound.bytes).toBe(0)
    sample(500, 70, { inFlightBytes: 4096, intervalMs: 1 })
    expect(estimate.bound.bytes).toBeGreaterThan(0)
    // 70, less what two writes of 4096 bytes take at the rate of before
    expect(estimate.learned.own.ms).toBeCloseTo(70 - 8.192)
  })

  describe('that is starting up', () => {
    beforeEach(() => {
      const own = estimate
      estimate = other
      other.lift()
      sample(1000, 150, { isAppLimited: true })
      estimate = own
    })

    /** Asks again after so long */
    function askAfter (ms: number): void {
      nowMs += ms
      other.sampledMs = nowMs
      sample(500, 150)
      sample(500, 150, { inFlightBytes: 4096 })
    }

    test('one that seems to be longer goes on as it was, and asks again after a second', () => {
      seemLonger()
      expect([estimate.isProbing, estimate.learned.own.ms]).toEqual([false, 50])

      sample(500, 150)
      expect(estimate.isProbing).toBe(false)
      nowMs += 1000
      sample(500, 150)
      expect(estimate.isProbing).toBe(true)
    })

    test('one that seems to be longer measures its link after ten seconds, as a peer may keep the other starting up: both drain the link', () => {
      seemLonger()
      askAfter(9000)
      expect(estimate.isProbing).toBe(false)
      askAfter(1000)
      expect([estimate.isProbing, estimate.bound.bytes, other.isProbing, other.bound.bytes]).toEqual([true, 0, true, 0])
    })

    test('one that seems to be longer remembers what it carried before, however its rate falls until it measures that', () => {
      seemLonger()
      sample(100, 150, { intervalMs: 5000 })
      askAfter(5000)
      sample(100, 150, { inFlightBytes: 4096, intervalMs: 300 })
      // less what two writes of 4096 bytes took before; at the rate that is left they would take 82 ms
      expect(estimate.learned.own.ms).toBeCloseTo(150 - 8.192)
    })
  })
})

describe('a fast path', () => {
  test('carries what a kernel takes, 4 MiB, in 20 ms: nothing is held, writes are whole, and marks rare', () => {
    // 209,715.2 bytes a millisecond
    sample(209_715, 2)
    expect([estimate.bound.bytes < Infinity, estimate.markIntervalMs]).toEqual([true, 5])

    sample(209_716, 2)
    expect([estimate.bound.bytes, estimate.bound.holdsFromBytes, estimate.markIntervalMs]).toEqual([Infinity, Infinity, 100])
    expect(estimate.bound.writeBytes).toBe(WRITE_BYTES)
  })

  test('is one until its rate has been lower for 2.6 s', () => {
    settle(300_000, 2, 3000)
    settle(209_715, 2, 1290)
    expect([estimate.bound.bytes, estimate.markIntervalMs]).toEqual([Infinity, 100])

    settle(209_715, 2, 1310)
    expect([estimate.bound.bytes < Infinity, estimate.markIntervalMs]).toEqual([true, 5])
  })

  test('is one whatever its transport says', () => {
    settle(300_000, 2)
    estimate.onTransportFull()

    expect(estimate.bound.bytes).toBe(Infinity)
    expect(estimate.markIntervalMs).toBe(100)
  })
})

test('one sample that is too high, as of a clump of pongs, does not make the rate that follows look fallen', () => {
  settle(1000, 50)
  sample(2000, 50)

  for (let round = 0; round < 40; round++) {
    sample(1000, 50)
    expect(estimate.bound.bytes).toBeGreaterThan(1000 * 50)
  }
})

test('a probe that never finds the path empty, because others fill it, ends after three round trips', () => {
  settle(5000, 50)

  for (let round = 0; round < 30; round++) {
    sample(1250, 200, { inFlightBytes: 340_000 })
  }

  expect(estimate.bound.bytes).toBeGreaterThan(1250 * 50)
})

describe('a write', () => {
  test('is an eighth of the bound, between 4 KiB and what was asked for', () => {
    settle(100, 50)
    // of 15,442
    expect(estimate.bound.writeBytes).toBe(MIN_WRITE_BYTES)

    settle(1000, 50)
    // of 85,658.5
    expect(estimate.bound.writeBytes).toBe(10_707)

    settle(20_000, 50)
    expect(estimate.bound.writeBytes).toBe(WRITE_BYTES)
  })

  test('is a quarter of the bound during start-up', () => {
    sample(1000, 50)

    expect(estimate.bound.writeBytes).toBe(154_500 / 4)
  })
})

describe('the round trip of a path', () => {
  test('is the shorter of the first two, and a quarter of what a later one is shorter by less', () => {
    sample(1000, 350)
    expect(estimate.learned.own.ms).toBe(350)

    sample(1000, 50)
    expect(estimate.learned.own.ms).toBe(50)

    sample(1000, 30)
    expect(estimate.learned.own.ms).toBe(45)
  })

  test('is the first where the second has waited longer, and a quarter less than that behind a third', () => {
    sample(1000, 50)
    sample(1000, 90)
    expect(estimate.learned.own.ms).toBe(50)

    sample(1000, 30)
    expect(estimate.learned.own.ms).toBe(45)
  })

  test('is not that of marks that waited in a queue', () => {
    settle(1000, 50)
    sample(1000, 400)

    expect(estimate.learned.own.ms).toBe(50)
    expect(estimate.queueMs).toBe(350)
  })

  test('is that of an ordinary ping too, if it is shorter', () => {
    estimate.onRoundTrip(40, 0, 0)
    estimate.onRoundTrip(400, 0, 0)

    expect(estimate.learned.own.ms).toBe(40)
  })

  test('is longer when the rate has fallen and a mark that found the path empty took longer', () => {
    settle(5000, 50)
    fallTo(1250, 200)

    sample(1250, 200, { inFlightBytes: 40_000 })
    expect(estimate.learned.own.ms).toBeCloseTo(200 - 2 * MIN_WRITE_BYTES / 5000)
  })

  test('is not that of a mark with little in front of it that was written before the probe began: what was in flight then stood in front of it', () => {
    settle(5000, 50)
    fallTo(1250, 200)

    sample(1250, 201, { inFlightBytes: 40_000, intervalMs: 200 })
    expect([estimate.isProbing, estimate.learned.own.ms]).toEqual([true, 50])
    sample(1250, 201, { inFlightBytes: 40_000, intervalMs: 1 })
    expect([estimate.isProbing, estimate.learned.own.ms]).toEqual([false, 201 - 2 * MIN_WRITE_BYTES / 5000])
  })
})

describe('while pongs wait with the data of a peer that bounds it', () => {
  /** All but one millisecond of 400 is the peer's delay */
  const DELAYED: Partial<PathSample> = { roundTripMs: 1, peersDelayMs: 399 }

  test('that is not taken for a longer path, nor for a queue of ours', () => {
    settle(5000, 1)
    fallTo(300, 400)
    sample(300, 400, { ...DELAYED, inFlightBytes: 4000 })

    expect([estimate.isProbing, estimate.learned.own.ms, estimate.queueMs]).toEqual([false, 1, 0])
  })

  test('a look waits for as long as they do', () => {
    settle(5000, 1)
    sample(300, 400, DELAYED)

    expect(estimate.lastRoundTripMs).toBe(400)
  })

  test('the bound grows by what has arrived meanwhile, as far as so much is in flight', () => {
    settle(1000, 50)
    const { bytes } = estimate.bound
    sample(1000, 50, { peersDelayMs: 30, unacknowledgedBytes: 100_000 })
    expect(estimate.arrivedBytes).toBe(30_000)
    expect(estimate.bound.bytes).toBe(bytes + 30_000)

    sample(1000, 50, { peersDelayMs: 30, unacknowledgedBytes: 12_000 })
    expect(estimate.arrivedBytes).toBe(12_000)
    expect(estimate.bound.bytes).toBe(bytes + 12_000)
  })

  test('the bound grows by what arrives in the mean delay at least, whatever the last pong says', () => {
    settle(1000, 50)
    const { bytes } = estimate.bound

    for (let round = 0; round < 400; round++) {
      // a mean of 30 ms
      sample(1000, 50, { peersDelayMs: 60 * (round % 2), unacknowledgedBytes: 100_000 })
    }

    expect(estimate.bound.bytes).toBe(bytes + 60_000)
    sample(1000, 50, { unacknowledgedBytes: 0 })
    expect(estimate.bound.bytes).toBeGreaterThan(bytes + 29_000)
    expect(estimate.bound.bytes).toBeLessThan(bytes + 31_000)
  })

  test('the bound of a probe grows too, as what has arrived is not in the path', () => {
    settle(5000, 50)
    fallTo(1250, 200)
    sample(1250, 200, { inFlightBytes: 340_000, peersDelayMs: 20, unacknowledgedBytes: 100_000 })

    expect(estimate.isProbing).toBe(true)
    expect(estimate.bound.bytes).toBe(0.75 * 1250 * 50 + 20 * 1250)
  })
})

test('what an application did not ask for is no measure of the path', () => {
  settle(1000, 50)

  for (let round = 0; round < 100; round++) {
    sample(10, 50, { isAppLimited: true, wasHeld: false })
  }

  expect(estimate.bytesPerMs).toBe(1000)
})

describe('a pong that waits behind the peer\'s own data', () => {
  /** Samples of so many milliseconds, whose pongs have taken 1600 */
  function waitBehindPeer (forMs: number, receivedBytes = 2_000_000): void {
    for (let passedMs = 0; passedMs < forMs; passedMs += 100) {
      sample(1000, 1600, { intervalMs: 100, receivedBytes, isNewRoundTrip: false })
    }
  }

  test('is no queue of ours where the peer bounds nothing and goes on for two seconds: as much may be in flight as the path carries until it comes', () => {
    settle(1000, 50)
    waitBehindPeer(1900)
    expect(estimate.bound.bytes).toBeLessThan(250_000)

    waitBehindPeer(100)
    expect(estimate.bound.bytes).toBeGreaterThanOrEqual(1.25 * 1000 * 1600)
  })

  describe('of which credit can be withheld', () => {
    let peersBound: PeersBound

    beforeEach(() => {
      peersBound = new PeersBound(undefined)
      estimate = createEstimate(new NodePaths(), peersBound)
      peersBound.onRoundEnded(50, nowMs)
      settle(1000, 50)

      // 8 Mbit/s for a second
      for (let ms = 0; ms < 1000; ms += 10) {
        peersBound.onReceived(10_000, nowMs + ms)
      }
    })

    test('is short after two seconds: its credit is bound, and as much may be in flight as the path carries in the round trip that this allows', () => {
      waitBehindPeer(2000)

      expect(peersBound.roundTripMs).toBeCloseTo(1.25 * 50 + 25 + 10, 0)
      expect(estimate.bound.bytes).toBeGreaterThanOrEqual(1000 * peersBound.roundTripMs)
      expect(estimate.bound.bytes).toBeLessThan(1000 * (peersBound.roundTripMs + 50))
    })

    test('may be long again when credit is bound no more: this side starts anew, as it does not know what the path carries without the bound', () => {
      waitBehindPeer(2000)
      peersBound.onSilence()
      sample(1000, 1600, { receivedBytes: 2_000_000 })

      expect(estimate.isStarting).toBe(true)
    })

    test('has no more in flight after a silence whose pongs come together: they have waited behind the peer\'s bulk', () => {
      waitBehindPeer(100)
      const { bytes } = estimate.bound

      expect(catchUp({ inFlightBytes: 2 * bytes, restBytes: 1.5 * bytes })).toBe(bytes)
    })

    test('is not measured as a part of the path', () => {
      waitBehindPeer(2000)
      settle(100, 200)

      expect(estimate.isProbing).toBe(false)
      expect(estimate.learned.own.ms).toBe(50)
    })
  })

  test('is none for four seconds more: it may go on again', () => {
    settle(1000, 50)
    waitBehindPeer(3000)
    settle(1000, 50, 3950)
    expect(estimate.bound.bytes).toBeGreaterThanOrEqual(1.25 * 1000 * 1600)

    settle(1000, 50, 100)
    expect(estimate.bound.bytes).toBeCloseTo(STEADY_BYTES)
  })

  test('is none where the peer sends for half a second in each second, also in between', () => {
    settle(1000, 50)

    for (let second = 0; second < 6; second++) {
      waitBehindPeer(500)
      settle(1000, 50, 500)
    }

    expect(estimate.bound.bytes).toBeGreaterThanOrEqual(1.25 * 1000 * 1600)
  })

  test('is one where the peer sends in a fifth of the time', () => {
    settle(1000, 50)

    for (let second = 0; second < 100; second++) {
      waitBehindPeer(200)
      expect(estimate.bound.bytes).toBeLessThan(250_000)
      settle(1000, 50, 800)
    }
  })

  test('is one while it takes no longer than what we let in explains, however much the peer sends meanwhile', () => {
    settle(1000, 50)

    for (let round = 0; round < 60; round++) {
      // nothing waits at the peer: what may be in flight is
      const { bytes } = estimate.bound
      sample(1000, bytes / 1000, { receivedBytes: 0.4 * bytes })
    }

    expect(estimate.bound.bytes).toBeLessThan(1.25 * STEADY_BYTES)
  })

  test('is one behind a pause in which no mark tells what the peer does', () => {
    settle(1000, 50)
    waitBehindPeer(1900)
    nowMs += 60_000
    waitBehindPeer(300)

    expect(estimate.bound.bytes).toBeLessThan(250_000)
  })

  test('tells nothing new when the peer sends next to nothing', () => {
    settle(1000, 50)
    waitBehindPeer(3000, 16_383)

    expect(estimate.bound.bytes).toBeLessThan(250_000)
  })

  test('tells nothing new when the peer writes marks: it bounds its data', () => {
    settle(1000, 50)

    for (let round = 0; round < 30; round++) {
      estimate.peersDelay.onPing(FIRST_MARK_VALUE + nowMs * UNITS_PER_MS, nowMs)
      waitBehindPeer(100)
    }

    expect(estimate.bound.bytes).toBeLessThan(250_000)
  })

  test('tells in the first round trips how much the path may carry: what the peer has sent meanwhile', () => {
    estimate.onRoundTrip(50, 0, nowMs)
    sample(40, 1600, { receivedBytes: 1_500_000 })
    sample(40, 1600, { receivedBytes: 1_500_000 })

    expect(estimate.bound.bytes).toBe(1_500_000)
  })
})
