// SYN and ACK: they wait for a data frame that may carry them, but not for long.
import { beforeEach, describe, expect, test } from 'vitest'
import { PENDING_ACK, PENDING_SYN } from '../../../src/core/stream-state.ts'
import { ACK, SYN, WINDOW_UPDATE } from '../../../testing/protocol/frames.ts'
import { createControlLane, createStream, fillBatch } from '../../../testing/core/lanes.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'
import type { Frame } from '../../../testing/protocol/frames.ts'
import type { StreamInit } from '../../../testing/core/lanes.ts'

let lane: ReturnType<typeof createControlLane>

beforeEach(() => {
  lane = createControlLane()
})

function enlist (id: number, init: StreamInit): StreamState {
  const stream = createStream(id, init)
  lane.enlist(stream)

  return stream
}

function fill (): Frame[] {
  return fillBatch(batch => { lane.fill(batch, 0) })
}

test('whether there is more than ACKs is known without a look at each stream that pending one', () => {
  let looks = 0

  for (let id = 1; id <= 1000; id++) {
    const stream = createStream(id)
    Object.defineProperty(stream, 'pending', { get: () => ++looks && PENDING_ACK })
    lane.enlist(stream)
    expect(lane.cannotWait).toBe(false)
  }

  expect(looks).toBeLessThan(5000)
})

test('a SYN that has gone with data is no more than an ACK', () => {
  const stream = enlist(1, { pending: PENDING_SYN })
  expect(lane.cannotWait).toBe(true)
  stream.pending = 0
  expect(lane.cannotWait).toBe(false)
})

describe.each([
  ['SYN', PENDING_SYN, SYN],
  ['ACK', PENDING_ACK, ACK]
])('a %s', (_, pending, flag) => {
  test('leaves room for a data frame to carry it, and goes by itself in the next batch if none did', () => {
    enlist(1, { pending, queued: [10] })

    expect(fill()).toEqual([])
    expect(lane.hasOutput).toBe(true)
    expect(fill()).toMatchObject([{ type: WINDOW_UPDATE, flags: flag, id: 1, length: 0 }])
    expect(lane.hasOutput).toBe(false)
  })

  test('does not wait for data that has no credit', () => {
    const stream = enlist(1, { pending, queued: [10] })
    stream.creditBytes -= 262_144

    expect(fill()).toMatchObject([{ type: WINDOW_UPDATE, flags: flag, id: 1, length: 0 }])
  })

  test('that waits for data keeps its place among others that wait, and holds up none', () => {
    enlist(1, { pending, queued: [10] })
    enlist(3, { pending })
    enlist(5, { pending, queued: [10] })

    expect(fill().map(({ id }) => id)).toEqual([3])
    expect(fill().map(({ id }) => id)).toEqual([1, 5])
  })
})
