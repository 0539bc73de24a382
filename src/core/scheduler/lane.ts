/**
 * The lanes that streams' data goes out in, the first in front, and the streams of one lane in the order in which they send: those that go
 * ahead of the round first. The list is linked through the streams themselves, so that none costs an object. Hot.
 *
 * Invariants: the ring closes through itself; streams that go ahead stand in front, `lastAhead` is the last of them.
 */
export const LANES = ['urgent', 'normal', 'bulk'] as const

/**
 * Whose data goes first: the `priority` option says what each means
 *
 * @useDeclaredType
 */
export type Lane = typeof LANES[number]

/** As they stand in LANES */
export const URGENT = 0
export const NORMAL = 1
export const BULK = 2

/** A stream, or the ring between its last stream and its first */
interface RingNode {
  next: RingNode
  previous: RingNode
}

/** What the lanes note of a stream. The stream itself has it, so that a lane needs no objects of its own. */
export abstract class LaneMember implements RingNode {
  /** Which of the LANES the stream's data goes out in */
  lane = NORMAL
  isInDataLane = false
  next: RingNode = this
  previous: RingNode = this
  /** What is left of the stream's quantum in this round (the deficit counter of the literature); negative if it has sent more */
  deficitBytes = 0
  /** What the lane had sent when the stream left it */
  leftAtBytes = 0
  /** What the stream has sent since its lane had sent `roundFromBytes` */
  roundBytes = 0
  roundFromBytes = -Infinity
  /** The stream goes before those that the round has come to */
  isAhead = false
  /** When the stream's next frame began to wait; undefined without metrics */
  waitsSinceMs: number | undefined
}

export class Ring implements RingNode {
  next: RingNode = this
  previous: RingNode = this
  /** The last of those in front that go ahead of the round; the ring if none does */
  lastAhead: RingNode = this
  streamCount = 0
  sentBytes = 0
  /** How many bytes more went ahead than followed the round */
  aheadBytes = 0
  /** What lanes in front have sent since this one began to wait */
  overtakenBytes = 0

  /** Ahead of the round, behind those that are there already, or at the back of it */
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
