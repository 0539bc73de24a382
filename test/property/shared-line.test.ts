// Connections of one node that send all they can over one line: each takes its part, and what waits in front of the line stays short.
import { describe, expect, test } from 'vitest'
import { Path } from './fixtures/path.ts'
import { SharedLine } from './fixtures/shared-line.ts'
import { NodePaths } from '../../src/core/path/node-paths.ts'

const QUEUE_MS = 10
/** Between two marks */
const MARK_MS = 5
/** One at a time may try whether more under way makes it faster */
const TRIED_PART = 1.15
/** Of each connection: what may have arrived since its last mark, two writes and what the mark waits for */
const UNMARKED_BYTES = 32_768

describe.each([[20, 1], [20, 20], [10, 40], [100, 20]])('a line of %d Mbit/s and a round trip of %d ms', (mbit, roundTripMs) => {
  const rateBytesPerMs = mbit * 125

  test.each([
    [1, 0], [2, 300], [3, 300], [3, 3000], [6, 300], [6, 0], [20, 300]
  ])('that %d connections share, each beginning %d ms behind the one before, is full, its queue is as short as the bounds of all of them allow, and each has its part', (connections, everyMs) => {
    const line = new SharedLine({ rateBytesPerMs, roundTripMs, startsMs: Array.from({ length: connections }, (_, i) => 100 + everyMs * i) })
    line.runUntil(20_000 + connections * everyMs)
    const { part, longestWaitMs, leastPart } = line.measure(10_000)

    expect(part).toBeGreaterThan(0.98)
    expect(longestWaitMs).toBeLessThan(TRIED_PART * (1.25 * roundTripMs + QUEUE_MS + MARK_MS + connections * UNMARKED_BYTES / rateBytesPerMs))
    expect(leastPart).toBeGreaterThan(0.3 / connections)
  })
})

test.each([[1, 0.95], [2, 0.95], [3, 0.95], [6, 0.8]])('a line of 10 Mbit/s whose round trip becomes 120 ms instead of 20 while %d connections share it is at %d of it after half a minute', (connections, part) => {
  const line = new SharedLine({
    rateBytesPerMs: 1250,
    roundTripMs: 20,
    laterRoundTrip: { fromMs: 10_000, roundTripMs: 120 },
    startsMs: Array.from({ length: connections }, (_, i) => 100 + 300 * i)
  })
  line.runUntil(40_000)

  expect(line.measure(10_000).part).toBeGreaterThan(part)
})

test.each([[1250, 20, 80], [1250, 20, 150], [12_500, 2, 50]])('a path of %d kB/s that becomes %d to %d ms long is found to be so beside a connection that has a line of its own', (rateBytesPerMs, roundTripMs, longerMs) => {
  const nodePaths = new NodePaths()
  const path = new Path({ nodePaths, startMs: 100, steps: [{ atMs: 0, rateBytesPerMs, roundTripMs }, { atMs: 5000, rateBytesPerMs, roundTripMs: longerMs }] })
  const other = new Path({ nodePaths, startMs: 100, steps: [{ atMs: 0, rateBytesPerMs: 12_500, roundTripMs: 5 }] })

  for (let untilMs = 1; untilMs <= 30_000; untilMs++) {
    path.runUntil(untilMs)
    other.runUntil(untilMs)
  }

  expect(path.measure(3000).part).toBeGreaterThan(0.95)
})
