// What pongs that come together bring, beyond what the path's rate explains.
import { beforeEach, describe, expect, test } from 'vitest'
import { PongClumps } from '../../../src/core/path/pong-clumps.ts'

const BYTES_PER_MS = 100
const VALID_MS = 1000

let clumps: PongClumps

/** A pong that tells of so many bytes */
function pong (nowMs: number, arrivedBytes: number, init: { isNewRound?: boolean, isAppLimited?: boolean, silentMs?: number } = {}): number {
  clumps.learn({ nowMs, arrivedBytes, silentMs: 1000, isNewRound: false, isAppLimited: false, ...init }, BYTES_PER_MS, VALID_MS)

  return clumps.bytes
}

beforeEach(() => {
  clumps = new PongClumps()
})

describe('a clump of pongs', () => {
  test('has what came behind its first pong, less what the path carries meanwhile', () => {
    expect(pong(50, 20_000)).toBe(0)
    expect(pong(50, 10_000)).toBe(10_000)
    expect(pong(51, 10_000)).toBe(20_000 - BYTES_PER_MS)
  })

  test('is no more than what the path carries while the peer was silent: pongs may have been stuck between other bytes', () => {
    pong(50, 20_000, { silentMs: 30 })

    expect(pong(50, 10_000)).toBe(30 * BYTES_PER_MS)
  })

  test('is none when pongs come at the pace of the path', () => {
    for (let nowMs = 10; nowMs < 200; nowMs += 2) {
      expect(pong(nowMs, 2 * BYTES_PER_MS)).toBe(0)
    }
  })

  test('is none when pongs are further apart than 1 ms, however much each tells of', () => {
    for (let nowMs = 10; nowMs < 200; nowMs += 1.5) {
      expect(pong(nowMs, 10_000)).toBe(0)
    }
  })

  test('does not go on in the next round', () => {
    pong(50, 10_000)
    pong(50, 10_000)

    expect(pong(50, 10_000, { isNewRound: true })).toBe(10_000)
    expect(pong(50, 10_000)).toBe(10_000)
  })

  test('counts for a while, and is forgotten when smaller ones follow', () => {
    pong(50, 10_000)
    pong(50, 30_000)
    pong(600, 10_000)
    expect(pong(600, 5_000)).toBe(30_000)

    pong(1200, 10_000)
    expect(pong(1200, 5_000)).toBe(5_000)
  })

  test('counts for a while, and is forgotten when none follows', () => {
    pong(50, 10_000)
    pong(50, 30_000)

    for (let nowMs = 100; nowMs < 1000; nowMs += 50) {
      pong(nowMs, 5_000)
    }

    expect(clumps.bytes).toBe(30_000)
    pong(1100, 5_000)
    pong(1600, 5_000)
    expect(clumps.bytes).toBe(0)
  })

  test('is not forgotten while an application has little to send', () => {
    pong(50, 10_000)
    pong(50, 30_000)
    pong(5000, 100, { isAppLimited: true })

    expect(pong(5000, 100, { isAppLimited: true })).toBe(30_000)
  })
})
