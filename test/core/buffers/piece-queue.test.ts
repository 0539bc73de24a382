// Bytes that wait, to be sent or to be read: pieces go in, bytes come out.
import { beforeEach, describe, expect, test } from 'vitest'
import { PieceQueue } from '../../../src/core/buffers/piece-queue.ts'
import { SentBytesChangedError } from '../../../src/core/errors.ts'
import { concat, pattern } from '../../../testing/protocol/frames.ts'
import { collectGarbage, heapBytes } from '../../../testing/protocol/garbage.ts'

let queue: PieceQueue

beforeEach(() => {
  queue = new PieceQueue(256, SentBytesChangedError)
})

function take (count: number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  queue.moveTo({ piece: bytes => { pieces.push(bytes) } }, count)

  return pieces
}

describe('a queue of pieces', () => {
  test('gives pieces back in the order they came, uncopied', () => {
    const pieces = [Uint8Array.of(1, 2), Uint8Array.of(3), Uint8Array.of(4, 5, 6)]
    pieces.forEach(piece => { queue.push(piece) })
    const taken = take(6)

    expect(taken).toHaveLength(3)
    taken.forEach((piece, i) => { expect(piece).toBe(pieces[i]) })
  })

  test('passes a part of a piece on as a view of it', () => {
    const piece = pattern(10)
    queue.push(piece)
    const [first] = take(4)
    const [second] = take(6)

    expect(first.buffer).toBe(piece.buffer)
    expect(second.buffer).toBe(piece.buffer)
    expect(second.byteOffset).toBe(4)
  })

  test('keeps the order over thousands of pieces of which some always wait', () => {
    const sent = pattern(5000)
    const taken: Uint8Array[] = []

    // three in, two out, so that whole pieces and cuts fall before, on and behind the 1,024th piece
    for (let offset = 0; offset < sent.byteLength; offset += 2) {
      queue.push(sent.subarray(offset, offset + 1))
      queue.push(sent.subarray(offset + 1, offset + 2))

      if (offset >= 2500) {
        taken.push(...take(3))
      }
    }

    taken.push(...take(queue.byteLength))

    expect(concat(...taken)).toEqual(sent)
  })

  test('keeps the order over thousands of pieces that are put in front, pushed and taken by turns', () => {
    const waiting: number[] = []
    const taken: number[] = []
    const expected: number[] = []

    for (let i = 0; i < 5000; i++) {
      queue.unshift(Uint8Array.of(i))
      queue.push(Uint8Array.of(i + 1))
      waiting.unshift(i % 256)
      waiting.push((i + 1) % 256)

      // more and more wait, then fewer and fewer, and three times none
      const count = Math.min(waiting.length, i % 1500 < 1000 ? 1 : 5)
      expected.push(...waiting.splice(0, count))
      taken.push(...take(count).flatMap(piece => [...piece]))
    }

    expect(queue.byteLength).toBe(waiting.length)
    expect(taken).toEqual(expected)
  })
})

describe('the memory of a send queue', () => {
  test('lets go of a piece that was taken while later ones wait', async () => {
    const pieces = push(3)
    drop(2)
    await collectGarbage()

    expect(pieces.map(piece => piece.deref() === undefined)).toEqual([true, true, false])
    expect(queue.byteLength).toBe(10)
  })

  test('lets go of a piece that was taken as a whole while later ones wait', async () => {
    const pieces = push(3)
    queue.takeFirst(10)
    await collectGarbage()

    expect(pieces.map(piece => piece.deref() === undefined)).toEqual([true, false, false])
  })

  test('lets go of everything when it is cleared', async () => {
    const pieces = push(2)
    queue.clear()
    await collectGarbage()

    expect(pieces.map(piece => piece.deref())).toEqual([undefined, undefined])
  })

  test('does not grow with the pieces that went through a queue that is never empty', async () => {
    const piece = pattern(1)
    const sink = { piece: () => {} }
    const before = await heapBytes()
    queue.push(piece)

    for (let i = 0; i < 1_000_000; i++) {
      queue.push(piece)
      queue.moveTo(sink, 1)
    }

    // a million references would be 4 to 8 MB
    expect(await heapBytes() - before).toBeLessThan(2_000_000)
    expect(queue.byteLength).toBe(1)
  })

  /** Pushes pieces that nobody else holds */
  function push (count: number): Array<WeakRef<Uint8Array>> {
    return Array.from({ length: count }, (_, i) => {
      const piece = pattern(10, i)
      queue.push(piece)

      return new WeakRef(piece)
    })
  }

  function drop (pieces: number): void {
    queue.moveTo({ piece: () => {} }, pieces * 10)
  }
})
