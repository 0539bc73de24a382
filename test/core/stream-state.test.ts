// What a stream's state is asked: can it send?
import { describe, expect, test } from 'vitest'
import { createStream } from './fixtures/lanes.ts'

describe('a stream', () => {
  test('can send when it has bytes and credit, not with one of them', () => {
    const stream = createStream(1)
    expect(stream.canSendData).toBe(false)

    stream.sendQueue.push(Uint8Array.of(1))
    expect(stream.canSendData).toBe(true)

    stream.creditBytes -= 262_144
    expect(stream.canSendData).toBe(false)

    stream.creditBytes += 1
    expect(stream.canSendData).toBe(true)
  })
})
