/**
 * The lanes that streams' data goes out in, the first in front, and a stream's place in one of them.
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

/** What DataLanes note of a stream. The stream itself has it, so that a lane needs no objects of its own. */
export abstract class LaneMember<Stream> {
  /** Which of the LANES the stream's data goes out in */
  lane = NORMAL
  isInDataLane = false
  nextInDataLane: Stream | undefined
  previousInDataLane: Stream | undefined
  /** What is left of the stream's share in this round (the deficit counter of the literature) */
  deficitBytes = 0
  /** What the stream has sent since its lane had sent `roundFromBytes` */
  roundBytes = 0
  roundFromBytes = -Infinity
  /** The stream goes before those whose turn it is */
  isAhead = false
  /** When the stream's next frame began to wait; undefined without metrics */
  waitsSinceMs: number | undefined
}
