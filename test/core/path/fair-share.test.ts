// What is due to a connection on a line that others fill.
import { beforeEach, expect, test } from 'vitest'
import { FairShare } from '../../../src/core/path/fair-share.ts'
import { NodePaths } from '../../../src/core/path/node-paths.ts'
import type { NodePath } from '../../../src/core/path/node-paths.ts'

function createPath (bytesPerMs: number, ownQueueMs: number): NodePath {
  return { bytesPerMs, bound: { bytes: 100_000 }, lastRoundTripMs: 150, queueMs: 100, ownQueueMs, sampledMs: 0, waitsSinceMs: Infinity, canDrain: true, drain () {} }
}

let nodePaths: NodePaths
let share: FairShare

beforeEach(() => {
  nodePaths = new NodePaths()
  share = new FairShare()
})

/** A path carries 100 bytes a millisecond, and has carried so much before; a round has shown that */
function learn (lately: number): void {
  share.learn(createPath(lately, 15), nodePaths, { nowMs: 0, isAppLimited: false, isNewRound: false }, false)
  look()
}

function look (isPeerBounded = false): void {
  share.learn(createPath(100, 15), nodePaths, { nowMs: 0, isAppLimited: false, isNewRound: true }, isPeerBounded)
}

test('is nothing, and no queue, for a connection that has the line to itself', () => {
  learn(1000)

  expect([share.bytesPerMs, share.queueMs]).toEqual([0, 0])
})

test('is the mean of what it carries and the others do', () => {
  nodePaths.note(createPath(900, 60), 0)
  learn(1000)

  expect([share.bytesPerMs, share.queueMs]).toEqual([500, 60])
})

test('is a quarter more than what it has carried in the last minute at most: the others may have lines of their own', () => {
  nodePaths.note(createPath(90_000, 60), 0)
  learn(200)

  expect(share.bytesPerMs).toBe(250)
})

test('is nothing any more while pongs wait behind the data of the peer itself', () => {
  nodePaths.note(createPath(900, 60), 0)
  learn(1000)
  look(true)

  expect([share.bytesPerMs, share.queueMs]).toEqual([0, 0])
})
