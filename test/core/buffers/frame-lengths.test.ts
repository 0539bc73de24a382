// The queue of frame lengths: in order, whatever their size, and small.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameLengths } from '../../../src/core/buffers/read-buffer.ts'

test('lengths come out in the order of a plain array, whatever is pushed and taken when', () => {
  const length = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom(127, 128, 16_383, 16_384, 2 ** 21, 2 ** 28, 2 ** 32 - 1))
  const steps = fc.array(fc.oneof(
    { weight: 6, arbitrary: fc.record({ does: fc.constant('push' as const), length, times: fc.integer({ min: 1, max: 50 }) }) },
    { weight: 6, arbitrary: fc.record({ does: fc.constant('shift' as const), length: fc.constant(0), times: fc.integer({ min: 1, max: 60 }) }) }
  ), { minLength: 1, maxLength: 200 })

  fc.assert(fc.property(steps, steps => {
    const lengths = new FrameLengths()
    const model: number[] = []

    for (const { does, length, times } of steps) {
      for (let i = 0; i < times; i++) {
        if (does === 'push') {
          lengths.push(length)
          model.push(length)
        } else if (model.length > 0) {
          expect(lengths.shift()).toBe(model.shift())
        }
      }

      expect(lengths.count).toBe(model.length)
    }

    while (model.length > 0) {
      expect(lengths.shift()).toBe(model.shift())
    }
  }))
})
