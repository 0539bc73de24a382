// For how long no pong came, and how that is forgotten and forgiven.
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { LongestSilence } from '../../../src/core/path/longest-silence.ts'

let silence: LongestSilence

/** What is left of it then */
function fadedMs (nowMs: number): number {
  silence.fade(nowMs)

  return silence.ms
}

beforeEach(() => {
  silence = new LongestSilence()
})

describe('the longest silence', () => {
  test('is none until there was one', () => {
    expect(fadedMs(1_000_000)).toBe(0)
  })

  test('is the longest of those that were', () => {
    silence.learn(30, 1000)
    silence.learn(20, 1000)
    expect(silence.ms).toBe(30)

    silence.learn(50, 1000)
    expect(silence.ms).toBe(50)
  })

  test('fades to a third and less within ten seconds', () => {
    silence.learn(100, 1000)

    // half of it is left after 10 s times the logarithm of 2, and one part in e after 10 s
    expect(fadedMs(1000 + 6931.47)).toBeCloseTo(50, 3)
    expect(fadedMs(11_000)).toBeCloseTo(36.788, 3)
  })

  test('is a shorter one when the longer has faded', () => {
    silence.learn(100, 0)
    silence.learn(20, 20_000)

    // 100 / e² is 13.5
    expect(silence.ms).toBe(20)
  })

  test('fades, too, by what a clock is set back', () => {
    silence.learn(100, 3_600_000)

    expect(fadedMs(3_590_000)).toBeCloseTo(36.788, 3)
    expect(fadedMs(3_600_000)).toBeCloseTo(13.534, 3)
  })

  test('never grows by itself, and is no longer than the longest that was', () => {
    const events = fc.array(fc.record({ afterMs: fc.integer({ min: -10_000, max: 10_000 }), learnt: fc.option(fc.nat(5000)) }))

    fc.assert(fc.property(events, events => {
      silence = new LongestSilence()
      let nowMs = 100_000
      let mostMs = 0

      for (const { afterMs, learnt } of events) {
        const { ms } = silence
        nowMs += afterMs
        expect(fadedMs(nowMs)).toBeLessThanOrEqual(ms)

        if (learnt !== null) {
          silence.learn(learnt, nowMs)
          mostMs = Math.max(mostMs, learnt)
        }

        expect(silence.ms).toBeLessThanOrEqual(mostMs)
      }
    }))
  })
})

describe('a silence is forgiven', () => {
  beforeEach(() => {
    // from here on time counts
    silence.forgives(1, 0)
  })

  test('when silences are a hundredth of the time', () => {
    expect(silence.forgives(11, 1000)).toBe(false)
    expect(silence.forgives(10, 1000)).toBe(true)
    expect(silence.forgives(1, 1000)).toBe(false)
    expect(silence.forgives(1, 1100)).toBe(true)
  })

  test('up to a second at once, however long there was none', () => {
    silence.forgives(1, 0)

    expect(silence.forgives(1001, 3_600_000)).toBe(false)
    expect(silence.forgives(900, 3_600_000)).toBe(true)
    expect(silence.forgives(100, 3_600_000)).toBe(true)
    expect(silence.forgives(1, 3_600_000)).toBe(false)
  })

  test('by the time since the first, not since the clock began', () => {
    silence = new LongestSilence()

    expect(silence.forgives(1, 3_600_000)).toBe(false)
  })

  test('to a hundredth of the time and a second', () => {
    const silences = fc.array(fc.record({ afterMs: fc.nat(100_000), silentMs: fc.integer({ min: 1, max: 500 }) }))

    fc.assert(fc.property(silences, silences => {
      silence = new LongestSilence()
      silence.forgives(1, 0)
      let nowMs = 0
      let forgivenMs = 0

      for (const { afterMs, silentMs } of silences) {
        nowMs += afterMs
        forgivenMs += silence.forgives(silentMs, nowMs) ? silentMs : 0
        expect(forgivenMs).toBeLessThanOrEqual(nowMs / 100 + 1e-6)
      }
    }))
  })
})
