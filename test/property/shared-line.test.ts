// Connections of one node that send all they can over one line: each takes its part, and what waits in front of the line stays short.
import { describe, expect, test } from 'vitest'
import { SharedLine } from './fixtures/shared-line.ts'

const QUEUE_MS = 10
/** Between two marks */
const MARK_MS = 5
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
    expect(longestWaitMs).toBeLessThan(1.25 * roundTripMs + QUEUE_MS + MARK_MS + connections * UNMARKED_BYTES / rateBytesPerMs)
    expect(leastPart).toBeGreaterThan(0.3 / connections)
  })
})
