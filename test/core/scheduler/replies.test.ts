// Answers that the peer calls for without a stream: in order, and no more than a peer that reads would leave waiting.
import { beforeEach, describe, expect, test } from 'vitest'
import { createControlLane, fillBatch } from '../../../testing/core/lanes.ts'
import type { Frame } from '../../../testing/protocol/frames.ts'

const MAX_REPLIES = 1024

let replies: ReturnType<typeof createControlLane>
let timesFull: number

beforeEach(() => {
  timesFull = 0
  replies = createControlLane()
  replies.onRepliesFull = () => { timesFull++ }
})

function fill (maxBytes = 65_519, maxFrames = Infinity): Frame[] {
  return fillBatch(batch => { replies.fill(batch, 0) }, maxBytes, maxFrames)
}

const KINDS: Array<[name: string, reply: (value: number) => void]> = [
  ['pongs', value => { replies.pong(value) }],
  ['refusals', value => { replies.refuse(2 + 2 * value) }]
]

describe('replies', () => {
  test('that find no room wait for the next batch, in order', () => {
    [1, 2, 3].forEach(value => { replies.pong(value) })
    replies.refuse(2)

    expect(fill(35).map(({ length }) => length)).toEqual([1, 2])
    expect(fill(65_519, 1).map(({ length }) => length)).toEqual([3])
    expect(fill().map(({ id }) => id)).toEqual([2])
  })
})

describe.each(KINDS)('more than 1,024 %s', (_, reply) => {
  beforeEach(() => {
    for (let value = 0; value < MAX_REPLIES; value++) {
      reply(value)
    }
  })

  test('are a protocol error that says how many, if nobody makes room', () => {
    expect(() => { reply(0) }).toThrow(expect.objectContaining({
      name: 'ProtocolError',
      code: 'ERR_TOO_MANY_UNREAD_REPLIES',
      goAwayCode: 1,
      message: expect.stringMatching(/1025 replies.*allowed 1024/)
    }))
    expect(timesFull).toBe(1)
    expect(replies.replyCount).toBe(MAX_REPLIES)
  })
})

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
