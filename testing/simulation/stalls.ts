// Times at which nothing moves on a link: a clock that stands still during them.

export interface Stall {
  atMs: number
  forMs: number
}

interface Interval {
  startMs: number
  endMs: number
}

export class MovingTime {
  readonly #standstills: Interval[]

  constructor (stalls: readonly Stall[] = []) {
    this.#standstills = merge(stalls.map(({ atMs, forMs }) => ({ startMs: atMs, endMs: atMs + forMs })))
  }

  /** For how long things have moved, from 0 up to an instant */
  movedMs (atMs: number): number {
    let movedMs = atMs

    for (const { startMs, endMs } of this.#standstills) {
      if (startMs >= atMs) {
        break
      }

      movedMs -= Math.min(atMs, endMs) - startMs
    }

    return movedMs
  }

  /** The first instant at which things have moved for so long: what is due when a stall begins still happens */
  atMs (movedMs: number): number {
    let atMs = movedMs

    for (const { startMs, endMs } of this.#standstills) {
      if (startMs >= atMs) {
        break
      }

      atMs += endMs - startMs
    }

    return atMs
  }
}

function merge (intervals: Interval[]): Interval[] {
  const merged: Interval[] = []

  for (const interval of intervals.sort((a, b) => a.startMs - b.startMs)) {
    const last = merged.at(-1)

    if (last != null && interval.startMs <= last.endMs) {
      last.endMs = Math.max(last.endMs, interval.endMs)
    } else {
      merged.push(interval)
    }
  }

  return merged
}
