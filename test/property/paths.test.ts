// A sender on paths of many kinds: the path stays full, what waits in it stays short, and nothing stands still, whatever pongs do.
import { describe, expect, test } from 'vitest'
import { Path } from './fixtures/path.ts'

describe('a slow path', () => {
  test.each([[32, 10], [32, 50], [64, 10], [16, 50], [8, 200]])('of %d kB/s and a round trip of %d ms does not run empty while a pong comes back', (rateBytesPerMs, roundTripMs) => {
    const path = new Path({ startMs: 2000, steps: [{ atMs: 0, rateBytesPerMs, roundTripMs }] })
    path.runUntil(120_000)

    expect(path.measure(60_000).part).toBeGreaterThan(0.98)
  })
})

describe('a path that changes', () => {
  test('is full again when it carries half as much, and its round trip is so short that two writes are more than it holds', () => {
    const path = new Path({ startMs: 100, steps: [{ atMs: 0, rateBytesPerMs: 5000, roundTripMs: 2 }, { atMs: 3000, rateBytesPerMs: 2500, roundTripMs: 2 }] })
    path.runUntil(5000)

    expect(path.measure(3000).part).toBeGreaterThan(0.95)
  })
})
