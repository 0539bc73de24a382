// What all windows of a connection may grow by together, and how they share it.
import { expect, test } from 'vitest'
import { createBudget, freeBytesOf } from '../../../testing/core/budgets.ts'
import type { BudgetHolder, ConnectionBudget } from '../../../src/core/window/connection-budget.ts'

/** A window of what it has taken */
function share (): BudgetHolder {
  return {
    grownBytes: 0,
    headStartBytes: 0,
    reserveBytes: 0,
    toleratedBytes: 0,
    isDenied: false,
    raiseBytes: 0,
    get windowBytes () { return this.grownBytes + this.headStartBytes + this.reserveBytes }
  }
}

/** As windows do: what is too much goes back when they are renewed, then they ask again */
function renew (budget: ConnectionBudget, shares: BudgetHolder[], wishBytes: number): void {
  for (const share of shares) {
    budget.giveBack(share, budget.excessBytes(share, 0))
    budget.take(share, wishBytes, 0)
  }
}

test('one window may have all of it, the last wish is granted in part', () => {
  const budget = createBudget(1000)
  const one = share()

  expect([600, 300, 300, 300].map(wish => budget.take(one, wish, 0))).toEqual([600, 300, 100, 0])
  expect([one.grownBytes, budget.availableBytes]).toEqual([1000, 0])
  expect(budget.excessBytes(one, 0)).toBe(0)
})

test('while there is enough, nobody is held to a fair part', () => {
  const budget = createBudget(1000)
  const one = share()
  const other = share()
  budget.take(other, 100, 0)

  expect(budget.take(one, 800, 0)).toBe(800)
  expect(budget.excessBytes(one, 0)).toBe(0)
})

test('who holds more than its fair part owes the rest as soon as another is denied its own', () => {
  const budget = createBudget(1000)
  const one = share()
  const other = share()
  budget.take(one, 1000, 0)

  expect(budget.take(other, 400, 0)).toBe(0)
  expect([budget.excessBytes(one, 0), budget.excessBytes(other, 0)]).toEqual([500, 0])

  budget.giveBack(one, 500)
  expect(budget.take(other, 400, 0)).toBe(400)
  expect(budget.take(one, 100, 0)).toBe(0)
})

test('who asks for more than its fair part is not denied it', () => {
  const budget = createBudget(1000)
  const [one, other] = [share(), share()]
  budget.take(one, 500, 0)
  budget.take(other, 500, 0)

  expect(budget.take(other, 500, 0)).toBe(0)
  expect([other.isDenied, budget.excessBytes(one, 0)]).toEqual([false, 0])
})

test('who comes new while others are denied theirs counts itself among them', () => {
  const budget = createBudget(900)
  const [one, other, third] = [share(), share(), share()]
  budget.take(one, 900, 0)
  budget.take(other, 400, 0)
  budget.giveBack(one, 450)

  expect(budget.take(third, 400, 0)).toBe(300)
})

test.each([2, 3, 10, 1000])('%i windows that always want more end up with the same, whoever was first', count => {
  const budget = createBudget(1_000_000)
  const shares = Array.from({ length: count }, share)

  for (let round = 0; round < 30; round++) {
    renew(budget, shares, 262_144)
  }

  const grown = shares.map(({ grownBytes }) => grownBytes)
  expect(Math.max(...grown) - Math.min(...grown)).toBeLessThanOrEqual(count)
  expect(grown.reduce((sum, bytes) => sum + bytes, 0) + budget.availableBytes).toBe(1_000_000)
})

test('a window that is no more frees what it held, and is counted no more', () => {
  const budget = createBudget(1000)
  const [one, other, third] = [share(), share(), share()]
  budget.take(one, 1000, 0)
  budget.take(other, 100, 0)
  budget.take(third, 100, 0)
  expect(budget.excessBytes(one, 0)).toBe(667)

  budget.release(other)
  expect(budget.excessBytes(one, 0)).toBe(500)
  budget.release(third)
  expect(budget.excessBytes(one, 0)).toBe(0)
  budget.release(one)
  expect(budget.availableBytes).toBe(1000)
})

test('a denial is forgotten after 5 s: who fell idle does not keep the others small', () => {
  const budget = createBudget(1000)
  const [one, idle] = [share(), share()]
  budget.take(one, 1000, 0)
  budget.take(idle, 400, 100)
  budget.giveBack(one, budget.excessBytes(one, 5099))
  expect([one.grownBytes, budget.take(one, 500, 5099)]).toEqual([500, 0])

  expect(budget.take(one, 500, 5100)).toBe(500)
  expect(budget.excessBytes(one, 5100)).toBe(0)
})

test('all head starts together take half of it at most, each an eighth of what is left of that', () => {
  const budget = createBudget(1600)
  const shares = Array.from({ length: 100 }, share)

  expect([1000, 50, 1000].map((wish, i) => budget.takeHeadStart(shares[i], wish))).toEqual([100, 50, 81])
  shares.slice(3).forEach(share => { budget.takeHeadStart(share, 1000) })
  expect(budget.availableBytes).toBeGreaterThanOrEqual(800)
  expect(budget.availableBytes).toBeLessThan(810)
})

test('a head start is no part of it: one window may grow by all the rest, and nobody is denied anything', () => {
  const budget = createBudget(1600)
  const one = share()
  const growing = share()
  budget.takeHeadStart(one, 100)

  expect(budget.fairRestBytes(growing)).toBe(1500)
  expect(budget.take(growing, 1600, 0)).toBe(1500)
  expect([growing.isDenied, budget.excessBytes(growing, 0)]).toEqual([false, 0])
})

test('what is left when windows have grown is all that a head start can be', () => {
  const budget = createBudget(1600)
  budget.take(share(), 1590, 0)

  expect(budget.takeHeadStart(share(), 100)).toBe(10)
})

test('a head start is there for others when its window is no more', () => {
  const budget = createBudget(1600)
  const one = share()
  budget.takeHeadStart(one, 100)
  budget.release(one)

  expect([one.headStartBytes, budget.availableBytes, budget.takeHeadStart(share(), 100)]).toEqual([0, 1600, 100])
})

test('what is kept goes to a share that is denied its fair part, a quarter to each, and comes back with it', () => {
  const budget = createBudget(8000, 4000)
  const standing = share()
  const late = Array.from({ length: 5 }, share)
  budget.take(standing, 8000, 0)
  expect(late.map(one => budget.take(one, 8000, 10_000))).toEqual([1000, 1000, 1000, 1000, 0])
  // no more by asking again
  expect(budget.take(late[0], 8000, 10_001)).toBe(0)

  budget.release(late[0])
  expect(budget.take(late[4], 8000, 10_002)).toBe(1000)
  ;[standing, ...late].forEach(one => { budget.release(one) })
  expect(freeBytesOf(budget)).toBe(12_000)
})

test('what is kept is not for a share that gets its fair part', () => {
  const budget = createBudget(8000, 4000)
  const one = share()

  expect(budget.take(one, 16_000, 0)).toBe(8000)
  expect(one.reserveBytes).toBe(0)
})

test('a window that shrinks frees first what it has grown by, then its part of the reserve, then its head start', () => {
  const budget = createBudget(1000, 400)
  const [one, other] = [share(), share()]
  budget.takeHeadStart(one, 60)
  budget.take(other, 500, 0)
  budget.take(one, 1000, 0)
  expect([one.grownBytes, one.reserveBytes, one.headStartBytes]).toEqual([440, 30, 60])

  budget.shrink(one, 400)
  expect([one.grownBytes, one.reserveBytes, one.headStartBytes, freeBytesOf(budget)]).toEqual([40, 30, 60, 770])
  budget.shrink(one, 80)
  expect([one.grownBytes, one.reserveBytes, one.headStartBytes, freeBytesOf(budget)]).toEqual([0, 0, 50, 850])
  budget.release(one)
  expect(freeBytesOf(budget)).toBe(900)
})

test('a window that shrinks is no longer denied anything, so others need not share with it', () => {
  const budget = createBudget(1000)
  const [one, other] = [share(), share()]
  budget.take(other, 1000, 0)
  budget.take(one, 100, 0)
  expect(budget.excessBytes(other, 0)).toBe(500)

  budget.shrink(one, 0)
  expect(budget.excessBytes(other, 0)).toBe(0)
})
