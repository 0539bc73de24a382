// What a session writes at once, and each stream of it, by the rate of the path.
import { describe, expect, test } from 'vitest'
import { NoControl } from '../../../src/core/path-control.ts'
import { URGENT } from '../../../src/core/scheduler/lane.ts'
import { pattern } from '../../../testing/protocol/frames.ts'
import { controlOf, createSession, pull } from '../../../testing/core/sessions.ts'
import type { Session } from '../../../src/core/session.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'

const sizes = { frameBytes: 16_384, maxFrameBytes: 1_048_292, maxWriteBytes: 1_048_304 }

describe('a session whose path', () => {
  /** Two streams have a mebibyte each to send, and credit for it */
  function keepBusy (session: Session<unknown>, creditBytes = 2 ** 21): Session<unknown> {
    for (let i = 0; i < 2; i++) {
      const stream = session.open(0)
      stream.creditBytes = creditBytes
      session.send(stream, pattern(2 ** 20, i))
    }

    return session
  }

  function createBusySession (bytesPerMs: number, creditBytes?: number): Session<unknown> {
    const session = createSession({ ...sizes, loneFrameBytes: 65_507 })
    Object.defineProperty(controlOf(session).estimate, 'bytesPerMs', { value: bytesPerMs })

    return keepBusy(session, creditBytes)
  }

  /** The DATA frames of the next write */
  function sent (session: Session<unknown>): Array<[id: number, length: number]> {
    return pull(session).filter(({ type }) => type === 0).map(({ id, length }) => [id, length])
  }

  function lengths (session: Session<unknown>): number[] {
    return sent(session).map(([, length]) => length)
  }

  test('allows a quantum of 16 KiB writes one record, in frames of that', () => {
    const session = keepBusy(createSession({ ...sizes, loneFrameBytes: 65_507, createPathControl: init => new NoControl({ ...init, maxFrameBytes: init.frameBytes }) }))

    expect(lengths(session)).toEqual([16_384, 16_384, 16_384, 65_519 - 3 * 16_384 - 4 * 12])
  })

  test('is fast writes whole records, in frames of a millisecond', () => {
    const frames = lengths(createBusySession(200_000))

    expect(frames).toEqual([196_557 - 12])
    expect(lengths(createBusySession(500_000))).toEqual([458_633 - 12])
  })

  test('is fast lets a stream that is alone write for 16 milliseconds', () => {
    const session = createSession({ ...sizes, loneFrameBytes: 65_507, maxQueueDelayMs: Infinity })
    Object.defineProperty(controlOf(session).estimate, 'bytesPerMs', { value: 50_000 })
    const stream = session.open(0)
    stream.creditBytes = 2 ** 21
    session.send(stream, pattern(2 ** 20))

    expect(lengths(session)).toEqual([786_228 - 12])
  })

  test('is fast lets streams take turns', () => {
    const session = createBusySession(65_536)

    expect([sent(session), sent(session), sent(session)].flat()).toEqual([
      // the second is shorter by its SYN, which did not wait for it
      [1, 65_507], [3, 65_495], [1, 65_507]
    ])
  })

  test('is fast writes one record while a stream is urgent, whose next message would wait for the write', () => {
    const session = createBusySession(200_000)
    session.setLane(session.open(0), URGENT)

    expect(pull(session).reduce((sum, { length }) => sum + 12 + length, 0)).toBe(65_519)
  })

  test('is fast sends no long frame that takes more than half of the credit: the peer may give more behind it only', () => {
    expect(lengths(createBusySession(200_000, 262_144))[0]).toBe(131_072)
    expect(lengths(createBusySession(200_000, 70_000))[0]).toBe(65_507)
  })

  test('is fast lets a lane that is passed wait for eight shares', () => {
    const session = createBusySession(100_000)
    session.setLane(session.streams.get(3) as StreamState, URGENT)
    const frames = Array.from({ length: 16 }, () => sent(session)).flat()
    const passedBytes = frames.slice(0, frames.findIndex(([id]) => id === 1)).reduce((sum, [, length]) => sum + length, 0)

    expect(passedBytes).toBeGreaterThanOrEqual(8 * 100_000)
    expect(passedBytes).toBeLessThan(9 * 100_000)
  })
})
