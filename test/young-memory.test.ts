// That bulk fills V8's space of young objects where that is needed, and nowhere else.
import { PerformanceObserver, constants } from 'node:perf_hooks'
import { versions } from 'node:process'
import { setImmediate } from 'node:timers/promises'
import v8 from 'node:v8'
import { describe, expect, it, vi } from 'vitest'
import { fillYoungMemory, isFillDue, needsYoungMemory } from '../src/host/young-memory.ts'
import { data } from '../testing/protocol/frames.ts'
import { createRawPeer } from '../testing/protocol/raw-peer.ts'

/** The types of Node leave out what kind of collection it was */
type GcEntry = PerformanceEntry & { detail?: { kind: number } }

const RECORD_BYTES = 65_519
const MEBIBYTE = 2 ** 20

const held: { object?: unknown } = {}

/** As a transport does that reads a record, or encrypts one */
function makeBuffer (byteLength: number): void {
  held.object = new Uint8Array(byteLength)
}

/** How often V8 has collected young objects while so much passed, and transport and program did their work with each piece */
async function countCollections (pieceBytes: number, allBytes: number, work: (pieceBytes: number) => void, fill = fillYoungMemory): Promise<number> {
  let collections = 0
  const observer = new PerformanceObserver(list => {
    collections += list.getEntries().filter(entry => (entry as GcEntry).detail?.kind === constants.NODE_PERFORMANCE_GC_MINOR).length
  })
  observer.observe({ entryTypes: ['gc'] })

  for (let passedBytes = 0; passedBytes < allBytes; passedBytes += pieceBytes) {
    fill(pieceBytes)
    work(pieceBytes)
  }

  await setImmediate()
  await setImmediate()
  observer.disconnect()

  return collections
}

describe('Young memory', () => {
  it.each([
    ['records', RECORD_BYTES],
    ['writes of a mebibyte', MEBIBYTE]
  ])('is collected for each 8 to 32 MiB or so that come to be outside the heap with %s, where it is needed', async (_, pieceBytes) => {
    const collections = await countCollections(pieceBytes, 1600 * MEBIBYTE, makeBuffer)

    if (needsYoungMemory(versions)) {
      expect(collections).toBeGreaterThan(25)
      expect(collections).toBeLessThan(210)
    } else {
      expect(collections).toBeLessThan(5)
    }
  })

  it('is left alone while next to nothing comes to be outside the heap, as when plain TCP sends what a program has', async () => {
    const collections = await countCollections(RECORD_BYTES, 800 * MEBIBYTE, () => {})

    expect(collections).toBeLessThan(3)
  })

  it('is left alone where the program makes young objects enough', async () => {
    const work = (pieceBytes: number): void => {
      makeBuffer(pieceBytes)

      for (let i = 0; i < 8; i++) {
        held.object = new Array(8192)
      }
    }
    const alone = await countCollections(RECORD_BYTES, 400 * MEBIBYTE, work, () => {})
    const beside = await countCollections(RECORD_BYTES, 400 * MEBIBYTE, work)

    expect(alone).toBeGreaterThan(50)
    expect(beside).toBeLessThan(1.05 * alone)
  })

  it.each([
    ['32 MiB are outside', 32, 0, 16, 0, true],
    ['less is', 31.9, 0, 16, 0, false],
    ['8 are, 48 ms behind the last time', 8, 48, 16, 0, true],
    ['8 are, sooner', 8, 47.9, 16, 0, false],
    ['less than 8 are, however long ago the last time is', 7.9, 100_000, 16, 0, false],
    ['8 are, 48 ms behind the last time, and little of a space of 16 MiB is free', 8, 48, 1, 15, true],
    ['half as much as is free of a space of 76 MB', 36, 216, 72, 0, true],
    ['less than half of it', 35.9, 216, 72, 0, false],
    ['half of a space of 20 MiB, 60 ms behind the last time', 10, 60, 20, 0, true],
    ['half of it, sooner', 10, 59.9, 20, 0, false],
    ['half of what the program has left of 64 MiB', 12, 1000, 20, 44, false],
    ['half of all of them', 32, 1000, 20, 44, true],
    ['half of 30 MiB, some of which are the program\'s', 15, 1000, 20, 10, true],
    ['less than that', 14.9, 1000, 20, 10, false]
  ])('when %s (%d MiB outside, %d ms ago, %d MiB free and %d used): to be filled %s', (_, grownMebibytes, agoMs, availableMebibytes, usedMebibytes, isDue) => {
    expect(isFillDue(grownMebibytes * MEBIBYTE, agoMs, availableMebibytes * MEBIBYTE, usedMebibytes * MEBIBYTE)).toBe(isDue)
  })

  it('is left alone by short pieces', async () => {
    expect(await countCollections(16_383, 400 * MEBIBYTE, makeBuffer)).toBeLessThan(5)
  })

  it.each([
    ['Node 24', { node: '24.21.0', v8: '13.6.233.17-node.37' }, true],
    ['Node 26', { node: '26.10.0', v8: '14.6.202.34-node.34' }, true],
    ['Node 22, whose space of young objects is small', { node: '22.23.0', v8: '12.4.254.21-node.57' }, false],
    ['Bun', { node: '24.3.0', v8: '13.6.233.10-node.18', bun: '1.3.0' }, false],
    ['Deno', { node: '24.2.0', v8: '14.0.365.4-rusty', deno: '2.5.0' }, false],
    ['Electron', { node: '24.9.0', v8: '14.2.231.8-electron.0', electron: '39.0.0' }, false],
    ['a browser', undefined, false]
  ])('of %s', (_, versions, isNeeded) => {
    expect(needsYoungMemory(versions)).toBe(isNeeded)
  })
})

it.each([[true, 8], [false, 0]])('with tuneGarbageCollection: %s, 1 MiB in chunks of 64 KiB has the heap looked at %i times', async (tuneGarbageCollection, looks) => {
  const heap = vi.spyOn(v8, 'getHeapStatistics')
  const peer = createRawPeer({ tuneGarbageCollection, maxConnectionWindow: 8 * MEBIBYTE })
  const stream = await peer.muxer.createStream()
  stream.addEventListener('message', () => {})
  heap.mockClear()

  for (let i = 0; i < 16; i++) {
    peer.deliver(data(1, new Uint8Array(65_536)))
    await setImmediate()
  }

  expect(heap.mock.calls.length).toBe(needsYoungMemory(versions) ? looks : 0)
  heap.mockRestore()
})

it('the heap is not looked at for the first 2 MiB of a process', async () => {
  vi.resetModules()
  const { fillYoungMemory: fill } = await import('../src/host/young-memory.ts')
  const heap = vi.spyOn(v8, 'getHeapStatistics')
  fill(2 * MEBIBYTE - 1)
  expect(heap).not.toHaveBeenCalled()
  fill(RECORD_BYTES)
  expect(heap).toHaveBeenCalledTimes(needsYoungMemory(versions) ? 1 : 0)
  heap.mockRestore()
})
