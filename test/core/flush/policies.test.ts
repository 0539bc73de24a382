// When each strategy wants to write.
import { describe, expect, test } from 'vitest'
import { off } from '../../../src/core/flush/off.ts'
import { turn } from '../../../src/core/flush/turn.ts'

describe('turn', () => {
  test.each([0, 1, 2])('writes what presses soon, after %i flushes in the turn', flushesThisTurn => {
    expect(turn.decide({ isPressing: true, isEndOfChunk: false, flushesThisTurn })).toBe('soon')
  })

  test('writes what was answered to an inbound chunk at once, the first time in a turn', () => {
    expect(turn.decide({ isPressing: true, isEndOfChunk: true, flushesThisTurn: 0 })).toBe('now')
    expect(turn.decide({ isPressing: true, isEndOfChunk: true, flushesThisTurn: 1 })).toBe('soon')
  })

  test('does not write acknowledgements alone behind an inbound chunk', () => {
    expect(turn.decide({ isPressing: false, isEndOfChunk: true, flushesThisTurn: 0 })).toBe('end-of-turn')
  })

  test.each([0, 1, 2])('lets acknowledgements wait for the end of the turn, after %i flushes in it', flushesThisTurn => {
    expect(turn.decide({ isPressing: false, isEndOfChunk: false, flushesThisTurn })).toBe('end-of-turn')
  })

  test.each([
    [true, 3],
    [false, 3],
    [true, 1000]
  ])('leaves the rest to the next turn after three flushes (pressing: %s, flushes: %i)', (isPressing, flushesThisTurn) => {
    expect(turn.decide({ isPressing, isEndOfChunk: true, flushesThisTurn })).toBe('next-turn')
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
    expect(off.decide({ isPressing, isEndOfChunk: false, flushesThisTurn })).toBe('now')
  })

  test('writes every frame by itself', () => {
    expect(off.maxFramesPerWrite).toBe(1)
  })
})
