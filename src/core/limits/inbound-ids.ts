/**
 * Which stream ids the peer has used. An id may be used once, but not in order: rust-yamux takes
 * an id when a stream is opened and sends its SYN with the first data.
 *
 * Kept as the highest id seen and the ranges below it that were skipped, so that memory follows
 * the disorder and not the number of streams.
 */

/**
 * So many skipped ranges are remembered; the oldest is then taken for used. A peer may have 256
 * streams open that it has not shown yet, which can skip no more than 256 ranges.
 */
const MAX_SKIPPED_RANGES = 1024

interface Range {
  first: number
  last: number
}

export class InboundIds {
  /** The next id in order */
  #next: number
  /** Ascending, disjoint, inclusive */
  #skipped: Range[] = []

  /** `first` is 1 for a peer that dialled and 2 for one that listened */
  constructor (first: number) {
    this.#next = first
  }

  /** Takes an id of the right parity; false if it was taken before */
  take (id: number): boolean {
    if (id >= this.#next) {
      if (id > this.#next) {
        this.#replace(this.#skipped.length, 0, { first: this.#next, last: id - 2 })
      }

      this.#next = id + 2
      return true
    }

    // ids that come late come soon: look from the newest range back
    for (let i = this.#skipped.length - 1; i >= 0 && this.#skipped[i].last >= id; i--) {
      if (this.#skipped[i].first <= id) {
        const { first, last } = this.#skipped[i]
        const rest = [{ first, last: id - 2 }, { first: id + 2, last }]
        this.#replace(i, 1, ...rest.filter(range => range.first <= range.last))
        return true
      }
    }

    return false
  }

  #replace (index: number, count: number, ...ranges: Range[]): void {
    this.#skipped.splice(index, count, ...ranges)

    if (this.#skipped.length > MAX_SKIPPED_RANGES) {
      this.#skipped.shift()
    }
  }
}
