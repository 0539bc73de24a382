// What paths of one node tell each other: when all fall silent to measure their line, and which may try to have more under way.
import { beforeEach, describe, expect, test } from 'vitest'
import { NodePaths } from '../../../src/core/path/node-paths.ts'
import type { NodePath } from '../../../src/core/path/node-paths.ts'

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

class FakePath implements Writable<NodePath> {
  bytesPerMs = 1000
  lastRoundTripMs = 150
  queueMs = 100
  sampledMs = 0
  waitsSinceMs = Infinity
  awaitsDrain = false
  hasFallen = false
  canDrain = true
  /** When it was told to fall silent, and for how long */
  readonly drains: Array<[nowMs: number, inMs: number]> = []
  forgotten = 0

  drain (nowMs: number, inMs: number): void {
    this.drains.push([nowMs, inMs])
  }

  forgetSilence (): void {
    this.forgotten++
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

/** When they are first allowed to, at times that are a second apart; undefined if never within so many seconds */
function firstSecond (seconds: number, fromMs: number, isAllowed: (nowMs: number) => boolean, ...paths: FakePath[]): number | undefined {
  return Array.from({ length: seconds }, (_, i) => i + 1).find(second => {
    const nowMs = fromMs + 1000 * second
    sample(nowMs, ...paths)

    return isAllowed(nowMs)
  })
}

/** Others that do not seem to share a line with a path whose marks wait for 100 ms at 1000 bytes a millisecond */
const OTHERS: Array<[string, Partial<NodePath>]> = [
  ['whose marks wait less than half as long', { queueMs: 49 }],
  ['that carries less than a quarter of what it does', { bytesPerMs: 249 }],
  ['that has lost rate too', { hasFallen: true }],
  ['that has measured nothing for two seconds', { sampledMs: -2000 }],
  ['that has measured nothing for two seconds, and whose mark has waited for ten, for it may be no more', { sampledMs: -2000, waitsSinceMs: -10_000 }],
  ['whose rate is not known, and whose first mark has waited for less than half as long', { bytesPerMs: 0, waitsSinceMs: -49 }]
]

/** And those that do */
const SHARING: Array<[string, Partial<NodePath>]> = [
  ['whose marks wait half as long', { queueMs: 50 }],
  ['that carries a quarter of what it does', { bytesPerMs: 250 }],
  ['that has measured something within two seconds', { sampledMs: -1999 }],
  ['whose rate is not known, and whose first mark has waited half as long, and still does', { bytesPerMs: 0, waitsSinceMs: -50 }],
  ['that has measured nothing for two seconds, and whose first mark waits', { sampledMs: -2000, waitsSinceMs: -9999 }]
]

beforeEach(() => {
  nodePaths = new NodePaths()
})

describe('a path that seems longer', () => {
  test('is alone on its line when there is no other', () => {
    const path = addPath()

    expect(nodePaths.drain(path, 100, 0)).toBe('alone')
    expect(path.drains).toEqual([])
  })

  test.each(OTHERS)('is alone on its line beside one %s', (_, init) => {
    const path = addPath()
    const other = addPath(init)

    expect(nodePaths.drain(path, 100, 0)).toBe('alone')
    expect([path.drains, other.drains]).toEqual([[], []])
  })

  test.each(SHARING)('falls silent together with one %s, for as long as its last mark took', (_, init) => {
    const path = addPath({ lastRoundTripMs: 170 })
    const other = addPath(init)

    expect(nodePaths.drain(path, 100, 0)).toBe('drained')
    expect([path.drains, other.drains]).toEqual([[[0, 170]], [[0, 170]]])
  })

  test('falls silent with those that share its line, and those that were told to wait before, and no others', () => {
    const [path, sharing, , waiting, alone] = [addPath(), addPath(), addPath({ queueMs: 0 }), addPath({ queueMs: 0, awaitsDrain: true }), addPath({ queueMs: 0 })]
    nodePaths.drain(path, 100, 0)

    expect([sharing, waiting, alone].map(({ drains }) => drains.length)).toEqual([1, 1, 0])
  })

  test('is put off while one that shares its line looks for its rate, and would fill the line meanwhile', () => {
    const [path, other, third] = [addPath(), addPath({ canDrain: false }), addPath()]

    expect(nodePaths.drain(path, 100, 0)).toBe('put-off')
    expect([path, other, third].flatMap(({ drains }) => drains)).toEqual([])
  })

  test('is put off for 8 s behind the first time, then for twice as long each, up to a minute', () => {
    const paths = [addPath({ lastRoundTripMs: 20 }), addPath({ lastRoundTripMs: 20 })]
    const seconds: Array<number | undefined> = []
    nodePaths.drain(paths[0], 100, 0)

    for (let nowMs = 0; seconds.length < 5;) {
      const second = firstSecond(100, nowMs, nowMs => nodePaths.drain(paths[1], 100, nowMs) === 'drained', ...paths)
      seconds.push(second)
      nowMs += 1000 * (second ?? Infinity)
    }

    expect(seconds).toEqual([8, 16, 32, 60, 60])
  })

  test('is put off for a hundred round trips, if they are more', () => {
    const paths = [addPath({ lastRoundTripMs: 250 }), addPath()]
    nodePaths.drain(paths[0], 100, 0)

    expect(firstSecond(100, 0, nowMs => nodePaths.drain(paths[0], 100, nowMs) === 'drained', ...paths)).toBe(25)
  })

  test('is put off for 4 s when the last silence of all has shown that it is another', () => {
    const paths = [addPath(), addPath()]
    nodePaths.drain(paths[0], 100, 0)
    nodePaths.hasFound(300)
    sample(4300, ...paths)

    expect(nodePaths.mayDrain(4299)).toBe(false)
    expect(nodePaths.drain(paths[0], 100, 4299)).toBe('put-off')
    expect(nodePaths.mayDrain(4300)).toBe(true)
    expect(nodePaths.drain(paths[0], 100, 4300)).toBe('drained')
  })
})

describe('a path that wants more under way', () => {
  test('has it when there is no other', () => {
    expect(nodePaths.mayGrow(addPath(), 100, 0)).toBe(true)
  })

  test.each(OTHERS)('has it beside one %s', (_, init) => {
    const path = addPath()
    addPath(init)

    expect(nodePaths.mayGrow(path, 100, 0)).toBe(true)
    expect(nodePaths.sharedBytesPerMs(path, 100, 0)).toBe(0)
  })

  test.each(SHARING)('does not have it at once beside one %s', (_, init) => {
    const path = addPath()
    addPath(init)

    expect(nodePaths.mayGrow(path, 100, 0)).toBe(false)
  })

  test('tries it 4 s after one first wanted it, for as long as it takes, and no other meanwhile', () => {
    const [path, other] = [addPath(), addPath()]
    expect(nodePaths.mayGrow(path, 100, 0)).toBe(false)
    expect(firstSecond(100, 0, nowMs => nodePaths.mayGrow(path, 100, nowMs), path, other)).toBe(4)

    sample(5000, path, other)
    expect(nodePaths.mayGrow(path, 100, 5000)).toBe(true)
    expect(nodePaths.mayGrow(other, 100, 5000)).toBe(false)
  })

  test('makes room for others when it measures nothing for two seconds', () => {
    const [path, ...others] = [addPath(), addPath(), addPath()]
    nodePaths.mayGrow(path, 100, 0)
    sample(4000, path, ...others)
    expect(nodePaths.mayGrow(path, 100, 4000)).toBe(true)

    sample(5999, ...others)
    expect(nodePaths.mayGrow(others[0], 100, 5999)).toBe(false)
    expect(nodePaths.mayGrow(others[0], 100, 6000)).toBe(true)
  })

  test('knows what those carry together that wait in the same queue', () => {
    const path = addPath()
    addPath({ bytesPerMs: 300 })
    addPath({ bytesPerMs: 500 })
    addPath({ bytesPerMs: 700, queueMs: 0 })

    expect(nodePaths.sharedBytesPerMs(path, 100, 0)).toBe(800)
  })

  test('does not know what those carry together of which one has measured nothing', () => {
    const path = addPath()
    addPath({ bytesPerMs: 300 })
    addPath({ bytesPerMs: 0, waitsSinceMs: -100 })

    expect(nodePaths.sharedBytesPerMs(path, 100, 0)).toBe(Infinity)
  })
})

describe('a trial', () => {
  /** Of the first of them, which carries 1000 bytes a millisecond, as each of two others do. It begins at 4000. */
  function begin (lastRoundTripMs = 150): [FakePath, FakePath, FakePath] {
    const paths: [FakePath, FakePath, FakePath] = [addPath({ lastRoundTripMs }), addPath(), addPath()]
    nodePaths.mayGrow(paths[0], 100, 0)
    sample(4000, ...paths)
    nodePaths.mayGrow(paths[0], 100, 4000)

    return paths
  }

  /** How many seconds after the trial the next may begin, of another path */
  function secondsToNext (paths: FakePath[], endedMs: number): number | undefined {
    return firstSecond(100, endedMs, nowMs => nodePaths.mayGrow(paths[1], 100, nowMs), ...paths)
  }

  test('is judged when it has lasted for 1.5 s', () => {
    const paths = begin()
    sample(5499, ...paths)
    expect(paths[0].forgotten).toBe(0)

    sample(5500, ...paths)
    expect(paths[0].forgotten).toBe(1)
  })

  test('is judged behind four round trips, if they are longer', () => {
    const paths = begin(500)
    sample(5999, ...paths)
    expect(paths[0].forgotten).toBe(0)

    sample(6000, ...paths)
    expect(paths[0].forgotten).toBe(1)
  })

  test.each<[string, number, [number, number]]>([
    ['has won a quarter, and others have lost nothing', 1250, [1000, 1000]],
    ['has won twice what others have lost', 1400, [900, 900]]
  ])('in which the path %s has found that it needs more, and the next may begin in 4 s', (_, wonBytesPerMs, lostBytesPerMs) => {
    const paths = begin();
    [wonBytesPerMs, ...lostBytesPerMs].forEach((bytesPerMs, i) => { paths[i].bytesPerMs = bytesPerMs })
    sample(5500, ...paths)

    expect(paths[0].forgotten).toBe(0)
    expect(secondsToNext(paths, 5500)).toBe(4)
  })

  test.each<[string, number, [number, number]]>([
    ['has won less than a quarter', 1249, [1000, 1000]],
    ['has taken more than half of it from others', 1400, [900, 899]],
    ['has won nothing', 1000, [1000, 1000]]
  ])('in which the path %s has found nothing: what it had more is taken back, and the next may begin in 15 s', (_, wonBytesPerMs, lostBytesPerMs) => {
    const paths = begin();
    [wonBytesPerMs, ...lostBytesPerMs].forEach((bytesPerMs, i) => { paths[i].bytesPerMs = bytesPerMs })
    sample(5500, ...paths)

    expect(paths.map(({ forgotten }) => forgotten)).toEqual([1, 0, 0])
    // a hundred round trips of 150 ms
    expect(secondsToNext(paths, 5500)).toBe(15)
  })

  test('that finds nothing puts the next off twice as long as the one before, and one that finds something by 4 s again', () => {
    const paths = begin(10)
    sample(5500, ...paths)
    expect(secondsToNext(paths, 5500)).toBe(8)

    paths[1].lastRoundTripMs = 10
    sample(15_000, ...paths)
    expect(paths[1].forgotten).toBe(1)
    expect(secondsToNext(paths, 15_000)).toBe(16)

    paths[1].bytesPerMs = 2000
    sample(32_500, ...paths)
    expect(secondsToNext(paths, 32_500)).toBe(4)
  })
})

describe('a path whose connection has ended', () => {
  test('is forgotten, and counts no more when its object is used again', () => {
    const gone = addPath()
    const path = addPath({}, 60_000)
    sample(60_000, path)
    gone.sampledMs = 60_000

    expect(nodePaths.sharedBytesPerMs(path, 100, 60_000)).toBe(0)
  })

  test('keeps no others from falling silent, although it waited to', () => {
    addPath({ awaitsDrain: true, canDrain: false })
    const [path, other] = [addPath({}, 3_600_000), addPath({}, 3_600_000)]
    sample(3_600_000, path, other)

    expect(nodePaths.drain(path, 100, 3_600_000)).toBe('drained')
  })
})
