// What mischief is made of, where nothing else would show that it has become harmless: npm run mutants has bugs that the rest of it finds.
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, it } from 'vitest'
import { foreignCopy, foreignList, foreignRejected } from './search/foreign.ts'
import { MISCHIEFS } from './search/mischief.ts'
import { eagerLogger, oddValue } from './search/odd-faults.ts'
import { planOf } from './search/plan.ts'
import { isError, print, printable } from './search/run.ts'
import { Random } from '../../testing/simulation/random.ts'

const SEEDS = 2000

describe('a plan', () => {
  it('has no mischief in most runs, and each kind in some', () => {
    const plans = Array.from({ length: SEEDS }, (_, index) => planOf(index + 1).mischief)

    expect(plans.filter(({ kinds }) => kinds.length === 0).length).toBeGreaterThan(SEEDS / 2)
    expect(plans.filter(({ neighbour }) => neighbour != null).length).toBeGreaterThan(SEEDS / 20)

    for (const kind of MISCHIEFS) {
      expect(plans.filter(({ kinds }) => kinds.includes(kind)).length).toBeGreaterThan(SEEDS / 25)
    }
  })
})

describe('things of another realm', () => {
  it('are bytes and promises, and no instances of those of this one', async () => {
    const copy = foreignCopy(Uint8Array.of(1, 2, 3))
    const list = foreignList(Uint8Array.of(1), Uint8Array.of(2, 3))
    const rejected = foreignRejected('the reason')

    expect(copy instanceof Uint8Array).toBe(false)
    expect(ArrayBuffer.isView(copy)).toBe(true)
    expect([...copy]).toEqual([1, 2, 3])
    expect(list).toBeInstanceOf(Uint8ArrayList)
    expect(list.byteLength).toBe(3)
    expect(rejected instanceof Promise).toBe(false)
    await expect(Promise.resolve(rejected)).rejects.toBe('the reason')
  })
})

describe('odd faults', () => {
  it('can be asked about without harm, and not printed as they are', () => {
    const random = new Random(1)
    const log = eagerLogger()
    let unprintable = 0

    for (let i = 0; i < 100; i++) {
      const value = oddValue(random)
      expect(typeof isError(value)).toBe('boolean')
      expect(typeof print(value)).toBe('string')
      expect(typeof printable(value).stack).toBe('string')

      try {
        log.error('failed - %e', value)
      } catch {
        unprintable++
      }
    }

    expect(unprintable).toBeGreaterThan(10)
  })
})
