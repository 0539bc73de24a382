// What all windows of a connection may grow by together.
import { expect, test } from 'vitest'
import { ConnectionBudget } from '../../../src/core/flow/connection-budget.ts'

test('a budget grants wishes until it is spent, the last one in part', () => {
  const budget = new ConnectionBudget(1000)

  expect([600, 300, 300, 300].map(wish => budget.take(wish))).toEqual([600, 300, 100, 0])
  expect(budget.availableBytes).toBe(0)
})

test('a budget has what is given back', () => {
  const budget = new ConnectionBudget(1000)
  budget.take(1000)
  budget.giveBack(400)

  expect(budget.availableBytes).toBe(400)
  expect(budget.take(1000)).toBe(400)
})
