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

  test('counts the bytes that are left', () => {
    expect(queue.byteLength).toBe(0)

    queue.push(pattern(100))
    queue.push(pattern(50))
    expect(queue.byteLength).toBe(150)

    take(120)
    expect(queue.byteLength).toBe(30)

    take(30)
    expect(queue.byteLength).toBe(0)
  })

  test('cuts a piece anywhere, and goes on behind the cut', () => {
    const piece = Uint8Array.of(1, 2, 3, 4, 5)
    queue.push(piece)

    expect(take(2).map(bytes => [...bytes])).toEqual([[1, 2]])
    expect(take(1).map(bytes => [...bytes])).toEqual([[3]])
    expect(take(2).map(bytes => [...bytes])).toEqual([[4, 5]])
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

  test('takes the rest of one piece and the start of the next together', () => {
    queue.push(Uint8Array.of(1, 2, 3))
    queue.push(Uint8Array.of(4, 5, 6))
    take(2)

    expect(take(2).map(bytes => [...bytes])).toEqual([[3], [4]])
    expect(take(2).map(bytes => [...bytes])).toEqual([[5, 6]])
  })

  test('takes nothing when nothing is asked for', () => {
    queue.push(Uint8Array.of(1))

    expect(take(0)).toEqual([])
    expect(queue.byteLength).toBe(1)
  })

  test('knows what is left of its first piece', () => {
    expect(queue.firstPieceBytes).toBe(0)

    queue.push(pattern(10))
    queue.push(pattern(20))
    expect(queue.firstPieceBytes).toBe(10)

    take(3)
    expect(queue.firstPieceBytes).toBe(7)

    take(7)
    expect(queue.firstPieceBytes).toBe(20)

    take(20)
    expect(queue.firstPieceBytes).toBe(0)
  })

  test('is empty after clear, in the middle of a piece too', () => {
    queue.push(Uint8Array.of(1, 2, 3))
    queue.push(Uint8Array.of(4, 5, 6))
    take(4)
    queue.clear()

    expect(queue.byteLength).toBe(0)
    expect(queue.firstPieceBytes).toBe(0)

    queue.push(Uint8Array.of(7, 8))
    expect(take(2).map(bytes => [...bytes])).toEqual([[7, 8]])
  })

  test.each<[string, (buffer: ArrayBuffer) => void, number]>([
    ['shrunk', buffer => { buffer.resize(9) }, 9],
    ['transferred', buffer => { buffer.transfer() }, 0]
  ])('says of a piece whose buffer was %s that its bytes are gone, and gives those in front of it', (_, change, bytesNow) => {
    const buffer = new ArrayBuffer(10, { maxByteLength: 20 })
    queue.push(Uint8Array.of(1, 2))
    queue.push(new Uint8Array(buffer))
    change(buffer)

    expect(take(2).map(bytes => [...bytes])).toEqual([[1, 2]])
    expect(() => take(1)).toThrow(expect.objectContaining({ code: 'ERR_SENT_BYTES_CHANGED', message: expect.stringMatching(new RegExp(`\\b10 bytes, of which ${bytesNow} `)) }))
    queue.clear()
    expect(queue.byteLength).toBe(0)
  })

  test('knows of a piece that was cut before what was left of it', () => {
    const buffer = new ArrayBuffer(10)
    queue.push(new Uint8Array(buffer))
    take(4)
    buffer.transfer()

    expect(() => take(1)).toThrow(expect.objectContaining({ code: 'ERR_SENT_BYTES_CHANGED' }))
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
})

describe('the memory of a send queue', () => {
  test('lets go of a piece that was taken while later ones wait', async () => {
    const pieces = push(3)
    drop(2)
    await collectGarbage()

    expect(pieces.map(piece => piece.deref() === undefined)).toEqual([true, true, false])
    expect(queue.byteLength).toBe(10)
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
