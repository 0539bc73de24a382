// Control and data in one batch: what leads, what rides along, and when there is something to write.
import { beforeEach, describe, expect, test } from 'vitest'
import { PENDING_ACK, PENDING_FIN, PENDING_SYN } from '../../../src/core/stream-state.ts'
import { ACK, DATA, FIN, PING, SYN, WINDOW_UPDATE } from '../../fixtures/frames.ts'
import { createScheduler, createStream, fillBatch, hasOutput } from '../fixtures/lanes.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'
import type { StreamInit } from '../fixtures/lanes.ts'

let scheduler: ReturnType<typeof createScheduler>

beforeEach(() => {
  scheduler = createScheduler({
    onFinDue: stream => {
      stream.pending |= PENDING_FIN
      scheduler.control.enlist(stream)
    }
  })
})

function enlist (id: number, init: StreamInit): StreamState {
  const stream = createStream(id, init)

  if (stream.pending !== 0) {
    scheduler.control.enlist(stream)
  }

  scheduler.data.enlist(stream, stream.sendQueue.byteLength)

  return stream
}

/** The frames of the next batch: type, flags and id */
function fill (maxBytes = 65_519, maxFrames = Infinity): Array<[type: number, flags: number, id: number]> {
  return fillBatch(batch => { scheduler.fill(batch, maxFrames, 0, 0) }, maxBytes)
    .map(({ type, flags, id }) => [type, flags, id])
}

describe('a batch', () => {
  test('has control in front of data that was there first', () => {
    enlist(1, { queued: [100_000] })
    fill(16_396)
    enlist(3, { pending: PENDING_SYN })
    scheduler.control.replies.pong(9)

    expect(fill(40_000)).toEqual([[PING, ACK, 0], [WINDOW_UPDATE, SYN, 3], [DATA, 0, 1], [DATA, 0, 1], [DATA, 0, 1]])
  })

  test('has no data when control fills it', () => {
    enlist(1, { queued: [10] })
    scheduler.control.replies.pong(1)
    scheduler.control.replies.pong(2)

    expect(fill(24)).toEqual([[PING, ACK, 0], [PING, ACK, 0]])
    expect(fill(24)).toEqual([[DATA, 0, 1]])
  })

  test.each([
    ['SYN', PENDING_SYN, SYN],
    ['ACK', PENDING_ACK, ACK]
  ])('has one frame for a stream that has a %s and data', (_, pending, flag) => {
    enlist(1, { pending, queued: [10] })

    expect(fill()).toEqual([[DATA, flag, 1]])
    expect(fill()).toEqual([])
  })

  test('does not make an ACK wait behind busy streams for more than one batch', () => {
    for (let i = 0; i < 20; i++) {
      enlist(1 + 2 * i, { queued: [100_000] })
    }

    enlist(2, { pending: PENDING_ACK, queued: [10] })

    expect(fill().map(([, , id]) => id)).not.toContain(2)
    expect(fill()[0]).toEqual([WINDOW_UPDATE, ACK, 2])
  })

  test('leads with the FIN that the last one had no room for', () => {
    const stream = createStream(1, { queued: [10] })
    stream.isClosing = true
    scheduler.data.enlist(stream, 10)
    enlist(3, { queued: [10] })

    expect(fill(12 + 10)).toEqual([[DATA, 0, 1]])
    expect(fill()).toEqual([[WINDOW_UPDATE, FIN, 1], [DATA, 0, 3]])
    expect(fill()).toEqual([])
  })
})

describe('output', () => {
  test('is there as long as either lane has some', () => {
    expect(hasOutput(scheduler)).toBe(false)

    scheduler.control.replies.pong(1)
    expect(hasOutput(scheduler)).toBe(true)

    fill()
    expect(hasOutput(scheduler)).toBe(false)

    enlist(1, { queued: [20_000] })
    expect(hasOutput(scheduler)).toBe(true)

    fill(16_396)
    expect(hasOutput(scheduler)).toBe(true)

    fill()
    expect(hasOutput(scheduler)).toBe(false)
  })

  test('tells acknowledgements, which nobody waits for, from other control frames', () => {
    enlist(2, { pending: PENDING_ACK })
    expect(hasOutput(scheduler)).toBe(true)
    expect(scheduler.control.hasMoreThanAcks).toBe(false)

    scheduler.control.ping(1)
    expect(scheduler.control.hasMoreThanAcks).toBe(true)

    fill()
    expect(scheduler.control.hasMoreThanAcks).toBe(false)
  })
})
