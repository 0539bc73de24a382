import { beforeEach, describe, expect, test } from 'vitest'
import { PieceQueue } from '../../../src/core/buffer/piece-queue.ts'
import { SendCopies } from '../../../src/core/buffer/send-copies.ts'
import { SentBytesChangedError } from '../../../src/core/bytes-changed-error.ts'
import { concat, pattern } from '../../fixtures/frames.ts'

let copies: SendCopies
let queue: PieceQueue

beforeEach(() => {
  copies = new SendCopies()
  queue = new PieceQueue(256, SentBytesChangedError)
})

function createQueue (): PieceQueue {
  return new PieceQueue(256, SentBytesChangedError)
}

describe('copies of what is sent', () => {
  test('stay what they are when the memory is used again', () => {
    const header = new Uint8Array(4)

    for (let i = 0; i < 300; i++) {
      header.fill(i)
      copies.copyTo(queue, header, false)
    }

    expect(queue.takeAll()).toEqual(Array.from({ length: 300 }, (_, i) => new Uint8Array(4).fill(i)))
  })

  test('are entries of their own, or one with what lies in front of them', () => {
    copies.copyTo(queue, pattern(10, 1), false)
    copies.copyTo(queue, pattern(20, 2), false)
    copies.copyTo(queue, pattern(30, 3), true)

    expect(queue.takeAll()).toEqual([pattern(10, 1), concat(pattern(20, 2), pattern(30, 3))])
  })

  test('are never joined with what another stream has sent meanwhile', () => {
    const other = createQueue()
    copies.copyTo(queue, pattern(10, 1), true)
    copies.copyTo(other, pattern(20, 2), true)
    copies.copyTo(queue, pattern(30, 3), true)

    expect(queue.takeAll()).toEqual([pattern(10, 1), pattern(30, 3)])
    expect(other.takeAll()).toEqual([pattern(20, 2)])
  })

  test('of a message in parts are one', () => {
    copies.copyPartsTo(queue, [pattern(10, 1), pattern(0), pattern(20, 2)], 30, false)

    expect(queue.takeAll()).toEqual([concat(pattern(10, 1), pattern(20, 2))])
  })

  test('hold on to little: a connection that has said 100 bytes keeps half a KiB, a busy one 8 KiB a message that waits', () => {
    copies.copyTo(queue, pattern(100), false)
    const [first] = queue.takeAll()
    expect(first.buffer.byteLength).toBe(512)

    for (let i = 0; i < 1000; i++) {
      copies.copyTo(queue, pattern(100, i), true)
    }

    const memory = new Set(queue.takeAll().map(({ buffer }) => buffer))
    const bytes = [...memory].reduce((sum, buffer) => sum + buffer.byteLength, 0)
    expect(Math.max(...[...memory].map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(8192)
    expect(bytes).toBeLessThan(1.1 * 100_000 + 2 * 8192)
  })
})
