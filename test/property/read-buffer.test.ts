// Law: a read buffer is a queue of messages, which it merges from a certain length on, whatever is kept in between.
import fc from 'fast-check'
import { equals } from 'uint8arrays/equals'
import { expect, test } from 'vitest'
import { ReadBuffer } from '../../src/core/buffers/read-buffer.ts'
import { concat, pattern } from '../../testing/protocol/frames.ts'

const size = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 40_000 }))
const steps = fc.array(fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('append' as const), frameBytes: fc.constantFrom(100, 1000, 20_000, 100_000), sizes: fc.array(size, { minLength: 1, maxLength: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('endFrame' as const) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('detach' as const) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('take' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('unshift' as const, 'push' as const), size }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('clear' as const) }) }
), { maxLength: 50, size: 'max' })

/** What the buffer is to do, in a way that is too slow to do it in */
class Model {
  readonly #mergeFromBytes: number
  #isMerged: boolean
  front: Uint8Array = new Uint8Array(0)
  frames: Uint8Array[] = []
  unfinished: Uint8Array = new Uint8Array(0)

  constructor (mergeFromBytes: number) {
    this.#mergeFromBytes = mergeFromBytes
    this.#isMerged = mergeFromBytes === 0
  }

  get bytes (): Uint8Array {
    return concat(this.front, ...this.frames, this.unfinished)
  }

  /** A frame that is long enough to be merged is handed over as it comes; so is one that comes whole */
  append (bytes: Uint8Array, frameBytes: number): void {
    if (frameBytes >= this.#mergeFromBytes || bytes.byteLength === frameBytes) {
      this.#add(bytes)
    } else {
      this.unfinished = concat(this.unfinished, bytes)
    }
  }

  /** Behind whole frames */
  push (bytes: Uint8Array): void {
    this.#add(bytes)
  }

  unshift (bytes: Uint8Array): void {
    this.front = concat(bytes, this.front)
  }

  /** A message, or all that can be taken from when so much of it waits that messages are merged */
  take (): Uint8Array {
    const count = this.#isMerged ? this.frames.length : 1
    const bytes = concat(this.front, ...this.frames.splice(0, count))
    this.front = new Uint8Array(0)
    this.#isMerged = this.#mergeFromBytes === 0

    return bytes
  }

  get isReady (): boolean {
    return this.front.byteLength > 0 || this.frames.length > 0
  }

  endFrame (): void {
    if (this.unfinished.byteLength > 0) {
      const frame = this.unfinished
      this.unfinished = new Uint8Array(0)
      this.#add(frame)
    }
  }

  clear (): void {
    this.frames = []
    this.front = new Uint8Array(0)
    this.unfinished = new Uint8Array(0)
    this.#isMerged = this.#mergeFromBytes === 0
  }

  #add (frame: Uint8Array): void {
    this.frames.push(frame)
    this.#isMerged ||= concat(this.front, ...this.frames).byteLength >= this.#mergeFromBytes
  }
}

test.each([0, 500, 16_384, Infinity])('a read buffer gives back what it was given, in order (merged from %s bytes)', mergeFromBytes => {
  fc.assert(fc.property(steps, steps => {
    const buffer = new ReadBuffer(mergeFromBytes)
    const model = new Model(mergeFromBytes)

    for (const [seed, step] of steps.entries()) {
      if (step.does === 'append') {
        const isWhole = step.sizes.includes(step.frameBytes)

        // neither a long frame nor one that comes whole begins before the last has come to its end
        if (step.frameBytes >= mergeFromBytes || isWhole) {
          buffer.endFrame()
          model.endFrame()
        }

        for (const size of isWhole ? [step.frameBytes] : step.sizes) {
          const view = pattern(size, seed)
          buffer.append(view, step.frameBytes)
          model.append(view, step.frameBytes)

          if (size === step.frameBytes) {
            // one that comes whole is at its end
            buffer.endFrame()
            model.endFrame()
          }
        }
      } else if (step.does === 'unshift' || step.does === 'push') {
        const bytes = pattern(step.size, seed)
        buffer[step.does](bytes)
        model[step.does](bytes)
      } else if (step.does === 'take') {
        if (buffer.readyBytes > 0) {
          expect(equals(buffer.take().subarray(), model.take())).toBe(true)
        }
      } else {
        buffer[step.does]()

        if (step.does !== 'detach') {
          model[step.does]()
        }
      }

      expect(buffer.byteLength).toBe(model.bytes.byteLength)
      expect(buffer.readyBytes > 0).toBe(model.isReady)
    }
  }), { numRuns: 60 })
})

test.each([false, true])('what is kept is independent of the chunks it came in, whatever was taken before (frames kept apart: %s)', keepsFramesApart => {
  const steps = fc.array(fc.constantFrom('append', 'append', 'take', 'detach'), { maxLength: 20, size: 'max' })

  fc.assert(fc.property(steps, fc.array(size, { minLength: 20, maxLength: 20 }), (steps, sizes) => {
    const buffer = new ReadBuffer(keepsFramesApart ? Infinity : 0)
    const chunks: Uint8Array[] = []

    for (const [i, does] of steps.entries()) {
      if (does === 'append') {
        const chunk = new Uint8Array(sizes[i])
        chunks.push(chunk)
        buffer.append(chunk)
        buffer.endFrame()
      } else if (does === 'detach' || buffer.readyBytes > 0) {
        buffer[does as 'take' | 'detach']()
      }
    }

    buffer.detach()
    const memory = new Set(chunks.map(chunk => chunk.buffer))

    while (buffer.readyBytes > 0) {
      expect([...buffer.take()].some(part => memory.has(part.buffer as ArrayBuffer))).toBe(false)
    }
  }), { numRuns: 200 })
})
