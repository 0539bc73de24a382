// Budgets of connections, on a node without a limit unless there is one.
import { NodeBudget } from '../../src/core/window/node-budget.ts'
import { ConnectionBudget } from '../../src/core/window/connection-budget.ts'

/** What is left of it, its reserve included */
export function freeBytesOf ({ availableBytes, reserveBytes }: ConnectionBudget): number {
  return availableBytes + reserveBytes
}

export function createBudget (totalBytes: number, reserveBytes = 0, node = new NodeBudget(Infinity)): ConnectionBudget {
  return new ConnectionBudget(totalBytes, reserveBytes, node)
}
