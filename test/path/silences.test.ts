// Pongs that come late: a silence behind which all that was in flight comes back, and what is none; what slow programs need in flight; and gaps.
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { PongGap, PongSilence, SlowPrograms } from '../../src/path/silences.ts'
import type { CatchUp } from '../../src/path/silences.ts'

describe('a silence in front of a pong', () => {
  /** 100,000 bytes are in flight, the last mark at 96,000 of them: all is back when 90,000 are, 15 of 16 */
  const IN_FLIGHT_BYTES = 100_000
  const MARKED_BYTES = 96_000
  const ALL_BYTES = 90_000

  /** A pong, and what was in flight when it came */
  const first = {
    nowMs: 100,
    lostMarks: 0,
    positionBytes: 40_000,
    acknowledgedBytes: 0,
    writtenBytes: IN_FLIGHT_BYTES,
    markedBytes: MARKED_BYTES,
    coveredSilenceMs: 50
  }

  let silence: PongSilence
  /** When data was handed down, and nothing was in flight before */
  let beganMs: number

  /** So much has arrived of what is in flight */
  function arrive (bytes: number, nowMs: number, writtenBytes = IN_FLIGHT_BYTES): CatchUp | undefined {
    return silence.onPong({ ...first, positionBytes: bytes }, first.acknowledgedBytes, { ...first, writtenBytes }, Infinity, nowMs)
  }

  /** Since 0, when the first mark was written, nothing has come; now a pong does, while data waits */
  function pong (init: Partial<typeof first> = {}): CatchUp | undefined {
    const pong = { ...first, ...init }
    silence.onChunk(pong.nowMs, beganMs)

    return silence.onPong(pong, pong.acknowledgedBytes, pong, pong.coveredSilenceMs, pong.nowMs)
  }

  /** A pong that tells of all at once */
  function lastPong (init: Partial<typeof first> = {}): CatchUp | undefined {
    return pong({ positionBytes: MARKED_BYTES, ...init })
  }

  beforeEach(() => {
    silence = new PongSilence()
    beganMs = 0
  })

  describe('what was in flight', () => {
    test('has come back when 15 of 16 bytes in front of the last mark have', () => {
      expect(pong()).toBe(undefined)
      expect(arrive(ALL_BYTES - 1, 100)).toBe(undefined)

      expect(arrive(ALL_BYTES, 100)).toEqual({
        nowMs: 100,
        arrivedPositionBytes: ALL_BYTES,
        untilBytes: ALL_BYTES,
        silentMs: 100,
        endedMs: 100,
        inFlightBytes: IN_FLIGHT_BYTES,
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
      pong({ acknowledgedBytes: 1_000_000, positionBytes: 1_040_000, markedBytes: 1_096_000, writtenBytes: 1_100_000 })
      expect(arrive(1_089_999, 100, 1_100_000)).toBe(undefined)

      expect(arrive(1_090_000, 100, 1_100_000)).toMatchObject({ inFlightBytes: IN_FLIGHT_BYTES, restBytes: 50_000 })
    })

    test('is told of with the time that the rest of it took', () => {
      pong()
      arrive(60_000, 120)

      expect(arrive(MARKED_BYTES, 150)).toMatchObject({ nowMs: 150, silentMs: 100, restBytes: 50_000, restMs: 50 })
    })

    test('is waited for behind the last silence, not one before', () => {
      pong()
      pong({ nowMs: 160, acknowledgedBytes: 40_000, positionBytes: 60_000, writtenBytes: 140_000, markedBytes: 136_000 })

      // 40,000 and 15 of 16 of 96,000
      expect(arrive(129_999, 160, 140_000)).toBe(undefined)
      expect(arrive(130_000, 160, 140_000)).toMatchObject({ silentMs: 60, inFlightBytes: 100_000, restBytes: 70_000 })
    })
  })

  describe('a silence', () => {
    /** In order of time: data is handed down first, chunks come, and a pong that tells of so much */
    interface Before {
      beganMs?: number
      chunksMs?: number[]
      arrived?: [bytes: number, nowMs: number]
    }

    test.each<[what: string, before: Before, last: Partial<typeof first>, silentMs: number | undefined]>([
      ['is longer than is usual', {}, { coveredSilenceMs: 99.9 }, 100],
      ['is none if it is as long as is usual', {}, { coveredSilenceMs: 100 }, undefined],
      ['lasts from when there was something in flight', { beganMs: 30 }, {}, 70],
      ['lasts from the pong before', { arrived: [10_000, 20] }, { acknowledgedBytes: 10_000 }, 80],
      ['goes on behind pongs that tell of less than a sixteenth of what is in flight, as of messages that pass what waits', { chunksMs: [50], arrived: [6249, 50] }, { acknowledgedBytes: 6249 }, 100],
      ['ends with a pong that tells of a sixteenth of what is in flight', { chunksMs: [50], arrived: [6250, 50] }, { acknowledgedBytes: 6250, coveredSilenceMs: 40 }, 50],
      ['is none when other bytes of the peer came all the time: the pong may have been behind them', { chunksMs: [25, 50, 75] }, {}, undefined],
      ['is one although other bytes came now and then: nothing did for a third of it', { chunksMs: [33, 66] }, {}, 100],
      ['is one although other bytes came right in front of the pong', { chunksMs: [99, 99.5] }, {}, 100],
      ['is none for what was quiet before the last pong', { chunksMs: [1000, 1025, 1050, 1075], arrived: [10_000, 1000] }, { nowMs: 1100, acknowledgedBytes: 10_000 }, undefined],
      ['behind which marks are found lost is one in any case: they would have told sooner', { chunksMs: [25, 50, 75] }, { lostMarks: 1, positionBytes: 40_000, markedBytes: 40_000 }, 100],
      ['may last a minute', {}, { nowMs: 60_000 }, 60_000],
      ['is none of more than a minute: this program stood still', {}, { nowMs: 60_001 }, undefined]
    ])('%s', (_, { beganMs: fromMs = 0, chunksMs = [], arrived: [bytes, arrivedMs] = [0, 0] }, last, silentMs) => {
      beganMs = fromMs
      chunksMs.filter(nowMs => nowMs <= arrivedMs).forEach(nowMs => { silence.onChunk(nowMs, beganMs) })

      if (bytes > 0) {
        arrive(bytes, arrivedMs)
      }

      chunksMs.filter(nowMs => nowMs > arrivedMs).forEach(nowMs => { silence.onChunk(nowMs, beganMs) })
      const caughtUp = lastPong(last)

      expect(caughtUp?.silentMs).toBe(silentMs)
      expect(caughtUp?.hasLost ?? false).toBe(last.lostMarks === 1)
    })
  })
})

/** 100,000 bytes after 100 ms, of which the first pong told of 75,000 and the rest came at once */
const catchUp: CatchUp = {
  nowMs: 100,
  arrivedPositionBytes: 100_000,
  untilBytes: 100_000,
  silentMs: 100,
  endedMs: 100,
  inFlightBytes: 100_000,
  restBytes: 25_000,
  restMs: 0,
  hasLost: false
}

describe('behind a silence all that was in flight has come back', () => {
  /** It was programs, or pongs, that were slow, and not a path that carries so much beside what its neighbours carry */
  function wereSlow (init: Partial<CatchUp> = {}, bytesPerMs = 1000, sharedBytesPerMs = 0): boolean {
    const programs = new SlowPrograms()
    programs.onCatchUp({ ...catchUp, ...init }, bytesPerMs, sharedBytesPerMs, 10, false)
    expect(programs.boostBytes > 0).toBe(programs.longestMs > 0)

    return programs.longestMs > 0
  }

  test('and the path was not what is slow, if a quarter of it at least came together', () => {
    expect(wereSlow()).toBe(true)
    expect(wereSlow({ restMs: 1 })).toBe(true)
    expect(wereSlow({ restBytes: 24_999 })).toBe(false)
  })

  test('and says nothing of the path if the first pong told of all: that long is what the path may have taken', () => {
    expect(wereSlow({ restBytes: 0 })).toBe(false)
  })

  test('and the peer was slow if marks in between are lost: they would have told sooner', () => {
    expect(wereSlow({ restBytes: 0, hasLost: true })).toBe(true)
  })

  test('and the path was not slow if the rest came twice as fast as it carries', () => {
    // 25,000 bytes take 25 ms at 1000
    expect(wereSlow({ restMs: 12.5 })).toBe(true)
    expect(wereSlow({ restMs: 12.6 })).toBe(false)
  })

  test('and the path was not slow if the rest came twice as fast as all carry that share its link', () => {
    expect(wereSlow({ restMs: 12.5 }, 500, 500)).toBe(true)
    expect(wereSlow({ restMs: 1 }, 500, 100_000)).toBe(false)
  })
})

describe('what slow programs need in flight', () => {
  const ROUND_TRIP_MS = 10

  let programs: SlowPrograms

  /** A silence at the end of which everything came at once */
  function beSilent (silentMs: number, nowMs: number, isStartUp = false): void {
    programs.onArrived(0, nowMs)
    programs.onCatchUp({ ...catchUp, nowMs, silentMs }, 1000, 0, ROUND_TRIP_MS, isStartUp)
  }

  /** What is left then of the longest silence */
  function fadedMs (nowMs: number): number {
    programs.onArrived(0, nowMs)

    return programs.longestMs
  }

  beforeEach(() => {
    programs = new SlowPrograms()
  })

  test.each([['four times', true, 400_000], ['twice', false, 200_000]])('is tried at once, %s what was in flight (during start-up: %s), until as much has arrived', (_, isStartUp, boostBytes) => {
    beSilent(100, 1000, isStartUp)
    expect(programs.boostBytes).toBe(boostBytes)

    programs.onArrived(100_000 + boostBytes - 1, 1000)
    expect(programs.boostBytes).toBe(boostBytes)
    programs.onArrived(100_000 + boostBytes, 1000)
    expect(programs.boostBytes).toBe(0)
  })

  describe('lasts for the longest silence, which', () => {
    test('is none until there was one', () => {
      expect(fadedMs(1_000_000)).toBe(0)
    })

    test('is the longest of those that were, with the round trip behind it', () => {
      beSilent(30, 1000)
      beSilent(20, 1000)
      expect(programs.longestMs).toBe(30 + ROUND_TRIP_MS)

      beSilent(50, 1000)
      expect(programs.longestMs).toBe(50 + ROUND_TRIP_MS)
    })

    test('fades to a third and less within ten seconds', () => {
      beSilent(90, 1000)

      // half of it is left after 10 s times the logarithm of 2, and one part in e after 10 s
      expect(fadedMs(1000 + 6931.47)).toBeCloseTo(50, 3)
      expect(fadedMs(11_000)).toBeCloseTo(36.788, 3)
    })

    test('is a shorter one when the longer has faded', () => {
      beSilent(90, 0)
      beSilent(20, 20_000)

      // 100 / e² is 13.5
      expect(programs.longestMs).toBe(20 + ROUND_TRIP_MS)
    })

    test('never grows by itself, and is no longer than the longest that was', () => {
      const events = fc.array(fc.record({ afterMs: fc.nat(10_000), silentMs: fc.option(fc.nat(5000)) }))

      fc.assert(fc.property(events, events => {
        programs = new SlowPrograms()
        let nowMs = 100_000
        let mostMs = 0

        for (const { afterMs, silentMs } of events) {
          const { longestMs } = programs
          nowMs += afterMs
          expect(fadedMs(nowMs)).toBeLessThanOrEqual(longestMs)

          if (silentMs !== null) {
            beSilent(silentMs, nowMs)
            mostMs = Math.max(mostMs, silentMs + ROUND_TRIP_MS)
          }

          expect(programs.longestMs).toBeLessThanOrEqual(mostMs)
        }
      }))
    })
  })
})

describe('the gap between pongs', () => {
  let gap: PongGap

  beforeEach(() => {
    gap = new PongGap()
  })

  /** So many pongs, each behind an eighth of 80,000 bytes */
  function pongs (gapsMs: number[]): void {
    gapsMs.forEach(ms => { gap.learn(ms, 10_000, 80_000) })
  }

  test('is what all pongs say, when what is in flight has come back some times', () => {
    pongs(Array.from({ length: 100 }, () => 5))

    expect(gap.ms).toBeCloseTo(5, 1)
  })

  test('is the mean over bytes: of a clump of eight behind 200 ms it is an eighth of that', () => {
    pongs(Array.from({ length: 800 }, (_, i) => i % 8 === 0 ? 200 : 0))

    expect(gap.ms).toBeGreaterThan(19)
    expect(gap.ms).toBeLessThan(31)
  })

  test('is that of the one mark that is answered, however many there are', () => {
    for (let round = 0; round < 20; round++) {
      gap.learn(400, 70_000, 80_000)
    }

    expect(gap.ms).toBeGreaterThan(390)
  })

  test('counts at most the whole when more has arrived than is in flight', () => {
    gap.learn(400, 1_000_000, 80_000)

    expect(gap.ms).toBe(400)
  })

  test('leaves out more than a minute: the clock has jumped', () => {
    pongs([5, 60_001])

    expect(gap.ms).toBeLessThan(5)
  })
})
