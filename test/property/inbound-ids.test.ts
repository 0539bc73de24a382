// Law: an id may be taken once, in any order.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InboundIds } from '../../src/core/stream-table.ts'

test('an id may be taken if and only if it was not taken before', () => {
  // fewer ids than ranges are remembered, so that none is given up
  const numbers = fc.array(fc.oneof(fc.nat(30), fc.nat(2000)), { maxLength: 300, size: 'max' })

  fc.assert(fc.property(fc.constantFrom(1, 2), numbers, (first, numbers) => {
    const ids = new InboundIds(first)
    const taken = new Set<number>()

    for (const number of numbers) {
      const id = first + 2 * number
      expect(ids.take(id)).toBe(!taken.has(id))
      taken.add(id)
    }
  }))
})
