/**
 * The lanes, and the order of streams in one. A lane is a circular list, linked through the streams themselves, and its head is the Ring: first
 * come streams that may go ahead of the round, then those that take turns in it. Hot.
 *
 * Invariant: `lastAhead` is the last stream ahead of the round, or the ring itself.
 */
export const LANES = ['urgent', 'normal', 'bulk'] as const

/**
 * Whose data goes first: the `priority` option says what each means
 *
 * @useDeclaredType
 */
export type Lane = typeof LANES[number]

/** Indexes into LANES */
export const URGENT = 0
export const NORMAL = 1
export const BULK = 2

/** A stream, or the ring between its last stream and its first */
interface RingNode {
  next: RingNode
  previous: RingNode
}

/** The scheduling state of a stream, which the stream itself holds */
export abstract class LaneMember implements RingNode {
  /** The index of its lane in LANES */
  lane = NORMAL
  isInDataLane = false
  next: RingNode = this
  previous: RingNode = this
  /** The rest of its quantum in this round, the deficit counter of DRR; negative if it has sent more */
  deficitBytes = 0
  /** `sentBytes` of the lane when the stream left it */
  leftAtBytes = 0
  /** Sent by the stream in this round, and beyond its quantum in rounds before */
  roundBytes = 0
  /** `sentBytes` of the lane when `roundBytes` was last adjusted to the round */
  roundFromBytes = -Infinity
  /** The stream is ahead of the round */
  isAhead = false
  /** When the stream's next frame began to wait; undefined unless waits are timed */
  waitsSinceMs: number | undefined
}

export class Ring implements RingNode {
  next: RingNode = this
  previous: RingNode = this
  /** The last stream ahead of the round; the ring itself if there is none */
  lastAhead: RingNode = this
  streamCount = 0
  sentBytes = 0
  /** By how much the bytes sent ahead of the round exceed those sent in it */
  aheadBytes = 0
  /** Sent by the lanes before it while this one waits */
  overtakenBytes = 0

  /** Inserts a stream as the last one ahead of the round, or at the end of the round */
  insert (stream: LaneMember, isAhead: boolean): void {
    const previous = isAhead ? this.lastAhead : this.previous
    stream.isAhead = isAhead
    stream.previous = previous
    stream.next = previous.next
    stream.next.previous = stream
    previous.next = stream

    if (isAhead) {
      this.lastAhead = stream
    }
  }

  moveToBack (stream: LaneMember): void {
    this.remove(stream)
    this.insert(stream, false)
  }

  remove (stream: LaneMember): void {
    if (this.lastAhead === stream) {
      this.lastAhead = stream.previous
    }

    stream.previous.next = stream.next
    stream.next.previous = stream.previous
    stream.next = stream
    stream.previous = stream
  }
}
