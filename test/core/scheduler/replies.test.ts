// Answers that the peer calls for without a stream: in order, and no more than a peer that reads would leave waiting.
import { beforeEach, describe, expect, test } from 'vitest'
import { createControlLane, fillBatch } from '../../../testing/core/lanes.ts'
import type { Frame } from '../../../testing/protocol/frames.ts'

const MAX_REPLIES = 1024

let replies: ReturnType<typeof createControlLane>

beforeEach(() => { replies = createControlLane() })

function fill (maxBytes = 65_519): Frame[] {
  return fillBatch(batch => { replies.fill(batch, 0) }, maxBytes, Infinity)
}

describe('both kinds of replies', () => {
  test('are counted together', () => {
    for (let i = 0; i < MAX_REPLIES / 2; i++) {
      replies.pong(i)
      replies.refuse(2 + 2 * i)
    }

    expect(() => { replies.pong(0) }).toThrow(expect.objectContaining({ code: 'ERR_TOO_MANY_UNREAD_REPLIES' }))
    expect(() => { replies.refuse(4000) }).toThrow(expect.objectContaining({ code: 'ERR_TOO_MANY_UNREAD_REPLIES' }))
  })

  test('go on for ever while what is full is written, and none is lost or said twice', () => {
    const written: number[] = []
    replies.onRepliesFull = () => { written.push(...fill(120).map(({ length }) => length)) }

    for (let value = 0; value < 5000; value++) {
      replies.pong(value)
      expect(replies.replyCount).toBeLessThanOrEqual(MAX_REPLIES)
    }

    written.push(...fill().map(({ length }) => length))
    expect(written).toEqual(Array.from({ length: 5000 }, (_, value) => value))
  })
})
