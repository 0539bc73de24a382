// The paths of one node: when they empty the link that they share to measure it, how much they carry together, and the fair share of each.
import { beforeEach, describe, expect, test } from 'vitest'
import { FairShare } from '../../src/path/fair-share.ts'
import { NodePaths } from '../../src/path/node-paths.ts'
import type { NodePath } from '../../src/path/node-paths.ts'

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

class FakePath implements Writable<NodePath> {
  bytesPerMs = 1000
  bound = { bytes: 100_000 }
  lastRoundTripMs = 150
  queueMs = 100
  sampledMs = 0
  waitsSinceMs = Infinity
  ownQueueMs = 20
  isStarting = false
  /** When it was told to empty the link, and for how long */
  readonly emptyings: Array<[nowMs: number, emptyInMs: number]> = []

  emptyLink (nowMs: number, emptyInMs: number): void {
    this.emptyings.push([nowMs, emptyInMs])
  }
}

let nodePaths: NodePaths

/** Its last mark took 150 ms, of which it waited for 100 in a queue */
function addPath (init: Partial<NodePath> = {}, nowMs = 0): FakePath {
  const path = Object.assign(new FakePath(), init)
  nodePaths.note(path, nowMs)

  return path
}

/** All have measured something by now */
function sample (nowMs: number, ...paths: FakePath[]): void {
  for (const path of paths) {
    path.sampledMs = nowMs
    nodePaths.note(path, nowMs)
  }
}

/** It seems to be 100 ms longer */
function requestEmptyLink (path: NodePath, nowMs: number, waitsForStartUps = true): string {
  return nodePaths.requestEmptyLink(path, 100, waitsForStartUps, nowMs)
}

/** When they are first allowed to, at times that are a second apart; undefined if never within so many seconds */
function firstSecond (seconds: number, fromMs: number, isAllowed: (nowMs: number) => boolean, ...paths: FakePath[]): number | undefined {
  return Array.from({ length: seconds }, (_, i) => i + 1).find(second => {
    const nowMs = fromMs + 1000 * second
    sample(nowMs, ...paths)

    return isAllowed(nowMs)
  })
}

/** Others that do not seem to share a link with a path whose marks wait for 100 ms */
const OTHERS: Array<[string, Partial<NodePath>]> = [
  ['whose marks wait less than half as long', { queueMs: 49 }],
  ['that has measured nothing for two seconds', { sampledMs: -2000 }],
  ['that has measured nothing for two seconds, and whose mark has waited for ten, for it may be no more', { sampledMs: -2000, waitsSinceMs: -10_000 }],
  ['whose rate is not known, and whose first mark has waited for less than half as long', { queueMs: 0, bytesPerMs: 0, waitsSinceMs: -49 }],
  ['that nothing holds back, as its peer answers nothing', { bound: { bytes: Infinity }, bytesPerMs: 0, waitsSinceMs: -5000 }]
]

/** And those that do */
const SHARING: Array<[string, Partial<NodePath>]> = [
  ['whose marks wait half as long', { queueMs: 50 }],
  ['whose marks wait as long, however little it carries', { bytesPerMs: 1, bound: { bytes: 8192 } }],
  ['that has measured something within two seconds', { sampledMs: -1999 }],
  ['whose rate is not known, and whose first mark has waited half as long, and still does', { queueMs: 0, bytesPerMs: 0, waitsSinceMs: -50 }],
  ['that has measured nothing for two seconds, and whose first mark waits', { sampledMs: -2000, waitsSinceMs: -9999 }]
]

beforeEach(() => {
  nodePaths = new NodePaths()
})

describe('a path that seems longer', () => {
  test('is alone on its link when there is no other', () => {
    const path = addPath()

    expect(requestEmptyLink(path, 0)).toBe('alone')
    expect(path.emptyings).toEqual([])
  })

  test.each(OTHERS)('is alone on its link if there is one %s', (_, init) => {
    const path = addPath()
    const other = addPath(init)

    expect(requestEmptyLink(path, 0)).toBe('alone')
    expect([path.emptyings, other.emptyings]).toEqual([[], []])
  })

  test.each(SHARING)('empties its link together with one %s, for as long as its last mark took', (_, init) => {
    const path = addPath({ lastRoundTripMs: 170 })
    const other = addPath(init)

    expect(requestEmptyLink(path, 0)).toBe('emptying')
    expect([path.emptyings, other.emptyings]).toEqual([[[0, 170]], [[0, 170]]])
  })

  test('empties the link for no longer than twice what the marks of any other take, so that a peer that delays its pongs stops no other path', () => {
    const delayed = addPath({ lastRoundTripMs: 8000 })
    const others = [addPath({ lastRoundTripMs: 5000 }), addPath({ lastRoundTripMs: 70, queueMs: 60 })]
    requestEmptyLink(delayed, 0)

    expect([delayed, ...others].map(({ emptyings }) => emptyings)).toEqual([[[0, 140]], [[0, 140]], [[0, 140]]])
  })

  test('counts a mark of another that has not come back for as long as it waits', () => {
    const [path, other] = [addPath({ lastRoundTripMs: 8000 }), addPath({ lastRoundTripMs: 70, waitsSinceMs: -3000 })]
    requestEmptyLink(path, 0)

    expect([path, other].map(({ emptyings }) => emptyings)).toEqual([[[0, 6000]], [[0, 6000]]])
  })

  test('empties the link together with the paths that share it, and no others', () => {
    const [path, sharing, alone] = [addPath(), addPath(), addPath({ queueMs: 0 })]
    requestEmptyLink(path, 0)

    expect([sharing, alone].map(({ emptyings }) => emptyings.length)).toEqual([1, 0])
  })

  test('is postponed while a path on its link is starting up, which would fill the link meanwhile', () => {
    const [path, other, third] = [addPath(), addPath({ isStarting: true }), addPath()]

    expect(requestEmptyLink(path, 0)).toBe('postponed')
    expect([path, other, third].flatMap(({ emptyings }) => emptyings)).toEqual([])
  })

  test('empties the link together with that one after a long wait, or that one would fill the link that the others measure', () => {
    const [path, other, third] = [addPath(), addPath({ isStarting: true }), addPath()]

    expect(requestEmptyLink(path, 0, false)).toBe('emptying')
    expect([path, other, third].map(({ emptyings }) => emptyings.length)).toEqual([1, 1, 1])
  })

  test('is postponed for 8 s after a link was first emptied, then for twice as long each time, up to a minute', () => {
    const paths = [addPath({ lastRoundTripMs: 30 }), addPath({ lastRoundTripMs: 30 })]
    const seconds: Array<number | undefined> = []
    requestEmptyLink(paths[0], 0)

    for (let nowMs = 0; seconds.length < 5;) {
      const second = firstSecond(100, nowMs, nowMs => requestEmptyLink(paths[1], nowMs) === 'emptying', ...paths)
      seconds.push(second)
      nowMs += 1000 * (second ?? Infinity)
    }

    expect(seconds).toEqual([8, 16, 32, 60, 60])
  })

  test('is postponed for a hundred round trips, if they take longer', () => {
    const paths = [addPath({ lastRoundTripMs: 250 }), addPath()]
    requestEmptyLink(paths[0], 0)

    expect(firstSecond(100, 0, nowMs => requestEmptyLink(paths[0], nowMs) === 'emptying', ...paths)).toBe(25)
  })
})

describe('a path that wants more in flight', () => {
  test.each(OTHERS)('shares its link with no other path if there is one %s', (_, init) => {
    const path = addPath()
    addPath(init)

    expect(nodePaths.sharedBytesPerMs(path, 100, 0)).toBe(0)
  })

  test('knows what those carry together that wait in the same queue', () => {
    const path = addPath()
    addPath({ bytesPerMs: 300 })
    addPath({ bytesPerMs: 500 })
    addPath({ bytesPerMs: 700, queueMs: 0 })

    expect(nodePaths.sharedBytesPerMs(path, 100, 0)).toBe(800)
  })

  test('counts one that has measured nothing as one that carries nothing: it may be a peer that answers no marks', () => {
    const path = addPath()
    addPath({ bytesPerMs: 300 })
    addPath({ bytesPerMs: 0, waitsSinceMs: -100 })

    expect(nodePaths.sharedBytesPerMs(path, 100, 0)).toBe(300)
  })
})

describe('a path on a link that others fill', () => {
  test('is due as much as each of them, and as long a queue as any of them makes', () => {
    const path = addPath({ bytesPerMs: 100 })
    addPath({ bytesPerMs: 500, ownQueueMs: 60 })
    addPath({ bytesPerMs: 300, ownQueueMs: 30 })

    expect(nodePaths.shareOf(path, 0)).toEqual({ bytesPerMs: 300, queueMs: 60 })
  })

  test('is due a queue of 100 ms at most: a peer whose answers come late may be on another link', () => {
    const path = addPath({ bytesPerMs: 100 })
    addPath({ bytesPerMs: 100, ownQueueMs: 2000 })

    expect(nodePaths.shareOf(path, 0)?.queueMs).toBe(100)
  })

  test('is due nothing while the queue is no longer than what it makes itself', () => {
    const path = addPath({ queueMs: 20 })
    addPath()

    expect(nodePaths.shareOf(path, 0)).toBeUndefined()
  })

  test.each(OTHERS)('is due nothing if there is one %s', (_, init) => {
    const path = addPath()
    addPath(init)

    expect(nodePaths.shareOf(path, 0)).toBeUndefined()
  })
})

describe('a path whose connection has ended', () => {
  test('says nothing any more', () => {
    const [path, gone] = [addPath(), addPath({ waitsSinceMs: -100 })]
    nodePaths.forget(gone)

    expect(requestEmptyLink(path, 0)).toBe('alone')
  })

  test('is forgotten, and counts no more when its object is used again', () => {
    const gone = addPath()
    const path = addPath({}, 60_000)
    sample(60_000, path)
    gone.sampledMs = 60_000

    expect(nodePaths.sharedBytesPerMs(path, 100, 60_000)).toBe(0)
  })

  test('keeps no others from emptying the link', () => {
    addPath({ isStarting: true })
    const [path, other] = [addPath({}, 3_600_000), addPath({}, 3_600_000)]
    sample(3_600_000, path, other)

    expect(requestEmptyLink(path, 3_600_000)).toBe('emptying')
  })
})

test('the queue of others, which a new connection may have to wait in too, is the longest in which a mark has waited, or does, while data is held back', () => {
  addPath({ queueMs: 300 })
  expect(nodePaths.othersQueueMs(new FakePath(), 0)).toBe(300)
  expect(nodePaths.othersQueueMs(new FakePath(), 2001)).toBe(0)

  addPath({ waitsSinceMs: -700 })
  addPath({ queueMs: 5000, bound: { bytes: Infinity } })
  expect(nodePaths.othersQueueMs(new FakePath(), 0)).toBe(700)
})

describe('what is due to a connection on a link that others fill', () => {
  let share: FairShare

  beforeEach(() => {
    share = new FairShare()
  })

  /** A mark has shown that the path carries so much */
  function look (bytesPerMs: number, isNewRoundTrip = true): void {
    share.learn(Object.assign(new FakePath(), { bytesPerMs, ownQueueMs: 15 }), nodePaths, { nowMs: 0, isAppLimited: false, isNewRoundTrip })
  }

  /** A path carries 100 bytes a millisecond, and has carried so much before, as a round trip has shown */
  function learn (lately: number): void {
    look(lately, false)
    look(100)
  }

  test('is nothing, and no queue, for a connection that has the link to itself', () => {
    learn(1000)

    expect([share.bytesPerMs, share.queueMs]).toEqual([0, 0])
  })

  test('is the mean of what it carries and the others do', () => {
    addPath({ bytesPerMs: 900, ownQueueMs: 60 })
    learn(1000)

    expect([share.bytesPerMs, share.queueMs]).toEqual([500, 60])
  })

  test('is a quarter more than what it has carried in the last minute at most: the others may have links of their own', () => {
    addPath({ bytesPerMs: 90_000, ownQueueMs: 60 })
    learn(200)

    expect(share.bytesPerMs).toBe(250)
  })
})
