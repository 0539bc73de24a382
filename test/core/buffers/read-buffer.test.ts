// What has arrived and was not read yet: the bytes, their order, and one frame at a time.
import { describe, expect, test } from 'vitest'
import { ReadBuffer } from '../../../src/core/buffers/read-buffer.ts'
import { pattern } from '../../../testing/protocol/frames.ts'

function takeBytes (buffer: ReadBuffer): number[] {
  return [...buffer.take().subarray()]
}

describe('a read buffer', () => {
  test('passes on what is read in the turn it came uncopied', () => {
    const buffer = new ReadBuffer(0)
    const chunk = pattern(100)
    buffer.append(chunk.subarray(10, 20))
    buffer.append(chunk.subarray(30, 40))
    const parts = [...buffer.take()]

    expect(parts.map(part => part.buffer === chunk.buffer)).toEqual([true, true])
    expect(parts.map(part => part.byteOffset)).toEqual([10, 30])
  })

  test('gives away the list it hands over: what comes later is not in it', () => {
    const buffer = new ReadBuffer(0)
    buffer.append(Uint8Array.of(1))
    const list = buffer.take()
    buffer.append(Uint8Array.of(2))

    expect([...list.subarray()]).toEqual([1])
    expect(takeBytes(buffer)).toEqual([2])
  })
})

test.each([false, true])('bytes whose buffer somebody else has transferred are missed when they are taken, or kept (frames kept apart: %s)', keepsFramesApart => {
  for (const does of ['take', 'detach'] as const) {
    const buffer = new ReadBuffer(keepsFramesApart ? Infinity : 0)
    const chunk = pattern(100)
    buffer.append(chunk.subarray(10, 20))
    buffer.endFrame()
    structuredClone(chunk, { transfer: [chunk.buffer as ArrayBuffer] })

    expect(() => buffer[does]()).toThrow(expect.objectContaining({ code: 'ERR_RECEIVED_BYTES_CHANGED', message: expect.stringMatching(/^0 of 10 received bytes/) }))
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
})
