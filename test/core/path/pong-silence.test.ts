// A silence behind which all that was under way comes back, and what is none.
import { beforeEach, describe, expect, test } from 'vitest'
import { PongSilence } from '../../../src/core/path/pong-silence.ts'
import type { CameBack } from '../../../src/core/path/pong-silence.ts'

/** 100,000 bytes are under way, the last mark at 96,000 of them: all is back when 90,000 are, 15 of 16 */
const UNDER_WAY_BYTES = 100_000
const MARKED_BYTES = 96_000
const ALL_BYTES = 90_000

/** A pong, and what was under way when it came */
const first = {
  nowMs: 100,
  lostMarks: 0,
  positionBytes: 40_000,
  acknowledgedBytes: 0,
  handedDownBytes: UNDER_WAY_BYTES,
  markedBytes: MARKED_BYTES,
  bytesPerMs: 0,
  usualSilenceMs: 50
}

let silence: PongSilence
/** When data was handed down, and nothing was under way before */
let beganMs: number

/** So much has arrived of what is under way */
function arrive (bytes: number, nowMs: number, handedDownBytes = UNDER_WAY_BYTES): CameBack | undefined {
  return silence.onPong({ ...first, positionBytes: bytes }, { ...first, handedDownBytes }, undefined, nowMs)
}

/** Since 0, when the first mark was written, nothing has come; now a pong does, while data waits */
function pong (init: Partial<typeof first> = {}): CameBack | undefined {
  const pong = { ...first, ...init }
  silence.onChunk(pong.nowMs, beganMs)

  return silence.onPong(pong, pong, pong, pong.nowMs)
}

/** A pong that tells of all at once */
function lastPong (init: Partial<typeof first> = {}): CameBack | undefined {
  return pong({ positionBytes: MARKED_BYTES, ...init })
}

beforeEach(() => {
  silence = new PongSilence()
  beganMs = 0
})

describe('what was under way', () => {
  test('has come back when 15 of 16 bytes in front of the last mark have', () => {
    expect(pong()).toBe(undefined)
    expect(arrive(ALL_BYTES - 1, 100)).toBe(undefined)

    expect(arrive(ALL_BYTES, 100)).toEqual({
      nowMs: 100,
      arrivedBytes: ALL_BYTES,
      untilBytes: ALL_BYTES,
      silentMs: 100,
      endedMs: 100,
      byteLength: UNDER_WAY_BYTES,
      restBytes: 50_000,
      restMs: 0,
      hasLost: false
    })
  })

  test('has come back with the first pong if that was to the last mark', () => {
    expect(lastPong()).toMatchObject({ silentMs: 100, restBytes: 0, restMs: 0 })
  })

  test('comes back once', () => {
    lastPong()

    expect(arrive(MARKED_BYTES, 100)).toBe(undefined)
  })

  test('is what had not been acknowledged', () => {
    // 15 of 16 of the 96,000 behind the first 1,000,000
    pong({ acknowledgedBytes: 1_000_000, positionBytes: 1_040_000, markedBytes: 1_096_000, handedDownBytes: 1_100_000 })
    expect(arrive(1_089_999, 100, 1_100_000)).toBe(undefined)

    expect(arrive(1_090_000, 100, 1_100_000)).toMatchObject({ byteLength: UNDER_WAY_BYTES, restBytes: 50_000 })
  })

  test('is told of with the time that the rest of it took', () => {
    pong()
    arrive(60_000, 120)

    expect(arrive(MARKED_BYTES, 150)).toMatchObject({ nowMs: 150, silentMs: 100, restBytes: 50_000, restMs: 50 })
  })

  test('is waited for behind the last silence, not one before', () => {
    pong()
    pong({ nowMs: 160, acknowledgedBytes: 40_000, positionBytes: 60_000, handedDownBytes: 140_000, markedBytes: 136_000 })

    // 40,000 and 15 of 16 of 96,000
    expect(arrive(129_999, 160, 140_000)).toBe(undefined)
    expect(arrive(130_000, 160, 140_000)).toMatchObject({ silentMs: 60, byteLength: 100_000, restBytes: 70_000 })
  })
})

describe('a silence', () => {
  test('is longer than is usual', () => {
    expect(lastPong({ usualSilenceMs: 100 })).toBe(undefined)
    silence = new PongSilence()

    expect(lastPong({ usualSilenceMs: 99.9 })).toMatchObject({ silentMs: 100 })
  })

  test('lasts from when there was something under way', () => {
    beganMs = 30

    expect(lastPong()).toMatchObject({ silentMs: 70 })
  })

  test('lasts from the pong before', () => {
    arrive(10_000, 20)

    expect(lastPong({ acknowledgedBytes: 10_000 })).toMatchObject({ silentMs: 80 })
  })

  test('goes on behind pongs that tell of less than a sixteenth of what is under way, as of messages that pass what waits', () => {
    silence.onChunk(50, beganMs)
    arrive(6249, 50)
    expect(lastPong({ acknowledgedBytes: 6249 })).toMatchObject({ silentMs: 100 })
  })

  test('ends with a pong that tells of a sixteenth of what is under way', () => {
    silence.onChunk(50, beganMs)
    arrive(6250, 50)
    expect(lastPong({ acknowledgedBytes: 6250, usualSilenceMs: 40 })).toMatchObject({ silentMs: 50 })
  })

  test.each([[400, false], [520, false], [521, true]])('of 100 ms in front of a mark behind 40,000 bytes, of which the path carries %d a millisecond, is one: %s', (bytesPerMs, isSilence) => {
    // 1.3 times as long as the path takes for them is nothing unusual: 100 ms at 520
    expect(pong({ markedBytes: 40_000, bytesPerMs }) !== undefined).toBe(isSilence)
  })

  test('is none when other bytes of the peer came all the time: the pong may have been behind them', () => {
    for (const nowMs of [25, 50, 75]) {
      silence.onChunk(nowMs, beganMs)
    }

    expect(lastPong()).toBe(undefined)
  })

  test('is one although other bytes came now and then: nothing did for a third of it', () => {
    silence.onChunk(33, beganMs)
    silence.onChunk(66, beganMs)

    expect(lastPong()).toMatchObject({ silentMs: 100 })
  })

  test('is one although other bytes came right in front of the pong', () => {
    silence.onChunk(99, beganMs)
    silence.onChunk(99.5, beganMs)

    expect(lastPong()).toMatchObject({ silentMs: 100 })
  })

  test('is none for what was quiet before the last pong', () => {
    silence.onChunk(1000, beganMs)
    arrive(10_000, 1000)

    for (const nowMs of [1025, 1050, 1075]) {
      silence.onChunk(nowMs, beganMs)
    }

    expect(lastPong({ nowMs: 1100, acknowledgedBytes: 10_000 })).toBe(undefined)
  })

  test('behind which marks are found lost is one in any case: they would have told sooner', () => {
    for (const nowMs of [25, 50, 75]) {
      silence.onChunk(nowMs, beganMs)
    }

    expect(pong({ lostMarks: 1, markedBytes: 40_000, bytesPerMs: 400 })).toMatchObject({ silentMs: 100, hasLost: true })
  })

  test('is none when the clock was set back', () => {
    beganMs = 3_600_000

    expect(lastPong()).toBe(undefined)
  })
})
