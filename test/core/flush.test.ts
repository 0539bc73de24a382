// When each strategy wants to write, and why.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FlushPolicy, ON_CHUNK, ON_OPENING, ON_WRITE } from '../../src/core/flush.ts'
import type { FlushDecision, FlushInit } from '../../src/core/flush.ts'

const WATERMARK_BYTES = 52_415

interface Snapshot {
  occasion: number
  isScheduled: boolean
  isRest: boolean
  flushesThisTurn: number
  isTurnSpent: boolean
  isTurnOver: boolean
  takesAnswer: boolean
  hasUrgent: boolean
  hasControl: boolean
  isMarkDue: boolean
  queuedBytes: number
  roundTripMs: number | undefined
}

/** A hundred bytes of a stream that is not urgent have just been queued */
const SNAPSHOT: Snapshot = {
  hasUrgent: false,
  hasControl: false,
  isMarkDue: false,
  queuedBytes: 100,
  occasion: ON_WRITE,
  flushesThisTurn: 0,
  isTurnSpent: false,
  isTurnOver: false,
  takesAnswer: false,
  isScheduled: false,
  isRest: false,
  roundTripMs: undefined
}

/** As the constants of times count them */
const TIMES = ['keep', 'later', 'next-round', 'next-turn', 'soon', 'now']

const create = (strategy: FlushInit['strategy'], shortestTimerMs = 1): FlushPolicy =>
  new FlushPolicy({ strategy, delayMs: 2, maxDelayMs: 3, watermarkBytes: WATERMARK_BYTES }, shortestTimerMs)

const turn = create('turn')
const delayed = create('delay')
const adapted = create('adaptive')
const off = create('off')
const onlyAcks = { queuedBytes: 0 }

function decide (policy: FlushPolicy, snapshot: Partial<Snapshot> = {}): unknown[] {
  const { promptness, reason, delayMs } = ask(policy, snapshot)

  return TIMES[promptness] === 'later' ? ['later', reason, delayMs] : [TIMES[promptness], reason]
}

function ask (policy: FlushPolicy, snapshot: Partial<Snapshot>): FlushDecision {
  const { hasUrgent, hasControl, isMarkDue, queuedBytes, roundTripMs, flushesThisTurn, isTurnSpent, isTurnOver, takesAnswer, occasion, isRest, isScheduled } = { ...SNAPSHOT, ...snapshot }
  const turn = { flushes: flushesThisTurn, isSpent: isTurnSpent, isExhausted: isTurnOver, takesAnswer: () => takesAnswer }

  const session = { lanes: { hasUrgent, queuedBytes }, control: { cannotWait: hasControl }, path: { isMarkDue }, roundTrip: { shorterMs: roundTripMs }, receivedMs: 0, isClosing: false }

  return policy.decide(occasion, turn, isRest, isScheduled, session)
}

describe.each([
  ['turn', turn],
  ['delay', delayed],
  ['adaptive', adapted]
])('under %s', (_, policy) => {
  test.each([0, 3, 1000])('urgent data asks for a flush at once, after %i flushes in the turn', flushesThisTurn => {
    expect(decide(policy, { hasUrgent: true, flushesThisTurn })).toEqual(['soon', 'urgent'])
    expect(decide(policy, { hasUrgent: true, flushesThisTurn, isScheduled: true })).toEqual(['soon', 'urgent'])
  })

  test('urgent data waits for the next turn when this one has written all that a turn may', () => {
    expect(decide(policy, { hasUrgent: true, isTurnOver: true })).toEqual(['next-turn', 'next-turn'])
    expect(decide(policy, { hasUrgent: true, isTurnOver: true, occasion: ON_CHUNK })).toEqual(['next-turn', 'next-turn'])
  })

  test.each([0, 1, 2])('control frames ask for a flush at once, after %i flushes in the turn', flushesThisTurn => {
    expect(decide(policy, { hasControl: true, flushesThisTurn })).toEqual(['soon', 'control'])
    expect(decide(policy, { ...onlyAcks, hasControl: true, flushesThisTurn })).toEqual(['soon', 'control'])
  })

  test('so does a mark', () => {
    expect(decide(policy, { ...onlyAcks, isMarkDue: true })).toEqual(['soon', 'control'])
  })

  test('control frames leave together in the next turn after three flushes', () => {
    expect(decide(policy, { hasControl: true, flushesThisTurn: 3 })).toEqual(['next-turn', 'next-turn'])
  })

  test('either leaves right behind an inbound chunk, the first time in a turn', () => {
    expect(decide(policy, { hasUrgent: true, occasion: ON_CHUNK })).toEqual(['now', 'urgent'])
    expect(decide(policy, { hasControl: true, occasion: ON_CHUNK })).toEqual(['now', 'control'])
    expect(decide(policy, { hasUrgent: true, occasion: ON_CHUNK, flushesThisTurn: 1 })).toEqual(['soon', 'urgent'])
  })

  test('the SYN of a turn\'s first stream leaves at once also behind one other flush', () => {
    expect(decide(policy, { hasControl: true, occasion: ON_OPENING })).toEqual(['now', 'control'])
    expect(decide(policy, { hasControl: true, occasion: ON_OPENING, flushesThisTurn: 1 })).toEqual(['now', 'control'])
    expect(decide(policy, { hasControl: true, occasion: ON_OPENING, flushesThisTurn: 2 })).toEqual(['soon', 'control'])
  })

  test('acknowledgements alone wait for what the next round of the event loop brings, behind a chunk too', () => {
    expect(decide(policy, onlyAcks)).toEqual(['next-round', 'acks'])
    expect(decide(policy, { ...onlyAcks, occasion: ON_CHUNK, flushesThisTurn: 2 })).toEqual(['next-round', 'acks'])
    expect(decide(policy, { ...onlyAcks, flushesThisTurn: 3 })).toEqual(['next-round', 'acks'])
  })

  test.each([
    ['after three flushes', { flushesThisTurn: 3 }],
    ['when the turn has written enough', { flushesThisTurn: 1, isTurnSpent: true }]
  ])('answers to a chunk leave right behind it %s where the turn takes them, and nothing else', (_, snapshot) => {
    const control = { hasControl: true, takesAnswer: true, ...snapshot }

    expect(decide(policy, { ...control, occasion: ON_CHUNK })).toEqual(['now', 'chunk'])
    expect(decide(policy, { ...control, queuedBytes: WATERMARK_BYTES, occasion: ON_CHUNK })).toEqual(['now', 'chunk'])
    expect(decide(policy, control)).toEqual(['next-turn', 'next-turn'])
    expect(decide(policy, { ...control, occasion: ON_OPENING })).toEqual(['next-turn', 'next-turn'])
  })

  test('only urgent data leaves before the next turn after three flushes, whatever else comes', () => {
    const later = fc.record({
      hasControl: fc.boolean(),
      queuedBytes: fc.nat(1_000_000),
      occasion: fc.constantFrom(ON_WRITE, ON_CHUNK, ON_OPENING),
      flushesThisTurn: fc.constantFrom(3, 1000),
      isTurnSpent: fc.boolean(),
      isTurnOver: fc.boolean(),
      isRest: fc.boolean(),
      isScheduled: fc.constant(true),
      roundTripMs: fc.option(fc.nat(1000), { nil: undefined })
    })

    fc.assert(fc.property(later, snapshot => {
      expect(['next-turn', 'next-round', 'keep', 'later']).toContain(TIMES[ask(policy, snapshot).promptness])
      expect(['next-turn', 'next-round', 'keep', 'later']).toContain(TIMES[ask(policy, { ...snapshot, flushesThisTurn: 0, isTurnSpent: true }).promptness])
    }))
  })
})

describe('turn', () => {
  test.each([3, 1000])('leaves the rest to the next turn after %i flushes', flushesThisTurn => {
    expect(decide(turn, { flushesThisTurn, occasion: ON_CHUNK })).toEqual(['next-turn', 'next-turn'])
  })

  test('lets what was left behind full writes wait for one round of the event loop', () => {
    expect(decide(turn, { isRest: true })).toEqual(['next-round', 'rest'])
    expect(decide(turn, { isRest: true, occasion: ON_CHUNK })).toEqual(['next-round', 'rest'])
    expect(decide(turn, { isRest: true, flushesThisTurn: 3 })).toEqual(['next-turn', 'next-turn'])
  })
})

describe('delay', () => {
  test('lets data wait for its delay', () => {
    expect(decide(delayed)).toEqual(['later', 'delay', 2])
    expect(decide(delayed, { occasion: ON_CHUNK })).toEqual(['later', 'delay', 2])
  })

  test('lets what was left behind full writes wait for its delay like any other data', () => {
    expect(decide(delayed, { isRest: true })).toEqual(['later', 'delay', 2])
  })

  test('does not wait at the watermark', () => {
    expect(decide(delayed, { queuedBytes: WATERMARK_BYTES - 1, isScheduled: true })).toEqual(['keep', 'delay'])
    expect(decide(delayed, { queuedBytes: WATERMARK_BYTES, isScheduled: true })).toEqual(['soon', 'watermark'])
    expect(decide(delayed, { queuedBytes: WATERMARK_BYTES, flushesThisTurn: 3 })).toEqual(['next-turn', 'next-turn'])
  })

  test('ends with the turn when it is shorter than a timer can measure', () => {
    expect(decide(create('delay', 4))).toEqual(['next-turn', 'delay'])
  })
})

describe('adaptive', () => {
  test.each([
    [undefined, ['next-turn', 'delay']],
    [0.1, ['next-turn', 'delay']],
    [3.9, ['next-turn', 'delay']],
    [4, ['later', 'delay', 1]],
    [8, ['later', 'delay', 2]],
    [12, ['later', 'delay', 3]],
    [900, ['later', 'delay', 3]]
  ])('waits for a quarter of a round trip of %s ms, at most its longest delay', (roundTripMs, decision) => {
    expect(decide(adapted, { roundTripMs })).toEqual(decision)
  })

  test('does not wait at the watermark', () => {
    expect(decide(adapted, { queuedBytes: WATERMARK_BYTES, roundTripMs: 100, isScheduled: true })).toEqual(['soon', 'watermark'])
  })
})

describe('off', () => {
  test.each([
    [{}],
    [onlyAcks],
    [{ flushesThisTurn: 1000, isScheduled: true, roundTripMs: 500 }]
  ])('writes at once, whatever there is: %o', snapshot => {
    expect(decide(off, snapshot)).toEqual(['now', 'off'])
  })
})
