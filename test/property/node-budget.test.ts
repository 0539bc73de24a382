// Law: windows of a node grow within its limit, what streams took comes back, and a limit that is far away changes nothing.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NodeBudget } from '../../src/core/window/node-budget.ts'
import { ReceiveWindow } from '../../src/core/window/receive-window.ts'
import { createBudget } from '../../testing/core/budgets.ts'
import type { ConnectionBudget } from '../../src/core/window/connection-budget.ts'

const INITIAL_BYTES = 262_144
const MAX_BYTES = 4_194_304
const CONNECTION_BYTES = 2_000_000
const RESERVE_BYTES = 300_000
const CONNECTIONS = 3
const STREAMS = 4

const moves = fc.array(fc.record({
  connection: fc.nat(CONNECTIONS - 1),
  stream: fc.nat(STREAMS - 1),
  does: fc.constantFrom('read', 'read', 'read', 'raise', 'headStart', 'tolerate', 'relieve', 'end'),
  part: fc.double({ min: 0, max: 1, noNaN: true }),
  afterMs: fc.nat(2000),
  initialBytes: fc.constantFrom(INITIAL_BYTES, 400_000)
}), { minLength: 20, maxLength: 150, size: 'max' })

type Move = typeof moves extends fc.Arbitrary<Array<infer T>> ? T : never

class Node {
  readonly budget: NodeBudget
  readonly connections: Array<{ budget: ConnectionBudget, windows: Array<ReceiveWindow | undefined> }>
  /** All that was granted */
  readonly deltas: number[] = []
  #nowMs = 0

  constructor (totalBytes: number) {
    this.budget = new NodeBudget(totalBytes)
    this.connections = Array.from({ length: CONNECTIONS }, () => ({ budget: createBudget(CONNECTION_BYTES, RESERVE_BYTES, this.budget), windows: new Array<undefined>(STREAMS) }))
  }

  get usedBytes (): number {
    return this.budget.maxBytes - this.budget.freeBytes
  }

  get windows (): ReceiveWindow[] {
    return this.connections.flatMap(({ windows }) => windows.filter(window => window !== undefined))
  }

  take ({ connection, stream, does, part, afterMs, initialBytes }: Move): void {
    const { budget, windows } = this.connections[connection]
    const window = windows[stream]
    this.#nowMs += afterMs

    if (window === undefined) {
      windows[stream] = new ReceiveWindow(initialBytes, MAX_BYTES)
      budget.add(windows[stream])
    } else if (does === 'read') {
      const bytes = Math.floor(part * window.availableBytes)
      window.receive(bytes, 1)
      window.read(bytes, this.#nowMs)
      this.deltas.push(window.isUpdateDue(this.#nowMs, 1000, 0) ? window.takeUpdate(this.#nowMs, 1000, budget, 0) : 0)
    } else if (does === 'raise') {
      this.deltas.push(window.raise(Math.floor(part * 1_000_000), this.#nowMs, budget))
    } else if (does === 'headStart') {
      this.deltas.push(Number(window.addHeadStart(part * 20, budget)))
    } else if (does === 'tolerate') {
      this.deltas.push(Number(window.tolerate(Math.floor(part * 500_000), MAX_BYTES, budget)))
    } else if (does === 'relieve') {
      this.deltas.push(Number(window.relieve(MAX_BYTES, this.#nowMs, budget)))
    } else {
      budget.release(window)
      windows[stream] = undefined
    }
  }

  end (): void {
    this.connections.forEach(({ budget, windows }) => { windows.forEach(window => window && budget.release(window)) })
  }
}

test('windows of several connections exceed the limit by no more than those that streams began with, and all comes back', () => {
  let holds = 0

  fc.assert(fc.property(fc.integer({ min: 0, max: 8_000_000 }), moves, (totalBytes, moves) => {
    const node = new Node(totalBytes)

    for (const move of moves) {
      const { usedBytes } = node
      const before = node.windows.length
      node.take(move)
      const isNew = node.windows.length > before

      expect(node.usedBytes).toBe(node.windows.reduce((sum, { windowBytes, raiseBytes }) => sum + windowBytes + raiseBytes, 0))
      expect(node.usedBytes).toBeLessThanOrEqual(isNew ? usedBytes + move.initialBytes : Math.max(totalBytes, usedBytes))
      node.windows.forEach(window => { expect(window.grownBytes).toBeGreaterThanOrEqual(0) })
    }

    holds += Number(node.budget.heldMs > 0)
    node.end()
    expect(node.budget.freeBytes).toBe(totalBytes)
  }))

  expect(holds).toBeGreaterThan(0)
})

test('a limit that no connection comes near grants what none grants', () => {
  fc.assert(fc.property(moves, moves => {
    const [limited, free] = [new Node(1_000_000_000), new Node(Infinity)]
    moves.forEach(move => { limited.take(move); free.take(move) })

    expect(limited.deltas).toEqual(free.deltas)
    expect(limited.windows.map(({ windowBytes }) => windowBytes)).toEqual(free.windows.map(({ windowBytes }) => windowBytes))
  }))
})
