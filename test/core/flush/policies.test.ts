// When each strategy wants to write.
import { describe, expect, test } from 'vitest'
import { off } from '../../../src/core/flush/off.ts'
import { turn } from '../../../src/core/flush/turn.ts'

describe('turn', () => {
  test.each([0, 1, 2])('writes what presses soon, after %i flushes in the turn', flushesThisTurn => {
    expect(turn.decide({ isPressing: true, flushesThisTurn })).toBe('soon')
  })

  test.each([0, 1, 2])('lets acknowledgements wait for the end of the turn, after %i flushes in it', flushesThisTurn => {
    expect(turn.decide({ isPressing: false, flushesThisTurn })).toBe('end-of-turn')
  })

  test.each([
    [true, 3],
    [false, 3],
    [true, 1000]
  ])('leaves the rest to the next turn after three flushes (pressing: %s, flushes: %i)', (isPressing, flushesThisTurn) => {
    expect(turn.decide({ isPressing, flushesThisTurn })).toBe('next-turn')
  })

  test('puts as many frames in a write as fit', () => {
    expect(turn.maxFramesPerWrite).toBe(Infinity)
  })
})

describe('off', () => {
  test.each([
    [true, 0],
    [false, 0],
    [true, 1000]
  ])('writes at once (pressing: %s, flushes: %i)', (isPressing, flushesThisTurn) => {
    expect(off.decide({ isPressing, flushesThisTurn })).toBe('now')
  })

  test('writes every frame by itself', () => {
    expect(off.maxFramesPerWrite).toBe(1)
  })
})
