// What all windows of a node may be together, and how its connections share that.
import { expect, test } from 'vitest'
import { createBudget } from '../../../testing/core/budgets.ts'
import { NodeBudget } from '../../../src/core/window/node-budget.ts'
import { ReceiveWindow } from '../../../src/core/window/receive-window.ts'
import type { ConnectionBudget } from '../../../src/core/window/connection-budget.ts'

const INITIAL_BYTES = 262_144
const MAX_BYTES = 16_777_216
/** A connection's own limit, which is in nobody's way */
const FAR_BYTES = 1_000_000_000
const NODE_BYTES = 8_000_000

/** A connection of the node with the window of one stream */
class Share {
  readonly budget: ConnectionBudget
  readonly window: ReceiveWindow

  constructor (node: NodeBudget, initialBytes = INITIAL_BYTES) {
    this.budget = createBudget(FAR_BYTES, 0, node)
    this.window = this.open(initialBytes)
  }

  /** Another stream of the connection */
  open (initialBytes = INITIAL_BYTES): ReceiveWindow {
    const window = new ReceiveWindow(initialBytes, MAX_BYTES)
    this.budget.add(window)

    return window
  }

  grow (wishBytes = MAX_BYTES, nowMs = 0, window = this.window): number {
    return window.raise(wishBytes, nowMs, this.budget)
  }

  /** All that a window allows arrives, is read and given back. Nothing speaks for growth, as no round trip was measured. */
  renew (nowMs: number, window = this.window): void {
    window.takeUpdate(nowMs, undefined, this.budget, 0)
    const bytes = window.availableBytes
    window.receive(bytes, 1)
    window.read(bytes, nowMs)
    window.takeUpdate(nowMs, undefined, this.budget, 0)
  }
}

/** All of them give back what they have to, and ask for more, again and again */
function use (shares: Share[], rounds = 50): void {
  for (let round = 0; round < rounds; round++) {
    for (const share of shares) {
      share.renew(round * 100)
      share.grow(MAX_BYTES, round * 100)
    }
  }
}

test('windows of one connection may have seven eighths of what the first windows of streams leave', () => {
  const node = new NodeBudget(NODE_BYTES)
  const [one] = [new Share(node), new Share(node)]
  const freeBytes = NODE_BYTES - 2 * INITIAL_BYTES

  expect(one.grow()).toBe(Math.floor(freeBytes * 7 / 8))
  expect(one.grow()).toBe(0)
  expect(node.freeBytes).toBe(freeBytes - one.window.grownBytes)
})

test('something is always left for a connection that comes later, though others give nothing back', () => {
  const node = new NodeBudget(NODE_BYTES)
  const shares = Array.from({ length: 4 }, () => new Share(node))

  for (const share of shares) {
    const { freeBytes } = node
    expect(share.grow()).toBe(Math.floor(freeBytes * 7 / 8))
    expect(node.freeBytes).toBeGreaterThan(0)
  }
})

test('connections that need more come to have the same', () => {
  const node = new NodeBudget(NODE_BYTES)
  const shares = [new Share(node), new Share(node), new Share(node)]
  use(shares.slice(0, 1))
  use(shares)
  // seven parts for each, and one that is left
  const partBytes = (NODE_BYTES - 3 * INITIAL_BYTES) / 22

  for (const { window } of shares) {
    expect(Math.abs(window.grownBytes - 7 * partBytes)).toBeLessThan(0.001 * window.grownBytes)
  }
})

test('a connection with many streams has no more than one with a single stream', () => {
  const node = new NodeBudget(NODE_BYTES)
  const [many, single] = [new Share(node), new Share(node)]
  const windows = [many.window, ...Array.from({ length: 9 }, () => many.open())]

  for (let round = 0; round < 50; round++) {
    windows.forEach(window => { many.renew(round, window) })
    windows.forEach(window => { many.grow(MAX_BYTES, round, window) })
    use([single], 1)
  }

  const manyBytes = windows.reduce((sum, { grownBytes }) => sum + grownBytes, 0)
  expect(Math.abs(manyBytes - single.window.grownBytes)).toBeLessThan(0.01 * single.window.grownBytes)
  expect(Math.max(...windows.map(({ grownBytes }) => grownBytes))).toBeLessThan(1.1 * Math.min(...windows.map(({ grownBytes }) => grownBytes)))
})

test('how long it holds windows back is counted from the first to the last time that they ask, and a pause of five seconds ends that', () => {
  const node = new NodeBudget(NODE_BYTES)
  const share = new Share(node)
  share.grow(1_000_000, 1000)
  expect(node.heldMs).toBe(0)

  share.grow(MAX_BYTES, 1000)
  expect(node.heldMs).toBe(0)
  share.grow(MAX_BYTES, 1600)
  expect(node.heldMs).toBe(600)
  share.grow(MAX_BYTES, 60_000)
  expect(node.heldMs).toBe(600)
  share.grow(MAX_BYTES, 60_100)
  expect(node.heldMs).toBe(700)
})

test('the time that it holds windows back never falls when a connection asks for the time of an older chunk', () => {
  const node = new NodeBudget(NODE_BYTES)
  const heldMs = [1000, 4000, 1500, 4500].map(nowMs => {
    node.hold(nowMs)

    return node.heldMs
  })
  expect(heldMs).toEqual([0, 3000, 3000, 3500])
})

test('streams begin with their windows although there is no room, and what others have grown by makes some', () => {
  const node = new NodeBudget(NODE_BYTES)
  const one = new Share(node)
  one.grow()
  const late = Array.from({ length: 10 }, () => new Share(node, 1_000_000))
  expect(late.map(({ window }) => window.windowBytes + window.raiseBytes)).toEqual(new Array(10).fill(1_000_000))
  expect(node.freeBytes).toBeLessThan(-8_000_000)

  one.renew(10_000)
  expect(one.window.grownBytes).toBe(0)
  expect(node.freeBytes).toBe(NODE_BYTES - 10_000_000 - INITIAL_BYTES)
  expect([one.grow(), late[0].grow()]).toEqual([0, 0])
})

test('a head start is an eighth of what is free', () => {
  const node = new NodeBudget(1_000_000)
  const { window, budget } = new Share(node)
  window.addHeadStart(1000, budget)
  expect(window.headStartBytes).toBe(Math.floor((1_000_000 - INITIAL_BYTES) / 8))
  expect(node.freeBytes).toBe(1_000_000 - INITIAL_BYTES - window.headStartBytes)

  const none = new Share(new NodeBudget(0))
  expect(none.window.addHeadStart(1000, none.budget)).toBe(false)
})

test('bytes beyond a window are tolerated as far as there is room', () => {
  const node = new NodeBudget(1_000_000)
  const { window, budget } = new Share(node)
  const roomBytes = 1_000_000 - INITIAL_BYTES

  expect(window.tolerate(roomBytes + 1, Infinity, budget)).toBe(false)
  expect(window.tolerate(roomBytes, Infinity, budget)).toBe(true)
  expect(window.tolerate(1, Infinity, budget)).toBe(false)
  expect(node.freeBytes).toBe(0)
})

test('a connection takes no more of its reserve than is free', () => {
  const node = new NodeBudget(1_000_000)
  const budget = createBudget(100_000, 4_000_000, node)
  const [one, other] = [new ReceiveWindow(INITIAL_BYTES, MAX_BYTES), new ReceiveWindow(INITIAL_BYTES, MAX_BYTES)]
  budget.add(one)
  budget.add(other)
  one.raise(100_000, 0, budget)
  expect(node.freeBytes).toBe(1_000_000 - 2 * INITIAL_BYTES - 100_000)
  node.freeBytes = 10_000

  expect(other.raise(50_000, 0, budget)).toBe(10_000)
  expect(other.reserveBytes).toBe(10_000)
  expect(node.freeBytes).toBe(0)
})

test('all that a stream had is there for others when it has ended', () => {
  const node = new NodeBudget(NODE_BYTES)
  const budget = createBudget(100_000, 400_000, node)
  const window = new ReceiveWindow(INITIAL_BYTES + 10_000, MAX_BYTES)
  budget.add(window)
  window.addHeadStart(20, budget)
  window.tolerate(50_000, Infinity, budget)
  const other = new ReceiveWindow(INITIAL_BYTES, MAX_BYTES)
  budget.add(other)
  other.raise(60_000, 0, budget)
  window.raise(1_000_000, 0, budget)
  window.takeUpdate(0, undefined, budget, 0)
  expect([window.headStartBytes, window.grownBytes, window.reserveBytes, window.toleratedBytes].every(bytes => bytes > 0)).toBe(true)
  expect(node.freeBytes).toBe([window, other].reduce((rest, { windowBytes, raiseBytes }) => rest - windowBytes - raiseBytes, NODE_BYTES))

  budget.release(window)
  budget.release(other)
  expect(node.freeBytes).toBe(NODE_BYTES)
})
