import { beforeEach, describe, expect, test } from 'vitest'
import { SendQueue } from '../../../src/core/buffers/send-queue.ts'
import { concat, pattern } from '../../../testing/protocol/frames.ts'

let queue: SendQueue

/** Messages share a piece from when 30 bytes wait */
beforeEach(() => {
  queue = new SendQueue({ mergeFromBytes: 30, frameBytes: 16_384 })
})

function add (message: Uint8Array): void {
  queue.add(message, message.byteLength)
}

function take (count: number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  queue.moveTo({ piece: bytes => { pieces.push(bytes) } }, count)

  return pieces
}

describe('copies of what is sent', () => {
  test('stay what they are when the memory is used again', () => {
    const header = new Uint8Array(4)

    for (let i = 0; i < 3000; i++) {
      header.fill(i)
      add(header)
    }

    expect(concat(...take(12_000))).toEqual(concat(...Array.from({ length: 3000 }, (_, i) => new Uint8Array(4).fill(i))))
  })

  test('are pieces of their own while little waits, then one with what lies in front of them', () => {
    add(pattern(10, 1))
    add(pattern(20, 2))
    add(pattern(30, 3))

    expect(take(60)).toEqual([pattern(10, 1), concat(pattern(20, 2), pattern(30, 3))])
  })

  test('of a message in parts are one', () => {
    queue.add([pattern(10, 1), pattern(0), pattern(20, 2)], 30)

    expect(take(30)).toEqual([concat(pattern(10, 1), pattern(20, 2))])
  })

  test('keep their order with what is too long to be copied', () => {
    const long = pattern(9000, 2)
    add(pattern(10, 1))
    add(long)
    add(pattern(20, 3))
    const pieces = take(9030)

    expect(pieces).toEqual([pattern(10, 1), long, pattern(20, 3)])
    expect(pieces[1]).toBe(long)
  })

  test('lie in the same memory again when nothing waits, and not before', () => {
    add(pattern(100, 1))
    add(pattern(100, 2))
    const [first] = take(100)
    add(pattern(100, 3))
    expect(concat(...take(200))).toEqual(concat(pattern(100, 2), pattern(100, 3)))

    add(pattern(100, 4))
    const [again] = take(100)
    expect(again).toEqual(pattern(100, 4))
    expect(again.buffer).toBe(first.buffer)
    expect(again.byteOffset).toBe(first.byteOffset)
  })

  test('hold on to little: half a KiB where little is said, nothing of a long block', () => {
    add(pattern(100))
    expect(take(100)[0].buffer.byteLength).toBe(512)

    for (let i = 0; i < 1000; i++) {
      add(pattern(100, i))
    }

    const memory = new Set(take(100_000).map(({ buffer }) => buffer))
    const bytes = [...memory].reduce((sum, buffer) => sum + buffer.byteLength, 0)
    expect(bytes).toBeLessThan(1.1 * 100_000 + 2 * 8192)
    queue.onEmpty()
    add(pattern(100))
    expect(take(100)[0].buffer.byteLength).toBe(512)
  })
})
