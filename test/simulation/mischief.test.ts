// What mischief is made of: each piece does what the laws of the search take it to do.
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, it } from 'vitest'
import { ChangingBytes } from './search/changing-bytes.ts'
import { foreignCopy, foreignList, foreignRejected } from './search/foreign.ts'
import { createSink } from './search/metrics-sink.ts'
import { MISCHIEFS } from './search/mischief.ts'
import { eagerLogger, oddValue } from './search/odd-faults.ts'
import { planOf } from './search/plan.ts'
import { ApplicationFault, isError, print, printable } from './search/run.ts'
import { refuseWrite } from './search/unruly-link.ts'
import { Random } from '../../testing/simulation/random.ts'
import { simulate } from '../../testing/simulation/simulate.ts'

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

describe('bytes that change', () => {
  it('are what was sent until then, and often not after it', () => {
    const random = new Random(1)
    const sent = Uint8Array.from({ length: 100 }, (_, index) => index)
    let changed = 0

    for (let i = 0; i < 60; i++) {
      const bytes = new ChangingBytes(sent, random)
      expect([...bytes.view]).toEqual([...sent])
      const isChanged = bytes.change()
      expect(isChanged).toBe(bytes.view.byteLength < sent.byteLength)
      changed += Number(isChanged)
    }

    expect(changed).toBeGreaterThan(20)
    expect(changed).toBeLessThan(60)
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

describe('a sink', () => {
  it('tells of violations by their code, and of all else without', () => {
    const told: string[] = []
    const sink = createSink(() => { told.push('told') }, code => { told.push(code) })
    sink.registerCounterGroup('flushes_total').increment({ turn: 1 })
    sink.registerCounterGroup('violations_total').increment({ ERR_INVALID_FRAME: 1 })

    expect(told).toEqual(['told', 'ERR_INVALID_FRAME'])
  })
})

describe('a transport that throws', () => {
  it('takes nothing of that write, and all of the others', async () => {
    const taken = await simulate({}, sim => {
      const link = sim.link({ rateBytesPerS: Infinity, delayMs: 0 })
      refuseWrite(link.diallerEnd, { isDialler: true, write: 2, ofFins: false }, () => new ApplicationFault('broken'))
      link.diallerEnd.send(new Uint8Array(12))
      expect(() => link.diallerEnd.send(new Uint8Array(24))).toThrow('broken')
      link.diallerEnd.send(new Uint8Array(36))

      return link.toListener.bytesHandedDown
    })

    expect(taken).toBe(48)
  })
})
