// Numbers that look random and are the same each time.

/** From 0 up to but not including 1 */
export type Random = () => number

/** Tommy Ettinger's Mulberry32 */
export function mulberry32 (seed: number): Random {
  let state = seed

  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed

    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000
  }
}
