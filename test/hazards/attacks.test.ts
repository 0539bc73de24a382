// Every attack, by a peer that goes on: what a connection holds beyond its windows, how much it writes and tells the application, and how it ends. npm run bench attacks says what it costs.
import { describe, expect, test } from 'vitest'
import { endure } from '../../testing/hazards/attacked.ts'
import { ATTACKS } from '../../testing/hazards/attacks.ts'
import { data, SYN } from '../../testing/protocol/frames.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { Manner, Outcome } from '../../testing/hazards/attacked.ts'
import type { Attack } from '../../testing/hazards/attacks.ts'

forbidIncidents()

const MEBIBYTE = 2 ** 20
/** The objects of a stream, and those of the 16 pieces of memory that its window fills */
const STREAM_BYTES = 8192
/** More than a window of one byte each */
const FRAMES = 300_000
/** Of what comes to no end */
const FREE_FRAMES = 30_000

/** Those that neither a window nor a limit ends: each frame costs the peer as much as this side */
const FREE = [
  'window updates of one byte',
  'window updates of one byte to a sender that waits',
  'DATA of one byte, read',
  'DATA of one byte, read, messages kept apart',
  'DATA of one byte, read by a loop',
  'DATA of one byte for many streams, read by loops'
]

const attacks = ATTACKS.filter(({ isService }) => isService !== true)

describe.each(attacks)('$name', attack => {
  test.each([
    { framesPerChunk: 5000, isReading: true, peer: 'reads' },
    { framesPerChunk: 200, isReading: false, peer: 'does not read' }
  ])('$framesPerChunk frames a chunk, from a peer that $peer', async manner => {
    const outcome = await endureOnceWarm(attack, { frameCount: FREE.includes(attack.name) ? FREE_FRAMES : FRAMES, ...manner })

    expect(outcome.beyondWindowsBytes).toBeLessThanOrEqual(MEBIBYTE)
    expect(outcome.opened).toBeLessThanOrEqual(11_000)

    if (FREE.includes(attack.name)) {
      expect(outcome.endedWith).toBe(undefined)
    } else {
      expect(outcome.endedWith).toMatch(/^ERR_(TOO_MANY|RECEIVE_WINDOW|INVALID_STREAM_ID)/)
    }

    if (!manner.isReading) {
      // what left before the transport was full, a window at most, and the final frames
      expect(outcome.writes).toBeLessThanOrEqual(10)
    }
  })
})

test.each(attacks.filter(({ name }) => name.includes('byte by byte')))('$name, each in a chunk of its own, which may not cost a chunk each', async attack => {
  const outcome = await endureOnceWarm(attack, { frameCount: 262_144, framesPerChunk: 1, isReading: true })

  // all but the last byte
  expect(outcome.endedWith).toBe(undefined)
  expect(outcome.beyondWindowsBytes).toBeLessThanOrEqual(MEBIBYTE)
})

test('1,000 streams whose windows are full cost these, and 8 KiB each', async () => {
  const STREAMS = 999
  const FRAMES_PER_WINDOW = 16
  const outcome = await endureOnceWarm({
    name: 'windows filled',
    application: { isPaused: true },
    frames: i => [data(4 + 2 * Math.floor(i / FRAMES_PER_WINDOW), new Uint8Array(16_384), i % FRAMES_PER_WINDOW === 0 ? SYN : 0)]
  }, { frameCount: STREAMS * FRAMES_PER_WINDOW, framesPerChunk: 3, isReading: true })

  expect(outcome.endedWith).toBe(undefined)
  expect(outcome.opened).toBe(1 + STREAMS)
  expect(outcome.beyondWindowsBytes).toBeLessThanOrEqual(MEBIBYTE + STREAM_BYTES * outcome.opened)
})

/** After a first run, so that the code V8 compiles on the way is not counted as memory of the connection */
async function endureOnceWarm (attack: Attack, manner: Manner): Promise<Outcome> {
  await endure(attack, { ...manner, frameCount: Math.min(manner.frameCount, FREE_FRAMES) })

  return endure(attack, manner)
}
