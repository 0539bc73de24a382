// What each strategy puts off, whatever comes. When it writes, and why, is in test/muxer: coalescing, strategies and metrics.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FlushPolicy, ON_CHUNK, ON_OPENING, ON_WRITE } from '../../src/core/flush.ts'

/** As the constants of times count them */
const TIMES = ['keep', 'later', 'next-round', 'next-turn', 'soon', 'now']
const PUT_OFF = ['next-turn', 'next-round', 'keep', 'later']

interface Moment {
  occasion: number
  flushes: number
  isSpent: boolean
  isExhausted: boolean
  isRest: boolean
  cannotWait: boolean
  queuedBytes: number
  shorterMs: number | undefined
}

function timeOf (policy: FlushPolicy, { occasion, flushes, isSpent, isExhausted, isRest, cannotWait, queuedBytes, shorterMs }: Moment): string {
  const turn = { flushes, isSpent, isExhausted, takesAnswer: () => false }
  const session = { lanes: { hasUrgent: false, queuedBytes }, control: { cannotWait }, path: { isMarkDue: false }, roundTrip: { shorterMs }, receivedMs: 0, isClosing: false }

  return TIMES[policy.decide(occasion, turn, isRest, true, session).promptness]
}

test.each(['turn', 'delay', 'adaptive'] as const)('under %s only urgent data leaves before the next turn after three flushes, whatever else comes', strategy => {
  const policy = new FlushPolicy({ strategy, delayMs: 2, maxDelayMs: 3, watermarkBytes: 52_415 }, 1)
  const moments: fc.Arbitrary<Moment> = fc.record({
    occasion: fc.constantFrom(ON_WRITE, ON_CHUNK, ON_OPENING),
    flushes: fc.constantFrom(3, 1000),
    isSpent: fc.boolean(),
    isExhausted: fc.boolean(),
    isRest: fc.boolean(),
    cannotWait: fc.boolean(),
    queuedBytes: fc.nat(1_000_000),
    shorterMs: fc.option(fc.nat(1000), { nil: undefined })
  })

  fc.assert(fc.property(moments, moment => {
    expect(PUT_OFF).toContain(timeOf(policy, moment))
    expect(PUT_OFF).toContain(timeOf(policy, { ...moment, flushes: 0, isSpent: true }))
  }))
})
