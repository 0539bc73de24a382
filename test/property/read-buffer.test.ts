// Law: a read buffer is a queue of bytes, or of frames, whatever is kept in between.
import fc from 'fast-check'
import { equals } from 'uint8arrays/equals'
import { expect, test } from 'vitest'
import { ReadBuffer } from '../../src/core/buffer/read-buffer.ts'
import { concat, pattern } from '../fixtures/frames.ts'

const size = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 40_000 }))
const steps = fc.array(fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('append' as const), sizes: fc.array(size, { minLength: 1, maxLength: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('endFrame' as const) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('keep' as const) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('take' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('prepend' as const, 'push' as const), size }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('clear' as const) }) }
), { maxLength: 50, size: 'max' })

/** What the buffer is to do, in a way that is too slow to do it in */
class Model {
  readonly #keepsFramesApart: boolean
  frames: Uint8Array[] = []
  unfinished: Uint8Array = new Uint8Array(0)

  constructor (keepsFramesApart: boolean) {
    this.#keepsFramesApart = keepsFramesApart
  }

  get bytes (): Uint8Array {
    return concat(...this.frames, this.unfinished)
  }

  append (bytes: Uint8Array): void {
    this.unfinished = concat(this.unfinished, bytes)
  }

  /** Behind whole frames; where frames are not kept apart there are none that are not whole */
  push (bytes: Uint8Array): void {
    if (!this.#keepsFramesApart) {
      this.endFrame()
    }

    this.frames.push(bytes)
  }

  prepend (bytes: Uint8Array): void {
    this.frames.unshift(bytes)
  }

  takeFirst (): Uint8Array {
    return this.frames.shift() ?? new Uint8Array(0)
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

test.each([false, true])('a read buffer gives back what it was given, in order (frames kept apart: %s)', keepsFramesApart => {
  fc.assert(fc.property(steps, steps => {
    const buffer = new ReadBuffer(keepsFramesApart)
    const model = new Model(keepsFramesApart)

    for (const [seed, step] of steps.entries()) {
      if (step.does === 'append') {
        for (const size of step.sizes) {
          const view = pattern(size, seed)
          buffer.append(view)
          model.append(view)
        }
      } else if (step.does === 'prepend' || step.does === 'push') {
        const bytes = pattern(step.size, seed)
        buffer[step.does](bytes)
        model[step.does](bytes)
      } else if (step.does === 'take') {
        if (buffer.isReady) {
          const expected = keepsFramesApart ? model.takeFirst() : model.takeAll()
          expect(equals(buffer.take().subarray(), expected)).toBe(true)
        }
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
      } else if (does === 'keep' || buffer.isReady) {
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
