// How the headers and pieces of one write are laid out: few pieces, and none that is copied without need.
import { beforeEach, describe, expect, test } from 'vitest'
import { Batch } from '../../../src/core/scheduler/batch.ts'
import { concat, data, FIN, pattern, PING, ping, SYN, windowUpdate } from '../../../testing/protocol/frames.ts'
import { collectGarbage } from '../../../testing/protocol/garbage.ts'

const DATA = 0
const WINDOW_UPDATE = 1
const BY_REFERENCE_BYTES = 8192

let batch: Batch

beforeEach(() => {
  batch = new Batch()
  batch.begin(65_519, Infinity)
})

function addData (id: number, ...pieces: Uint8Array[]): void {
  batch.header(DATA, 0, id, pieces.reduce((sum, { byteLength }) => sum + byteLength, 0))
  pieces.forEach(piece => { batch.piece(piece) })
}

describe('a batch', () => {
  test('lays headers and small pieces out in one contiguous piece', () => {
    batch.header(PING, SYN, 0, 7)
    addData(1, Uint8Array.of(1, 2), Uint8Array.of(3))
    batch.header(WINDOW_UPDATE, FIN, 3, 500)
    const parts = [...batch.finish()]

    expect(parts).toHaveLength(1)
    expect(parts[0]).toEqual(concat(ping(7, SYN), data(1, Uint8Array.of(1, 2, 3)), windowUpdate(3, 500, FIN)))
  })

  test('copies a piece of 8,191 bytes', () => {
    const piece = pattern(BY_REFERENCE_BYTES - 1)
    addData(1, piece)
    const parts = [...batch.finish()]

    expect(parts).toHaveLength(1)
    expect(parts[0].buffer === piece.buffer).toBe(false)
    expect(parts[0]).toEqual(data(1, piece))
  })

  test('passes a piece of 8,192 bytes on by reference', () => {
    const piece = pattern(BY_REFERENCE_BYTES)
    addData(1, piece)
    const parts = [...batch.finish()]

    expect(parts).toHaveLength(2)
    expect(parts[1]).toBe(piece)
    expect(parts[0]).toEqual(data(1, piece).subarray(0, 12))
  })

  test('gathers what lies between two large pieces', () => {
    const large = [pattern(19_000, 1), pattern(20_000, 2)]
    addData(1, Uint8Array.of(1), large[0])
    addData(3, Uint8Array.of(2))
    batch.header(WINDOW_UPDATE, 0, 5, 6)
    addData(7, large[1], Uint8Array.of(3))
    const list = batch.finish()
    const parts = [...list]

    expect(parts.map(({ byteLength }) => byteLength)).toEqual([13, 19_000, 12 + 1 + 12 + 12, 20_000, 1])
    expect(parts[1]).toBe(large[0])
    expect(parts[3]).toBe(large[1])
    expect(list.subarray()).toEqual(concat(
      data(1, concat(Uint8Array.of(1), large[0])),
      data(3, Uint8Array.of(2)),
      windowUpdate(5, 6),
      data(7, concat(large[1], Uint8Array.of(3)))
    ))
  })

  test('has no empty piece between two large ones: each piece is a cipher call and a socket write', () => {
    addData(1, pattern(BY_REFERENCE_BYTES, 1), pattern(BY_REFERENCE_BYTES, 2))

    expect([...batch.finish()].map(({ byteLength }) => byteLength)).toEqual([12, BY_REFERENCE_BYTES, BY_REFERENCE_BYTES])
  })

  test('shares no memory with the one before', () => {
    batch.header(PING, SYN, 0, 1)
    const first = batch.finish()
    batch.begin(100, Infinity)
    batch.header(PING, SYN, 0, 2)
    const second = batch.finish()

    expect(first.subarray()).toEqual(ping(1, SYN))
    second.write(new Uint8Array(12).fill(0xff))
    expect(first.subarray()).toEqual(ping(1, SYN))
  })

  test('holds nothing of what was added once it is finished', async () => {
    const added = addLargeAndSmall()
    await collectGarbage()
    expect(added.map(piece => piece.deref() === undefined)).toEqual([false, false])

    batch.finish()
    await collectGarbage()
    expect(added.map(piece => piece.deref() === undefined)).toEqual([true, true])
  })

  /** Pieces that nobody else holds */
  function addLargeAndSmall (): Array<WeakRef<Uint8Array>> {
    return [10, 19_000].map(size => {
      const piece = pattern(size)
      addData(1, piece)

      return new WeakRef(piece)
    })
  }
})
