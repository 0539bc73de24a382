// How much a token bucket gives: a burst, then its rate, never more.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TokenBucket } from '../../src/core/peer-limits.ts'

/** How many of `count` are given at that time */
function taken (bucket: TokenBucket, count: number, nowMs: number): number {
  return Array.from({ length: count }, () => bucket.take(nowMs)).filter(Boolean).length
}

test('a bucket fills with time, up to its burst', () => {
  const bucket = new TokenBucket({ burst: 10, perSecond: 5 })
  taken(bucket, 10, 0)
  expect(taken(bucket, 100, 600)).toBe(3)
  expect(taken(bucket, 100, 1_000_000)).toBe(10)
})

test('a bucket that was asked for too much owes nothing for it', () => {
  const bucket = new TokenBucket({ burst: 1, perSecond: 1 })
  taken(bucket, 1000, 0)
  expect(bucket.take(1000)).toBe(true)
})

test('a bucket without an end gives for ever', () => {
  const bucket = new TokenBucket({ burst: Infinity, perSecond: 0 })
  expect(taken(bucket, 10_000, 0)).toBe(10_000)
})

test('a bucket counts what it was asked for', () => {
  const bucket = new TokenBucket({ burst: 1, perSecond: 0 })
  taken(bucket, 7, 0)
  expect(bucket.count).toBe(7)
})

test('over any time no more is given than the burst and the rate allow', () => {
  const asks = fc.array(fc.record({ afterMs: fc.nat(500), count: fc.nat(20) }), { minLength: 1 })

  fc.assert(fc.property(asks, fc.nat(20), fc.nat(50), (asks, burst, perSecond) => {
    const bucket = new TokenBucket({ burst, perSecond })
    let nowMs = 0
    let given = 0

    for (const ask of asks) {
      nowMs += ask.afterMs
      given += taken(bucket, ask.count, nowMs)
      expect(given).toBeLessThanOrEqual(burst + perSecond * nowMs / 1000 + 1e-6)
    }
  }))
})
