// The bound on bytes in flight, on paths on which an earlier version lost rate or made a queue.
import { quantile } from 'simple-statistics'
import { describe, expect, test } from 'vitest'
import { judge } from './paths/judge.ts'
import { drawPlan } from './paths/plan.ts'
import { run } from './paths/run.ts'
import type { Answering, ConnectionPlan, Plan } from './paths/plan.ts'

// What was allowed followed the rate down, as between pongs that are far apart nobody knows what has arrived: 0.03 to 0.32 of it was left.
// Which pongs are lost, and when programs work, moves each figure by a third, so the median of nine draws counts.
test.each([
  [506, 0.2], [110, 0.5], [134, 0.6], [79, 0.6], [424, 0.55], [42, 0.6], [439, 0.4]
])('path %d carries %d of what it does without the bound on each of its links', (seed, part) => {
  const plan = drawPlan(seed)
  const least = Array.from({ length: 9 }, (_, index) => {
    const shifted = plan.connections.map(connection => ({ ...connection, startMs: connection.startMs + 5 * index }))

    return Math.min(...judge({ ...plan, seed: seed + 5000 * index, connections: shifted }).map(({ goodput }) => goodput))
  })

  expect(quantile(least, 0.5)).toBeGreaterThan(part)
})

/** A connection with bulk, over a path that is the same all the time and a kernel that takes 2 MB */
function onePath (rateBytesPerMs: number, roundTripMs: number, connection: Partial<ConnectionPlan> = {}): Plan {
  return {
    seed: 1,
    durationMs: 30_000,
    settledMs: 5000,
    turns: { meanMs: 0, busyPart: 1 },
    links: [{ steps: [{ atMs: 0, rateBytesPerMs, delayMs: roundTripMs / 2 }], jitterMs: 0 }],
    connections: [{
      link: 0,
      buffers: { sendBytes: 2_500_000, receiveBytes: 3_000_000 },
      peerTurns: { meanMs: 0, busyPart: 1 },
      answering: { kind: 'all' },
      work: { kind: 'bulk' },
      startMs: 500,
      isTwoWay: false,
      ...connection
    }],
    urgentEveryMs: 200,
    msPerMegabyte: 2.5
  }
}

// each end's queue is the other's delay, which raised the bound: the 99 % were 0.7 s
test('a stall of two seconds while bulk goes both ways leaves no queue twenty seconds later', () => {
  const plan = onePath(1250, 40, { isTwoWay: true })
  const [{ rateBytesPerMs, delayMs }] = plan.links[0].steps
  const steps = [[0, rateBytesPerMs], [10_000, 0.001], [12_000, rateBytesPerMs]].map(([atMs, rate]) => ({ atMs, rateBytesPerMs: rate, delayMs }))
  const [{ urgentP99Ms }] = run({ ...plan, durationMs: 50_000, settledMs: 32_000, links: [{ steps, jitterMs: 0 }] }, { maxQueueDelayMs: 10 })

  expect(urgentP99Ms).toBeLessThan(150)
})

// its pongs wait behind its own data for seconds: 0.006 of the rate was left at 10 Mbit/s when that was taken for a queue of this side
test.each([
  [10, 10, 0.9],
  [5, 50, 0.9],
  [2, 100, 0.75],
  [50, 30, 0.9]
])('bulk to a peer that sends bulk as well and bounds nothing, at %d Mbit/s and %d ms, carries %d of what it does without the bound', (mbit, roundTripMs, part) => {
  const plan = onePath(125 * mbit, roundTripMs, { isTwoWay: true, isPeerUnbounded: true })
  const [bounded] = run(plan, { maxQueueDelayMs: 10 })
  const [unbounded] = run(plan, { maxQueueDelayMs: Infinity })

  expect(bounded.sentBytes / unbounded.sentBytes).toBeGreaterThanOrEqual(part)
})

// each end took the other's queue for its own: 0.82 to 0.93, and up to 556 ms
test.each([
  [10, 40, 0, 0.97, 100],
  [50, 30, 0, 0.97, 100],
  [2, 100, 0, 0.97, 300],
  [10, 40, 10, 0.97, 150]
])('bulk both ways to a peer with this muxer, at %d Mbit/s and %d ms, with programs that work %d ms in each turn, carries %d of what it does without the bound, and urgent messages take less than %d ms', (mbit, roundTripMs, turnMs, part, mostMs) => {
  const turns = { meanMs: turnMs, busyPart: 1 }
  const plan = { ...onePath(125 * mbit, roundTripMs, { isTwoWay: true, peerTurns: turns }), turns }
  const [bounded] = run(plan, { maxQueueDelayMs: 10 })
  const [unbounded] = run(plan, { maxQueueDelayMs: Infinity })

  expect(bounded.deliveredBytes / unbounded.deliveredBytes).toBeGreaterThanOrEqual(part)
  expect(bounded.urgentP99Ms).toBeLessThan(mostMs)
})

describe.each([
  // what came in a round trip was taken for a queue at the peer, although this side's own queue was most of that round trip: 1.6 s and 8 s, for good
  ['bounds nothing', true],
  // each peer that sent marks was taken for one that sends bulk: 136, 529 and 192 ms
  ['has this muxer', false]
])('urgent messages beside bulk to a peer that %s and sends a little,', (_, isPeerUnbounded) => {
  test.each([
    [10, 40, 400, 80],
    [10, 200, 100, 250],
    [2, 40, 200, 150]
  ])('at %d Mbit/s and %d ms %d bytes a ms, take less than %d ms', (mbit, roundTripMs, bytesPerMs, mostMs) => {
    const peersWork = { kind: 'bursts', byteLength: 10 * bytesPerMs, everyMs: 10 } as const
    const plan = { ...onePath(125 * mbit, roundTripMs, { isTwoWay: true, isPeerUnbounded, peersWork }), settledMs: 15_000 }
    const [{ urgentP99Ms }] = run(plan, { maxQueueDelayMs: 10 })

    expect(urgentP99Ms).toBeLessThan(mostMs)
  })
})

// the first pong of each answer, which comes a round trip later, was taken for a gap between pongs: the bound grew to the answer's size and stayed,
// so messages waited as without a bound, 252, 124, 225, 465 and 186 ms
test.each([
  [2, 40, 64, 130, 0.95],
  [10, 40, 128, 100, 0.98],
  [10, 40, 256, 100, 0.98],
  [10, 100, 512, 220, 0.98],
  [50, 40, 1024, 100, 0.98]
])('urgent messages beside answers at %d Mbit/s and %d ms, of %d KiB, one at a time, take less than %d ms, and answers carry %d of what they do without the bound', (mbit, roundTripMs, kibibytes, mostMs, part) => {
  const work = { kind: 'requests', atOnce: 1, answerBytes: 1024 * kibibytes } as const
  const plan = { ...onePath(125 * mbit, roundTripMs, { work }), urgentEveryMs: 20, settledMs: 10_000 }
  const [bounded] = run(plan, { maxQueueDelayMs: 10 })
  const [unbounded] = run(plan, { maxQueueDelayMs: Infinity })

  expect(bounded.urgentP99Ms).toBeLessThan(mostMs)
  expect(bounded.sentBytes / unbounded.sentBytes).toBeGreaterThan(part)
})

// taken for a peer that bounds nothing, a burst made a queue here, which was taken for the peer's: 12 s at 0.5 Mbit/s
test.each([
  [0.5, 40, 0.8, 80, 250],
  [0.5, 40, 0.3, 80, 250],
  [6.4, 10, 0.6, 80, 200],
  [10, 10, 0.4, 40, 100]
])('urgent messages beside bulk at %d Mbit/s and %d ms to a peer with this muxer that sends %d of its link, each %d ms, take less than %d ms', (mbit, roundTripMs, part, everyMs, mostMs) => {
  const peersWork = { kind: 'bursts', byteLength: 125 * mbit * part * everyMs, everyMs } as const
  const plan = { ...onePath(125 * mbit, roundTripMs, { isTwoWay: true, peersWork }), settledMs: 15_000 }
  const [{ urgentP99Ms }] = run(plan, { maxQueueDelayMs: 10 })

  expect(urgentP99Ms).toBeLessThan(mostMs)
})

// no mark says that bursts of hundreds of milliseconds fill the path: without what late pongs say 0.08 of the rate would be left
test.each([
  [20, 80, 0.7, 300, 0.7],
  [4, 30, 0.6, 500, 0.5]
])('bulk at %d Mbit/s and %d ms to a peer with this muxer that sends %d of its link, each %d ms, carries %d of what it does without the bound', (mbit, roundTripMs, part, everyMs, least) => {
  const peersWork = { kind: 'bursts', byteLength: 125 * mbit * part * everyMs, everyMs } as const
  const plan = { ...onePath(125 * mbit, roundTripMs, { isTwoWay: true, peersWork }), settledMs: 10_000 }
  const [bounded] = run(plan, { maxQueueDelayMs: 10 })
  const [unbounded] = run(plan, { maxQueueDelayMs: Infinity })

  expect(bounded.sentBytes / unbounded.sentBytes).toBeGreaterThan(least)
})

// held back in each burst until pongs came, 0.5 of the rate was left for good
test.each([
  [10, 1_250_000, 2000],
  [10, 600_000, 1000],
  [50, 3_000_000, 1000]
])('bulk to a peer that bounds nothing, at %d Mbit/s, and sends %d bytes each %d ms, carries 0.95 of what it does without the bound behind the first bursts', (mbit, byteLength, everyMs) => {
  const peersWork = { kind: 'bursts', byteLength, everyMs } as const
  const plan = { ...onePath(125 * mbit, 30, { isTwoWay: true, isPeerUnbounded: true, peersWork }), settledMs: 10_000 }
  const [bounded] = run(plan, { maxQueueDelayMs: 10 })
  const [unbounded] = run(plan, { maxQueueDelayMs: Infinity })

  expect(bounded.sentBytes / unbounded.sentBytes).toBeGreaterThanOrEqual(0.95)
})

/** What each of several connections with bulk over one link carries, beside an equal share */
function sharesOf (rateBytesPerMs: number, connections: Array<Partial<ConnectionPlan>>): number[] {
  const plan = onePath(rateBytesPerMs, 10)
  const [{ sentBytes, sentBytesOfEach }] = run({ ...plan, settledMs: 10_000, connections: connections.map(each => ({ ...plan.connections[0], ...each })) }, { maxQueueDelayMs: 10 })

  return sentBytesOfEach.map(bytes => bytes * connections.length / sentBytes)
}

describe('of connections that share a link', () => {
  // 0.10, 0.17, 0.21 and 0.14
  test.each([
    [50, [5, 100]],
    [10, [5, 100]],
    [50, [10, 20, 30]],
    [20, [5, 10, 20, 50, 100]]
  ])('at %d Mbit/s none is crowded out by those whose peers are farther away: %j ms', (mbit, furtherMs) => {
    expect(Math.min(...sharesOf(125 * mbit, furtherMs.map(ms => ({ furtherMs: ms }))))).toBeGreaterThan(0.5)
  })

  // 0.08
  test('none is crowded out by one whose peer works 150 ms in each turn', () => {
    expect(Math.min(...sharesOf(2500, [{}, {}, { peerTurns: { meanMs: 150, busyPart: 1 } }]))).toBeGreaterThan(0.25)
  })

  // 0.23 and 0.07
  test.each([
    ['500 ms late', { kind: 'late', part: 1, minMs: 500, maxMs: 500 }, 0.3],
    ['in clumps, 300 ms apart', { kind: 'clumps', everyMs: 300 }, 0.2]
  ] satisfies Array<[string, Answering, number]>)('none is crowded out by one whose peer answers %s', (_, answering, part) => {
    expect(sharesOf(2500, [{}, { answering }])[0]).toBeGreaterThan(part)
  })
})

test.each([10, 50, 100])('an urgent message 100 ms behind the first bulk of a connection, at 2 Mbit/s and %d ms, waits 350 ms at most', roundTripMs => {
  const startMs = 500
  // as long as it may take, and no other is due to arrive sooner
  const [{ urgentP99Ms }] = run({ ...onePath(250, roundTripMs, { startMs }), durationMs: startMs + 460, settledMs: 0 }, { maxQueueDelayMs: 10 })

  expect(urgentP99Ms).toBeLessThanOrEqual(350)
})
