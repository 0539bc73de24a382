// The two questions a stream's state is asked: is it over, and can it send.
import { describe, expect, test } from 'vitest'
import { createStream } from './fixtures/lanes.ts'

describe('a stream', () => {
  test.each([
    { isLocalFinished: false, isRemoteFinished: false, isReset: false, isOver: false },
    { isLocalFinished: true, isRemoteFinished: false, isReset: false, isOver: false },
    { isLocalFinished: false, isRemoteFinished: true, isReset: false, isOver: false },
    { isLocalFinished: true, isRemoteFinished: true, isReset: false, isOver: true },
    { isLocalFinished: false, isRemoteFinished: false, isReset: true, isOver: true }
  ])('is over: $isOver when finished here: $isLocalFinished, there: $isRemoteFinished, reset: $isReset', ({ isOver, ...state }) => {
    expect(Object.assign(createStream(1), state).isOver).toBe(isOver)
  })

  test('is not over when this side has only been asked to close', () => {
    expect(Object.assign(createStream(1), { isClosing: true, isRemoteFinished: true }).isOver).toBe(false)
  })

  test('can send when it has bytes and credit, not with one of them', () => {
    const stream = createStream(1)
    expect(stream.canSendData).toBe(false)

    stream.sendQueue.push(Uint8Array.of(1))
    expect(stream.canSendData).toBe(true)

    stream.sendCredit.spend(262_144)
    expect(stream.canSendData).toBe(false)

    stream.sendCredit.grant(1, 1)
    expect(stream.canSendData).toBe(true)
  })
})
