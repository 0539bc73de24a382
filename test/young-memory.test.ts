// That bulk fills V8's space of young objects where that is needed, and nowhere else.
import { memoryUsage, versions } from 'node:process'
import { describe, expect, it } from 'vitest'
import { fillYoungMemory, needsYoungMemory } from '../src/young-memory.ts'

const RECORD_BYTES = 65_519
const RECORDS = 16

/** A collection in between makes less of it, never more */
function grownBytes (byteLength: number, pieces = 1): number {
  const grown = Array.from({ length: 10 }, () => {
    const before = memoryUsage().heapUsed

    for (let piece = 0; piece < pieces; piece++) {
      fillYoungMemory(byteLength)
    }

    return memoryUsage().heapUsed - before
  })

  return Math.max(...grown)
}

describe('Young memory', () => {
  it('grows by as much as passes in long pieces, where it is needed', () => {
    expect(grownBytes(RECORD_BYTES, RECORDS) >= RECORDS * RECORD_BYTES).toBe(needsYoungMemory(versions))
  })

  it('grows by as much for a write of a mebibyte', () => {
    expect(grownBytes(2 ** 20) >= 2 ** 20).toBe(needsYoungMemory(versions))
  })

  it('is left alone by short pieces', () => {
    expect(grownBytes(16_383, RECORDS)).toBeLessThan(RECORDS * 16_383 / 2)
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
