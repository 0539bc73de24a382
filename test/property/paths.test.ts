// A sender on paths of many kinds: the path stays full, what waits in it stays short, and nothing stands still, whatever pongs do.
import { describe, expect, test } from 'vitest'
import { Path } from './fixtures/path.ts'

describe('a path that changes', () => {
  test('is full again when it carries half as much, and its round trip is so short that two writes are more than it holds', () => {
    const path = new Path({ startMs: 100, steps: [{ atMs: 0, rateBytesPerMs: 5000, roundTripMs: 2 }, { atMs: 3000, rateBytesPerMs: 2500, roundTripMs: 2 }] })
    path.runUntil(5000)

    expect(path.measure(3000).part).toBeGreaterThan(0.95)
  })
})
