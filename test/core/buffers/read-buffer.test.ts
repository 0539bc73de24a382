// What has arrived and was not read yet: the bytes, their order, and one frame at a time.
import { describe, expect, test } from 'vitest'
import { ReadBuffer } from '../../../src/core/buffers/read-buffer.ts'
import { pattern } from '../../../testing/protocol/frames.ts'

function takeBytes (buffer: ReadBuffer): number[] {
  return [...buffer.take().subarray()]
}

describe('a read buffer', () => {
  test('hands over what was appended, in order, all at once', () => {
    const buffer = new ReadBuffer(0)
    buffer.append(Uint8Array.of(1, 2))
    buffer.append(Uint8Array.of(3))
    buffer.append(Uint8Array.of(4, 5))

    expect(buffer.byteLength).toBe(5)
    expect(buffer.readyBytes).toBeGreaterThan(0)
    expect(takeBytes(buffer)).toEqual([1, 2, 3, 4, 5])
    expect(buffer.byteLength).toBe(0)
    expect(buffer.readyBytes).toBe(0)
  })

  test('passes on what is read in the turn it came uncopied', () => {
    const buffer = new ReadBuffer(0)
    const chunk = pattern(100)
    buffer.append(chunk.subarray(10, 20))
    buffer.append(chunk.subarray(30, 40))
    const parts = [...buffer.take()]

    expect(parts.map(part => part.buffer === chunk.buffer)).toEqual([true, true])
    expect(parts.map(part => part.byteOffset)).toEqual([10, 30])
  })

  test.each([false, true])('has nothing to hand over when nothing was put back (frames kept apart: %s)', keepsFramesApart => {
    const buffer = new ReadBuffer(keepsFramesApart ? Infinity : 0)
    buffer.prepend(new Uint8Array(0))
    buffer.append(new Uint8Array(0))
    buffer.endFrame()

    expect(buffer.readyBytes).toBe(0)
  })

  test('gives away the list it hands over: what comes later is not in it', () => {
    const buffer = new ReadBuffer(0)
    buffer.append(Uint8Array.of(1))
    const list = buffer.take()
    buffer.append(Uint8Array.of(2))

    expect([...list.subarray()]).toEqual([1])
    expect(takeBytes(buffer)).toEqual([2])
  })

  test('keeps the order of what waited and what is new', () => {
    const buffer = new ReadBuffer(0)
    buffer.append(Uint8Array.of(1, 2))
    buffer.keep()
    buffer.append(Uint8Array.of(3))
    buffer.keep()
    buffer.append(Uint8Array.of(4))

    expect(buffer.byteLength).toBe(4)
    expect(takeBytes(buffer)).toEqual([1, 2, 3, 4])
  })

  test('keeps every byte of what is longer than its largest block', () => {
    const buffer = new ReadBuffer(0)
    const bytes = pattern(50_000)
    buffer.append(bytes.subarray(0, 100))
    buffer.keep()
    buffer.append(bytes.subarray(100))
    buffer.keep()

    expect(buffer.take().subarray()).toEqual(bytes)
  })

  test('puts in front what is prepended, before kept and new bytes', () => {
    const buffer = new ReadBuffer(0)
    buffer.append(Uint8Array.of(5))
    buffer.keep()
    buffer.append(Uint8Array.of(6))
    buffer.prepend(Uint8Array.of(4))
    buffer.prepend(Uint8Array.of(1, 2, 3))

    expect(buffer.byteLength).toBe(6)
    expect(takeBytes(buffer)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('has something to take when only a prepended byte is there', () => {
    const buffer = new ReadBuffer(0)
    buffer.prepend(Uint8Array.of(7))

    expect(buffer.readyBytes).toBeGreaterThan(0)
    expect(takeBytes(buffer)).toEqual([7])
  })

  test('is empty after clear, and takes new bytes', () => {
    const buffer = new ReadBuffer(0)
    buffer.append(Uint8Array.of(1))
    buffer.keep()
    buffer.append(Uint8Array.of(2))
    buffer.clear()

    expect(buffer.byteLength).toBe(0)
    expect(buffer.readyBytes).toBe(0)

    buffer.append(Uint8Array.of(3))
    expect(takeBytes(buffer)).toEqual([3])
  })

  test('does not count frames when it merges them', () => {
    const buffer = new ReadBuffer(0)
    buffer.append(Uint8Array.of(1))
    buffer.endFrame()
    buffer.append(Uint8Array.of(2))
    buffer.endFrame()

    expect(takeBytes(buffer)).toEqual([1, 2])
  })
})

test.each([false, true])('bytes whose buffer somebody else has transferred are missed when they are taken, or kept (frames kept apart: %s)', keepsFramesApart => {
  for (const does of ['take', 'keep'] as const) {
    const buffer = new ReadBuffer(keepsFramesApart ? Infinity : 0)
    const chunk = pattern(100)
    buffer.append(chunk.subarray(10, 20))
    buffer.endFrame()
    structuredClone(chunk, { transfer: [chunk.buffer as ArrayBuffer] })

    expect(() => buffer[does]()).toThrow(expect.objectContaining({ code: 'ERR_RECEIVED_BYTES_CHANGED', message: expect.stringMatching(/^10 bytes.* 0 were left/) }))
  }
})

describe('a read buffer that keeps frames apart', () => {
  test('hands over what is pushed within a frame before it, and the frame whole', () => {
    const buffer = new ReadBuffer(Infinity)
    const chunk = Uint8Array.of(4, 5)
    buffer.append(Uint8Array.of(1))
    buffer.endFrame()
    buffer.append(chunk, 4)
    buffer.push(Uint8Array.of(2))
    buffer.append(Uint8Array.of(6), 4)
    buffer.push(Uint8Array.of(3))
    structuredClone(chunk, { transfer: [chunk.buffer] })
    expect(buffer.byteLength).toBe(6)
    expect([takeBytes(buffer), takeBytes(buffer), takeBytes(buffer)]).toEqual([[1], [2], [3]])
    expect(buffer.readyBytes).toBe(0)
    buffer.append(Uint8Array.of(7), 4)
    buffer.endFrame()

    expect(takeBytes(buffer)).toEqual([4, 5, 6, 7])
    expect(buffer.byteLength).toBe(0)
  })

  test('hands over one frame at a time', () => {
    const buffer = withFrames([1, 2], [3], [4, 5, 6])

    expect(takeBytes(buffer)).toEqual([1, 2])
    expect(buffer.byteLength).toBe(4)
    expect(takeBytes(buffer)).toEqual([3])
    expect(takeBytes(buffer)).toEqual([4, 5, 6])
    expect(buffer.readyBytes).toBe(0)
  })

  test('waits for the end of a frame', () => {
    const buffer = new ReadBuffer(Infinity)
    buffer.append(Uint8Array.of(1), 3)
    buffer.append(Uint8Array.of(2), 3)

    expect(buffer.readyBytes).toBe(0)
    expect(buffer.byteLength).toBe(2)

    buffer.endFrame()
    expect(buffer.readyBytes).toBeGreaterThan(0)
    expect(takeBytes(buffer)).toEqual([1, 2])
  })

  test('does not hand over a frame of no bytes', () => {
    const buffer = new ReadBuffer(Infinity)
    buffer.endFrame()
    expect(buffer.readyBytes).toBe(0)

    buffer.append(Uint8Array.of(1))
    buffer.endFrame()
    buffer.endFrame()
    expect(takeBytes(buffer)).toEqual([1])
    expect(buffer.readyBytes).toBe(0)
  })

  test('knows its frames when they had to wait, and when the next one is not complete', () => {
    const buffer = withFrames([1, 2], [3])
    buffer.append(Uint8Array.of(4), 2)
    buffer.keep()

    expect(takeBytes(buffer)).toEqual([1, 2])
    buffer.keep()
    buffer.append(Uint8Array.of(5), 2)
    buffer.endFrame()

    expect(takeBytes(buffer)).toEqual([3])
    expect(takeBytes(buffer)).toEqual([4, 5])
  })

  test('gives what is prepended with the frame behind it: who puts a part back waits for more', () => {
    const buffer = withFrames([3, 4], [5])
    buffer.prepend(Uint8Array.of(2))
    buffer.prepend(Uint8Array.of(1))

    expect(takeBytes(buffer)).toEqual([1, 2, 3, 4])
    expect(takeBytes(buffer)).toEqual([5])
  })

  test('gives what is prepended alone when no frame has come to its end', () => {
    const buffer = withFrames([3])
    expect(takeBytes(buffer)).toEqual([3])
    buffer.append(Uint8Array.of(4), 2)
    buffer.prepend(Uint8Array.of(3))
    expect(takeBytes(buffer)).toEqual([3])
    expect(buffer.readyBytes).toBe(0)
    buffer.endFrame()
    expect(takeBytes(buffer)).toEqual([4])
  })

  test('passes on a frame that is read at once uncopied', () => {
    const chunk = pattern(40)
    const buffer = new ReadBuffer(Infinity)
    buffer.append(chunk.subarray(0, 10))
    buffer.endFrame()
    buffer.append(chunk.subarray(20, 40))
    buffer.endFrame()

    expect(buffer.take().subarray().buffer).toBe(chunk.buffer)
    expect(buffer.take().subarray().buffer).toBe(chunk.buffer)
  })

  test('forgets its frames when it is cleared, the unfinished one too', () => {
    const buffer = withFrames([1])
    buffer.append(Uint8Array.of(2))
    buffer.clear()
    buffer.append(Uint8Array.of(3))
    buffer.endFrame()

    expect(takeBytes(buffer)).toEqual([3])
    expect(buffer.readyBytes).toBe(0)
  })

  function withFrames (...frames: number[][]): ReadBuffer {
    const buffer = new ReadBuffer(Infinity)

    for (const frame of frames) {
      buffer.append(Uint8Array.from(frame))
      buffer.endFrame()
    }

    return buffer
  }
})
