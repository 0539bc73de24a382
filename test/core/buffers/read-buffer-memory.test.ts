// What waits to be read must not cost much more than its own bytes, whatever chunks it came in.
import { describe, expect, test } from 'vitest'
import { ReadBuffer } from '../../../src/core/buffers/read-buffer.ts'
import { pattern } from '../../../testing/protocol/frames.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

const CHUNK_BYTES = 65_536

/** Every piece of memory that a list keeps alive, once */
function memoryOf (list: Uint8ArrayList): ArrayBufferLike[] {
  return [...new Set([...list].map(part => part.buffer))]
}

function sizeOf (memory: ArrayBufferLike[]): number {
  return memory.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

describe('what a read buffer keeps', () => {
  test('does not hold the chunk it came in', () => {
    const chunk = pattern(CHUNK_BYTES)
    const buffer = new ReadBuffer(0)
    buffer.append(chunk.subarray(1000, 1001))
    buffer.detach()
    const list = buffer.take()

    expect(memoryOf(list).includes(chunk.buffer)).toBe(false)
    expect(sizeOf(memoryOf(list))).toBeLessThanOrEqual(256)
    expect([...list.subarray()]).toEqual([...chunk.subarray(1000, 1001)])
  })

  test.each([false, true])('costs few blocks and at most twice its size for 10,000 frames of one byte (frames kept apart: %s)', keepsFramesApart => {
    const buffer = new ReadBuffer(keepsFramesApart ? Infinity : 0)
    const sent = pattern(10_000)

    for (let i = 0; i < sent.byteLength; i++) {
      // each in a chunk of its own
      buffer.append(sent.slice(i, i + 1))
      buffer.endFrame()
      buffer.detach()
    }

    expect(buffer.byteLength).toBe(10_000)

    const lists: Uint8ArrayList[] = []

    while (buffer.readyBytes > 0) {
      lists.push(buffer.take())
    }

    const memory = new Set(lists.flatMap(list => memoryOf(list)))

    expect(memory.size).toBeLessThan(16)
    expect(sizeOf([...memory])).toBeLessThanOrEqual(20_000 + 256)
    expect(Uint8Array.from(lists.flatMap(list => [...list.subarray()]))).toEqual(sent)
  })

  test('wastes at most one block of 16 KiB however much waits', () => {
    const buffer = new ReadBuffer(0)

    for (let i = 0; i < 300; i++) {
      buffer.append(pattern(1001))
      buffer.detach()
    }

    expect(sizeOf(memoryOf(buffer.take()))).toBeLessThanOrEqual(300_300 + 16_384)
  })

  test('is as much memory as there may be, when the last block has room for more than that', () => {
    const buffer = new ReadBuffer(0)
    const maxBytes = 48 * 5461

    for (let i = 0; i < 48; i++) {
      buffer.append(pattern(5461))
      buffer.detach(maxBytes)
    }

    expect(sizeOf(memoryOf(buffer.take()))).toBe(maxBytes)
  })

  test('shares no memory with what was taken before', () => {
    const buffer = new ReadBuffer(0)
    buffer.append(Uint8Array.of(1))
    buffer.detach()
    const first = buffer.take()
    buffer.append(Uint8Array.of(2))
    buffer.detach()
    const second = buffer.take()

    expect(memoryOf(second).includes(memoryOf(first)[0])).toBe(false)
    expect([...first.subarray()]).toEqual([1])
  })

  test('is copied once, however many frames are taken one by one', () => {
    const buffer = new ReadBuffer(Infinity)

    for (let i = 0; i < 3; i++) {
      buffer.append(pattern(100, i))
      buffer.endFrame()
    }

    buffer.detach()
    const first = buffer.take()
    buffer.detach()
    const second = buffer.take()

    // compared here: a failed toBe would print the whole block
    expect(memoryOf(second)[0] === memoryOf(first)[0]).toBe(true)
  })

  test('does not hold the chunk when a frame of it was taken and the next one waits', () => {
    const chunk = pattern(CHUNK_BYTES)
    const buffer = new ReadBuffer(Infinity)

    for (const offset of [0, 1]) {
      buffer.append(chunk.subarray(offset, offset + 1))
      buffer.endFrame()
    }

    buffer.take()
    buffer.detach()

    expect(memoryOf(buffer.take()).includes(chunk.buffer)).toBe(false)
  })
})
