// Connections of one node that send all they can over one link: each takes its part, and what waits in front of the link stays short.
import { describe, expect, test } from 'vitest'
import { Path } from './fixtures/path.ts'
import { NodePaths } from '../../src/path/node-paths.ts'
import type { PathInit, PathStep } from './fixtures/path.ts'

const QUEUE_MS = 10
/** Between two marks */
const MARK_MS = 5
/** One at a time may try whether more in flight makes it faster */
const TRIED_PART = 1.15
/** Of each connection: what may have arrived since its last mark, two writes and what the mark waits for */
const UNMARKED_BYTES = 32_768

interface Measured {
  /** Of what the link carries, together and of the connection that gets the least */
  part: number
  leastPart: number
  longestWaitMs: number
}

/** Connections of one node over one link; each always has more to send from its start on, and is dialled then or before any sends */
class SharedLink {
  readonly #paths: Path[]

  constructor (steps: PathStep[], [firstMs, ...startsMs]: number[], isDialledLate = false) {
    const init = { steps, nodePaths: new NodePaths(), bufferBytes: Infinity }
    const first = new Path({ ...init, startMs: firstMs })
    this.#paths = [first]

    for (const startMs of startsMs) {
      const connect = (afterMs: number): void => { this.#paths.push(new Path({ ...init, beside: first, startMs: afterMs })) }

      if (isDialledLate) {
        first.at(startMs, () => { connect(0) })
      } else {
        connect(startMs)
      }
    }
  }

  runUntil (untilMs: number): void {
    this.#paths[0].runUntil(untilMs)
  }

  measure (forMs: number): Measured {
    const [first] = this.#paths
    const before = this.#paths.map(({ deliveredBytes }) => deliveredBytes)
    const { mostQueuedBytes } = first.measure(forMs)
    const parts = this.#paths.map(({ deliveredBytes }, i) => (deliveredBytes - (before[i] ?? 0)) / (forMs * first.rateBytesPerMs))

    return { part: parts.reduce((sum, part) => sum + part), leastPart: Math.min(...parts), longestWaitMs: mostQueuedBytes / first.rateBytesPerMs }
  }
}

describe.each([[20, 1], [20, 20], [10, 40], [100, 20]])('a link of %d Mbit/s and a round trip of %d ms', (mbit, roundTripMs) => {
  const rateBytesPerMs = mbit * 125

  test.each([
    [1, 0], [2, 300], [3, 300], [3, 3000], [6, 300], [6, 0], [20, 300]
  ])('that %d connections share, each beginning %d ms behind the one before, is full, its queue is as short as the bounds of all of them allow, and each has its part', (connections, everyMs) => {
    const link = new SharedLink([{ atMs: 0, rateBytesPerMs, roundTripMs }], Array.from({ length: connections }, (_, i) => 100 + everyMs * i))
    link.runUntil(20_000 + connections * everyMs)
    const { part, longestWaitMs, leastPart } = link.measure(10_000)

    expect(part).toBeGreaterThan(0.98)
    expect(longestWaitMs).toBeLessThan(TRIED_PART * (1.25 * roundTripMs + QUEUE_MS + MARK_MS + connections * UNMARKED_BYTES / rateBytesPerMs))
    expect(leastPart).toBeGreaterThan(0.3 / connections)
  })
})

test.each([
  [5, 4, 1000, 2000], [10, 8, 1000, 2000], [20, 8, 1000, 2000], [10, 6, 5000, 1000], [20, 20, 1000, 3000]
])('a link of %d Mbit/s that is full when each of %d connections is dialled, %d ms apart, has no queue of %d ms, and a short one in the end', (mbit, connections, everyMs, mostMs) => {
  const rateBytesPerMs = mbit * 125
  const roundTripMs = 50
  const link = new SharedLink([{ atMs: 0, rateBytesPerMs, roundTripMs }], Array.from({ length: connections }, (_, i) => everyMs * i), true)

  expect(link.measure(100_000).longestWaitMs).toBeLessThan(mostMs)
  const { part, longestWaitMs, leastPart } = link.measure(10_000)
  expect(part).toBeGreaterThan(0.98)
  expect(longestWaitMs).toBeLessThan(TRIED_PART * (1.25 * roundTripMs + QUEUE_MS + MARK_MS + connections * UNMARKED_BYTES / rateBytesPerMs))
  expect(leastPart).toBeGreaterThan(0.3 / connections)
})

test.each([[1, 0.95], [2, 0.95], [3, 0.95], [6, 0.8]])('a link of 10 Mbit/s whose round trip becomes 120 ms instead of 20 while %d connections share it is at %d of it after half a minute', (connections, part) => {
  const step = { atMs: 0, rateBytesPerMs: 1250, roundTripMs: 20 }
  const link = new SharedLink([step, { ...step, atMs: 10_000, roundTripMs: 120 }], Array.from({ length: connections }, (_, i) => 100 + 300 * i))
  link.runUntil(40_000)

  expect(link.measure(10_000).part).toBeGreaterThan(part)
})

test.each([[1250, 20, 80], [1250, 20, 150], [12_500, 2, 50]])('a path of %d kB/s that becomes %d to %d ms long is found to be so beside a connection that has a link of its own', (rateBytesPerMs, roundTripMs, longerMs) => {
  const nodePaths = new NodePaths()
  const path = new Path({ nodePaths, startMs: 100, steps: [{ atMs: 0, rateBytesPerMs, roundTripMs }, { atMs: 5000, rateBytesPerMs, roundTripMs: longerMs }] })
  const other = new Path({ nodePaths, startMs: 100, steps: [{ atMs: 0, rateBytesPerMs: 12_500, roundTripMs: 5 }] })

  for (let untilMs = 1; untilMs <= 30_000; untilMs++) {
    path.runUntil(untilMs)
    other.runUntil(untilMs)
  }

  expect(path.measure(3000).part).toBeGreaterThan(0.95)
})

describe('a peer that answers pings, and none of the marks behind data', () => {
  const step = { atMs: 0, rateBytesPerMs: 1250, roundTripMs: 20 }

  /** What the path carries of its rate, from 10 to 50 s, beside so many such peers: a new one every two seconds */
  function partBesideMute (init: PathInit, mutes: number): number {
    const nodePaths = new NodePaths()
    const path = new Path({ nodePaths, startMs: 100, ...init })
    const others = Array.from({ length: mutes }, (_, i) => new Path({ nodePaths, startMs: 100 + 2000 * i, steps: [step], droppedPart: 1, application: { bytes: 4096, everyMs: 20 } }))

    for (let untilMs = 1; untilMs <= 50_000; untilMs++) {
      path.runUntil(untilMs)
      others.forEach(mute => { mute.runUntil(untilMs) })
    }

    return path.measure(10_000).part
  }

  test.each<[string, PathInit]>([
    ['a peer that works 250 ms in each turn', { steps: [{ ...step, rateBytesPerMs: 12_500 }], clumpMs: 250 }],
    ['a path that becomes three times as long', { steps: [step, { ...step, atMs: 10_000, roundTripMs: 60 }] }],
    ['a path that becomes ten times as long', { steps: [{ ...step, rateBytesPerMs: 12_500, roundTripMs: 30 }, { atMs: 10_000, rateBytesPerMs: 12_500, roundTripMs: 300 }] }]
  ])('takes nothing from %s', (_, init) => {
    expect(partBesideMute(init, 30)).toBeGreaterThan(0.98 * partBesideMute(init, 0))
  })
})
