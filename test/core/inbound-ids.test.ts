// Which ids the peer may still use: each once, in any order, at a bounded cost.
import { describe, expect, test } from 'vitest'
import { InboundIds } from '../../src/core/stream-table.ts'

describe('inbound ids', () => {
  test('go up to the last one there is', () => {
    const odd = new InboundIds(1)
    expect(odd.take(0xffff_ffff)).toBe(true)
    expect(odd.take(0xffff_ffff)).toBe(false)
    expect(odd.take(0xffff_fffd)).toBe(true)

    const even = new InboundIds(2)
    expect(even.take(0xffff_fffe)).toBe(true)
    expect(even.take(0xffff_fffe)).toBe(false)
  })

  test('of 256 streams that are opened but not yet shown may all come late', () => {
    const ids = new InboundIds(1)
    const late: number[] = []

    for (let id = 1; late.length < 256; id += 4) {
      late.push(id)
      ids.take(id + 2)
    }

    expect(late.map(id => ids.take(id))).toEqual(Array(256).fill(true))
    expect(late.map(id => ids.take(id))).toEqual(Array(256).fill(false))
  })

  test('are remembered in at most 1,024 skipped ranges: the oldest is then taken for used', () => {
    const ids = new InboundIds(1)
    const skipped: number[] = []

    for (let id = 1; skipped.length < 1025; id += 4) {
      skipped.push(id)
      ids.take(id + 2)
    }

    expect(ids.take(skipped[0])).toBe(false)
    expect(ids.take(skipped[1])).toBe(true)
    expect(ids.take(skipped[1024])).toBe(true)
  })

  test('of the oldest range are given up too when a late id splits a newer one', () => {
    const ids = new InboundIds(1)

    for (let id = 1; id < 1 + 4 * 1023; id += 4) {
      ids.take(id + 2)
    }

    const next = 1 + 4 * 1023
    ids.take(next + 100)
    // 1,023 ranges of one id and one of fifty; a gap in the last makes one too many
    ids.take(next + 50)

    expect(ids.take(1)).toBe(false)
    expect(ids.take(5)).toBe(true)
    expect(ids.take(next + 48)).toBe(true)
    expect(ids.take(next + 52)).toBe(true)
    expect(ids.take(next + 50)).toBe(false)
  })
})
