// Credit for a part of a frame: who sends all it has in one long frame may hang up behind it, and an update would meet its closed socket.
import { beforeEach, expect, test } from 'vitest'
import { ACK, data, pattern, SYN, windowUpdate } from '../../../testing/protocol/frames.ts'
import { createSession, pullAll } from '../../../testing/core/sessions.ts'
import type { Session } from '../../../src/core/session.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'

const FRAME_BYTES = 200_000
const PART_BYTES = 150_000

let session: Session<unknown>
let stream: StreamState

beforeEach(() => {
  session = createSession()
  session.receive(windowUpdate(2, 0, SYN), 0)
  pullAll(session)
  stream = session.streams.get(2) as StreamState
})

/** Receives so much of what the peer sends, and reads it */
function receive (bytes: Uint8Array, nowMs: number): void {
  session.receive(bytes, nowMs)

  while (stream.readBuffer.readyBytes > 0) {
    session.credit.giveBack(stream, stream.readBuffer.take().byteLength)
  }
}

/** What the peer is given back */
function credit (): number {
  return pullAll(session).reduce((sum, { length, flags }) => sum + (flags === ACK ? 0 : length), 0)
}

test('waits for the end of a frame that is longer than 64 KiB', () => {
  const frame = data(2, pattern(FRAME_BYTES))
  receive(frame.subarray(0, PART_BYTES), 1)
  expect(credit()).toBe(0)

  receive(frame.subarray(PART_BYTES), 2)
  expect(credit()).toBe(FRAME_BYTES)
})

test('is given at the end of it although nobody reads the rest', () => {
  const frame = data(2, pattern(FRAME_BYTES))
  receive(frame.subarray(0, PART_BYTES), 1)
  session.receive(frame.subarray(PART_BYTES), 2)

  expect(credit()).toBe(PART_BYTES - 12)
})

test('does not wait for a frame that takes 25 ms: the sender may need it to go on', () => {
  const frame = data(2, pattern(FRAME_BYTES))
  receive(frame.subarray(0, PART_BYTES), 1)
  receive(frame.subarray(PART_BYTES, PART_BYTES + 100), 26)

  expect(credit()).toBe(PART_BYTES + 100 - 12)
})

test('does not wait on other streams', () => {
  const frame = data(2, pattern(FRAME_BYTES))
  session.receive(windowUpdate(4, 0, SYN), 0)
  session.receive(data(4, pattern(PART_BYTES)), 0)
  pullAll(session)
  receive(frame.subarray(0, PART_BYTES), 1)
  session.credit.giveBack(session.streams.get(4) as StreamState, PART_BYTES)
  expect(credit()).toBe(PART_BYTES)

  receive(frame.subarray(PART_BYTES), 2)
  expect(credit()).toBe(FRAME_BYTES)
})

test('does not wait for the end of shorter frames', () => {
  receive(data(2, pattern(60_000)), 1)
  receive(data(2, pattern(60_000)), 1)
  const frame = data(2, pattern(60_000))
  receive(frame.subarray(0, 50_000), 1)

  expect(credit()).toBe(120_000 + 50_000 - 12)
})
