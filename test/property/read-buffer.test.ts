// Law: a read buffer is a queue of bytes, or of frames, whatever is kept in between.
import fc from 'fast-check'
import { equals } from 'uint8arrays/equals'
import { expect, test } from 'vitest'
import { Uint8ArrayList } from 'uint8arraylist'
import { ReadBuffer } from '../../src/core/buffer/read-buffer.ts'
import { concat, pattern } from '../fixtures/frames.ts'

const size = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 40_000 }))
const steps = fc.array(fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('append' as const), sizes: fc.array(size, { minLength: 1, maxLength: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('endFrame' as const) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('keep' as const) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('take' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('prepend' as const), sizes: fc.array(size, { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('clear' as const) }) }
), { maxLength: 50, size: 'max' })

/** What the buffer is to do, in a way that is too slow to do it in */
class Model {
  frames: Uint8Array[] = []
  unfinished: Uint8Array = new Uint8Array(0)

  get bytes (): Uint8Array {
    return concat(...this.frames, this.unfinished)
  }

  endFrame (): void {
    if (this.unfinished.byteLength > 0) {
      this.frames.push(this.unfinished)
      this.unfinished = new Uint8Array(0)
    }
  }

  takeAll (): Uint8Array {
    const bytes = this.bytes
    this.clear()

    return bytes
  }

  clear (): void {
    this.frames = []
    this.unfinished = new Uint8Array(0)
  }
}

/** Some as one piece of memory, some as a list of several */
function asList (bytes: Uint8Array, sizes: number[]): Uint8Array | Uint8ArrayList {
  if (sizes.length === 1) {
    return bytes
  }

  const list = new Uint8ArrayList()
  sizes.reduce((offset, size) => {
    list.append(bytes.subarray(offset, offset + size))

    return offset + size
  }, 0)

  return list
}

test.each([false, true])('a read buffer gives back what it was given, in order (frames kept apart: %s)', keepsFramesApart => {
  fc.assert(fc.property(steps, steps => {
    const buffer = new ReadBuffer(keepsFramesApart)
    const model = new Model()

    for (const [seed, step] of steps.entries()) {
      if (step.does === 'append' || step.does === 'prepend') {
        const bytes = pattern(step.sizes.reduce((sum, size) => sum + size), seed)
        buffer[step.does](asList(bytes, step.sizes))

        if (step.does === 'append') {
          model.unfinished = concat(model.unfinished, bytes)
        } else {
          model.frames.unshift(bytes)
        }
      } else if (step.does === 'take') {
        const expected = keepsFramesApart ? model.frames.shift() ?? new Uint8Array(0) : model.takeAll()
        expect(equals(buffer.take().subarray(), expected)).toBe(true)
      } else {
        buffer[step.does]()

        if (step.does !== 'keep') {
          model[step.does]()
        }
      }

      expect(buffer.byteLength).toBe(model.bytes.byteLength)
      expect(buffer.isReady).toBe(keepsFramesApart ? model.frames.length > 0 : model.bytes.byteLength > 0)
    }
  }), { numRuns: 60 })
})

test.each([false, true])('what is kept is independent of the chunks it came in, whatever was taken before (frames kept apart: %s)', keepsFramesApart => {
  const steps = fc.array(fc.constantFrom('append', 'append', 'take', 'keep'), { maxLength: 20, size: 'max' })

  fc.assert(fc.property(steps, fc.array(size, { minLength: 20, maxLength: 20 }), (steps, sizes) => {
    const buffer = new ReadBuffer(keepsFramesApart)
    const chunks: Uint8Array[] = []

    for (const [i, does] of steps.entries()) {
      if (does === 'append') {
        const chunk = new Uint8Array(sizes[i])
        chunks.push(chunk)
        buffer.append(chunk)
        buffer.endFrame()
      } else {
        buffer[does as 'take' | 'keep']()
      }
    }

    buffer.keep()
    const memory = new Set(chunks.map(chunk => chunk.buffer))

    while (buffer.isReady) {
      expect([...buffer.take()].some(part => memory.has(part.buffer as ArrayBuffer))).toBe(false)
    }
  }), { numRuns: 200 })
})
