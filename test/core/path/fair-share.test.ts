// What is due to a connection on a line that others fill.
import { beforeEach, expect, test } from 'vitest'
import { FairShare } from '../../../src/core/path/fair-share.ts'
import { NodePaths } from '../../../src/core/path/node-paths.ts'
import type { NodePath } from '../../../src/core/path/node-paths.ts'

function createPath (bytesPerMs: number, ownQueueMs: number): NodePath {
  return { bytesPerMs, boundBytes: 100_000, lastRoundTripMs: 150, queueMs: 100, ownQueueMs, sampledMs: 0, waitsSinceMs: Infinity, canDrain: true, drain () {} }
}

let nodePaths: NodePaths

beforeEach(() => { nodePaths = new NodePaths() })

/** Of a path that carries so much, and has carried `lately` */
function createShare (bytesPerMs: number, lately: number): FairShare {
  const share = new FairShare({ ...createPath(bytesPerMs, 15), get bytesPerMs () { return rate } }, nodePaths)
  let rate = lately
  share.learn(false, 0)
  rate = bytesPerMs

  return share
}

test('is nothing, and no queue, for a connection that has the line to itself', () => {
  const share = createShare(100, 1000)
  share.look(0)

  expect([share.bytesPerMs, share.queueMs]).toEqual([0, 0])
})

test('is the mean of what it carries and the others do', () => {
  const share = createShare(100, 1000)
  nodePaths.note(createPath(900, 60), 0)
  share.look(0)

  expect([share.bytesPerMs, share.queueMs]).toEqual([500, 60])
})

test('is a quarter more than what it has carried in the last minute at most: the others may have lines of their own', () => {
  const share = createShare(100, 200)
  nodePaths.note(createPath(90_000, 60), 0)
  share.look(0)

  expect(share.bytesPerMs).toBe(250)
})

test('is nothing any more while pongs wait behind the data of the peer itself', () => {
  const share = createShare(100, 1000)
  nodePaths.note(createPath(900, 60), 0)
  share.look(0)
  share.forget()

  expect([share.bytesPerMs, share.queueMs]).toEqual([0, 0])
})
