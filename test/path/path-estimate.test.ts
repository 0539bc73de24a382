// How many bytes may be in flight, from what marks have shown.
import { beforeEach, describe, expect, test } from 'vitest'
import { NodePaths } from '../../src/path/node-paths.ts'
import { FIRST_BYTES, PathEstimate } from '../../src/path/path-estimate.ts'
import { MIN_WRITE_BYTES } from '../../src/core/path-control.ts'
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
    receivedBytes: 0,
    latestBytesPerMs: 0,
    isAppLimited: false,
    wasHeld: true,
    isNewRoundTrip: true,
    ...init
  })
}

/** The same for so long, at first until both halves of the time that a rate counts have seen it */
function settle (bytesPerMs: number, roundTripMs: number, forMs = Math.max(1000, 20 * roundTripMs)): void {
  const untilMs = nowMs + forMs

  while (nowMs < untilMs) {
    sample(bytesPerMs, roundTripMs)
  }
}

/** Behind 100 ms without a pong all that was in flight has come back at once; returns the bound */
function catchUp (init: Partial<CatchUp> = {}): number {
  estimate.onCatchUp({ nowMs, arrivedPositionBytes, untilBytes: arrivedPositionBytes, silentMs: 100, endedMs: nowMs, inFlightBytes: 80_000, restBytes: 60_000, restMs: 0, hasLost: false, ...init })

  return estimate.bound.bytes
}

function createEstimate (nodePaths = new NodePaths()): PathEstimate {
  nowMs = 0
  arrivedPositionBytes = 0

  return new PathEstimate(QUEUE_MS, WRITE_BYTES, nodePaths)
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

  test('is kept while a silence counts that was longer than what it is measured in', () => {
    settle(1000, 50)
    catchUp({ silentMs: 1000 })
    settle(500, 50, 1000)

    expect(estimate.bytesPerMs).toBe(1000)
  })
})

describe('the bound', () => {
  test('is 64 KiB before anything is known, of which a write is a quarter, and half a write may go beyond it', () => {
    expect(estimate.bound.bytes).toBe(65_536)
    expect(estimate.bound.writeBytes).toBe(16_384)
    expect(estimate.bound.holdsFromBytes).toBe(57_344)
  })

  test('is none after a transport that said "wait" before anything was measured, and stays when it says so later', () => {
    estimate.onTransportFull(30_000)
    expect(estimate.bound.bytes).toBe(Infinity)
    expect(estimate.bound.writeBytes).toBe(WRITE_BYTES)

    settle(1000, 50)
    estimate.onTransportFull(30_000)
    expect(estimate.bound.bytes).toBe(STEADY_BYTES)
  })

  test('is what the path carries in a round trip and a quarter and in the time that it may wait, an eighth for what marks have not shown, and a write', () => {
    settle(1000, 50)

    // 72.5 ms are 72,500 bytes, their eighth 9062.5, a write 4096
    expect(estimate.bound.bytes).toBe(72_500 + 9062.5 + 4096)
    expect(estimate.bound.bytes).toBe(STEADY_BYTES)
    // less half of a write of 10,707
    expect(estimate.bound.holdsFromBytes).toBe(80_305)
  })

  test('has room for 4 KiB that marks have not shown on a slow path', () => {
    settle(100, 50)

    // 72.5 ms are 7250 bytes
    expect(estimate.bound.bytes).toBe(7250 + 4096 + 4096)
  })

  test('has room for what 5 ms bring that marks have not shown on a short path', () => {
    settle(5000, 2)

    // 12.5 ms are 62,500 bytes, 5 ms 25,000
    expect(estimate.bound.bytes).toBe(62_500 + 25_000 + 4096)
  })

  test('is more than twice as much during start-up, and 64 KiB at least', () => {
    sample(1000, 50)
    // 2.89 round trips are 144.5 ms, and may wait for 10
    expect(estimate.bound.bytes).toBe(154_500)

    estimate = createEstimate()
    sample(10, 50)
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

  test('is no more for that where the peer has data in flight itself', () => {
    sample(1000, 50)
    estimate.peer.fullMs = nowMs
    sample(1000, 50)
    const boundBytes = estimate.bound.bytes
    sample(1000, 50, { latestBytesPerMs: 2000 })

    expect(estimate.bound.bytes).toBe(boundBytes)
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

    for (let round = 0; round < 300; round++) {
      sample(2500, 2.1, { inFlightBytes: 80_000, isNewRoundTrip: false })
    }

    expect(estimate.bound.bytes).toBe(2 * MIN_WRITE_BYTES)
    sample(2500, 5, { inFlightBytes: 2 * (MIN_WRITE_BYTES + 12) })
    expect(estimate.bound.bytes).toBeGreaterThan(2500 * QUEUE_MS)
  })
})

describe('a second probe because the rate has fallen', () => {
  beforeEach(() => {
    settle(5000, 2)
  })

  function fall (): void {
    settle(5000, 2)

    while (!estimate.isProbing && nowMs < 60_000) {
      sample(2500, 20, { inFlightBytes: 80_000, isNewRoundTrip: false })
    }
  }

  function find (roundTripMs: number, afterMs = 100): void {
    sample(2500, roundTripMs, { inFlightBytes: 4096, intervalMs: afterMs })
    expect(estimate.isProbing).toBe(false)
  }

  /** From one that finds this to the next */
  function pauseBehind (roundTripMs: number, probeMs?: number): number {
    fall()
    find(roundTripMs, probeMs)
    const endedMs = nowMs
    fall()

    return nowMs - endedMs
  }

  test('waits for 30 times as long as that took if it found the path no longer than what may be in flight lasts', () => {
    const pauseMs = pauseBehind(12)

    expect(pauseMs).toBeGreaterThanOrEqual(3000)
    expect(pauseMs).toBeLessThan(3020)
  })

  test('waits for six seconds at most: a long one has waited for an old queue, and the path may become longer meanwhile', () => {
    const pauseMs = pauseBehind(12, 3000)

    expect(pauseMs).toBeGreaterThanOrEqual(6000)
    expect(pauseMs).toBeLessThan(6100)
  })

  test('waits for nothing if it found it longer', () => {
    expect(pauseBehind(40)).toBeLessThan(2500)
  })

  test('waits for nothing while marks of the node\'s other connections wait', () => {
    const nodePaths = new NodePaths()
    const other = createEstimate(nodePaths)
    estimate = other
    settle(1000, 50)
    other.queueMs = 100
    estimate = createEstimate(nodePaths)
    settle(5000, 2)
    fall()
    find(2)
    const endedMs = nowMs
    settle(5000, 2)

    while (!estimate.isProbing) {
      other.sampledMs = nowMs
      sample(2500, 20, { inFlightBytes: 80_000, isNewRoundTrip: false })
    }

    expect(nowMs - endedMs).toBeLessThan(2500)
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

  test.each([[25, 4], [37.5, 6], [50, 8], [150, 8]])('of %d ms during start-up %d times as much is tried', (silentMs, times) => {
    sample(1000, 50)

    expect(catchUp({ silentMs, inFlightBytes: 60_000 })).toBe(60_000 * times)
  })

  test.each([[30, 178_158.5], [30.1, STEADY_BYTES]])('and 60,000 bytes of it took %d ms, where the path takes 60, the bound is %d', (restMs, boundBytes) => {
    settle(1000, 50)

    expect(catchUp({ restMs })).toBe(boundBytes)
  })

  test('a silence is forgiven that was a hundredth of the time since the last', () => {
    settle(1000, 50)
    catchUp()
    settle(1000, 50, 20_000)

    expect(catchUp({ silentMs: 200 })).toBe(STEADY_BYTES)
    expect(catchUp({ silentMs: 1 })).toBe(160_000)
  })

  test('nothing is held back any more if the peer answers few marks and the silence was longer than 100 ms, until it answers more', () => {
    settle(1000, 50)
    estimate.rarelyAnswers = true
    expect(catchUp({ silentMs: 100 })).toBeLessThan(Infinity)
    expect(catchUp({ silentMs: 101 })).toBe(Infinity)
    sample(1000, 50)
    expect(estimate.bound.bytes).toBe(Infinity)

    estimate.rarelyAnswers = false
    sample(1000, 50)
    expect(estimate.bound.bytes).toBeLessThan(200_000)
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
    for (let round = 0; round < 10; round++) {
      sample(500, 150, { isNewRoundTrip: false })
    }

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
    expect(estimate.roundTripMs).toBeCloseTo(70 - 8.192)
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
      expect([estimate.isProbing, estimate.roundTripMs]).toEqual([false, 50])

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
      expect(estimate.roundTripMs).toBeCloseTo(150 - 8.192)
    })
  })
})

test('a path that seems to be longer is found to be so a minute later at most, whatever others say', () => {
  const postponing: Partial<NodePaths> = { note: () => {}, mayEmptyLink: () => false, sharedBytesPerMs: () => 0, shareOf: () => undefined, othersQueueMs: () => 0, requestEmptyLink: () => 'postponed' }
  estimate = createEstimate(postponing as NodePaths)
  settle(1000, 50)

  for (let round = 0; round < 10; round++) {
    sample(500, 150, { isNewRoundTrip: false })
  }

  sample(500, 150, { inFlightBytes: 4096 })
  const postponedMs = nowMs

  while (nowMs + 150 < postponedMs + 60_000) {
    sample(500, 150)
  }

  expect([estimate.isProbing, estimate.roundTripMs]).toEqual([false, 50])
  sample(500, 150)
  sample(500, 150, { inFlightBytes: 4096 })
  expect(estimate.roundTripMs).toBeGreaterThan(140)
})

describe('a fast path', () => {
  test('carries what a kernel takes, 4 MiB, in 20 ms: nothing is held back, writes are whole, and marks rare', () => {
    // 209,715.2 bytes a millisecond
    sample(209_715, 2)
    expect([estimate.fast.isFast, estimate.fast.markIntervalMs]).toEqual([false, 5])

    sample(209_716, 2)
    expect([estimate.fast.isFast, estimate.fast.markIntervalMs]).toEqual([true, 100])
    expect([estimate.bound.bytes, estimate.bound.holdsFromBytes]).toEqual([Infinity, Infinity])
    expect(estimate.bound.writeBytes).toBe(WRITE_BYTES)
  })

  test('is one until its rate has fallen below half of that', () => {
    settle(300_000, 2)
    settle(104_858, 2)
    expect(estimate.fast.isFast).toBe(true)

    settle(104_857, 2)
    expect(estimate.fast.isFast).toBe(false)
    expect(estimate.bound.bytes).toBeLessThan(Infinity)
  })

  test('is one from a lower rate on if the transport said "wait" when less was in flight', () => {
    settle(10_000, 2)
    estimate.onTransportFull(200_000)
    expect(estimate.fast.isFast).toBe(false)
    sample(9999, 2)
    expect(estimate.fast.isFast).toBe(true)

    estimate = createEstimate()
    settle(9999, 2)
    estimate.onTransportFull(200_000)
    sample(9999, 2)
    expect(estimate.fast.isFast).toBe(false)
  })

  test('is none any more when a mark has waited for longer than what the transport took when it said "wait": it takes more now', () => {
    settle(10_000, 2)
    estimate.onTransportFull(200_000)
    sample(10_000, 2)
    sample(10_000, 42)
    expect(estimate.fast.isFast).toBe(true)

    sample(10_000, 42.1)
    expect(estimate.fast.isFast).toBe(false)

    settle(300_000, 2)
    sample(300_000, 500)
    expect(estimate.fast.isFast).toBe(true)
  })

  test('is no other because of a transport that says "wait" when nothing is held back', () => {
    settle(300_000, 2)
    estimate.onTransportFull(100_000_000)
    sample(300_000, 2)

    expect(estimate.fast.isFast).toBe(true)
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
    settle(20, 50)
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
    expect(estimate.roundTripMs).toBe(350)

    sample(1000, 50)
    expect(estimate.roundTripMs).toBe(50)

    sample(1000, 30)
    expect(estimate.roundTripMs).toBe(45)
  })

  test('is the first where the second has waited longer, and a quarter less than that behind a third', () => {
    sample(1000, 50)
    sample(1000, 90)
    expect(estimate.roundTripMs).toBe(50)

    sample(1000, 30)
    expect(estimate.roundTripMs).toBe(45)
  })

  test('is not that of marks that waited in a queue', () => {
    settle(1000, 50)
    sample(1000, 400)

    expect(estimate.roundTripMs).toBe(50)
    expect(estimate.queueMs).toBe(350)
  })

  test('is that of an ordinary ping too, if it is shorter', () => {
    estimate.onRoundTrip(40, 0, 0)
    estimate.onRoundTrip(400, 0, 0)

    expect(estimate.roundTripMs).toBe(40)
  })

  test('is longer when the rate has fallen and a mark that found the path empty took longer', () => {
    settle(5000, 50)

    for (let round = 0; round < 20; round++) {
      sample(1250, 200, { inFlightBytes: 340_000, isNewRoundTrip: false })
    }

    sample(1250, 200, { inFlightBytes: 40_000 })
    expect(estimate.roundTripMs).toBeCloseTo(200 - 2 * MIN_WRITE_BYTES / 5000)
  })
})

describe('the round trip behind the queue of a peer that bounds it too', () => {
  /** The rate has fallen from 1250 to 300, and marks take 400 ms instead of one; the peer has sent its last mark so long before the last of these */
  function measureBehind (peerSilentMs: number): number | undefined {
    settle(1250, 1)

    for (let round = 0; round < 20; round++) {
      sample(300, 400, { inFlightBytes: 340_000, isNewRoundTrip: false })
    }

    estimate.peer.fullMs = nowMs + 400 - peerSilentMs
    sample(300, 400, { inFlightBytes: 4000 })

    return estimate.roundTripMs
  }

  test('is not taken for a longer path, beyond what the peer may have in flight', () => {
    // 2.25 times the shortest round trip, 10 ms, and two writes of 4096 bytes
    expect(measureBehind(1999)).toBeCloseTo(2.25 + 10 + 8192 / 300)
  })

  test('is taken for one when the peer has sent no mark for two seconds', () => {
    // less what two writes of 4096 bytes took at 1250
    expect(measureBehind(2000)).toBeCloseTo(400 - 8192 / 1250)
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

  test.each([
    ['the peer sends next to nothing', 16_383, -Infinity],
    ['the peer bounds its data too, and waits for ours', 2_000_000, 0]
  ])('tells nothing new when %s', (_, receivedBytes, peerMarkedMs) => {
    settle(1000, 50)
    estimate.peer.fullMs = nowMs + peerMarkedMs
    waitBehindPeer(1000, receivedBytes)

    expect(estimate.bound.bytes).toBeLessThan(250_000)
  })

  test('tells in the first round trips how much the path may carry: what the peer has sent meanwhile', () => {
    estimate.onRoundTrip(50, 0, nowMs)
    sample(40, 1600, { receivedBytes: 1_500_000 })
    sample(40, 1600, { receivedBytes: 1_500_000 })

    expect(estimate.bound.bytes).toBe(1_500_000)
  })
})
