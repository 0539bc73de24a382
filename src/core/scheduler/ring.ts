/**
 * The streams of one lane, in the order in which they send: those that go ahead of the round first. A list linked through the streams
 * themselves, so that none costs an object. Hot.
 *
 * Invariant: streams that go ahead stand in front, `lastAhead` is the last of them.
 */
import type { StreamState } from '../stream-state.ts'

export interface Ring<Owner> {
  first: StreamState<Owner> | undefined
  last: StreamState<Owner> | undefined
  /** The last of those in front that go ahead of the round */
  lastAhead: StreamState<Owner> | undefined
  streamCount: number
  sentBytes: number
  /** So much more went ahead than had its turn */
  aheadBytes: number
  /** What lanes in front have sent since this one began to wait */
  overtakenBytes: number
}

export function createRing<Owner> (): Ring<Owner> {
  return { first: undefined, last: undefined, lastAhead: undefined, streamCount: 0, sentBytes: 0, aheadBytes: 0, overtakenBytes: 0 }
}

/** In front of the round, behind those that are there already */
export function insertAhead<Owner> (ring: Ring<Owner>, stream: StreamState<Owner>): void {
  const previous = ring.lastAhead
  const next = previous === undefined ? ring.first : previous.nextInDataLane
  stream.isAhead = true
  stream.previousInDataLane = previous
  stream.nextInDataLane = next
  ring.lastAhead = stream

  if (previous === undefined) {
    ring.first = stream
  } else {
    previous.nextInDataLane = stream
  }

  if (next === undefined) {
    ring.last = stream
  } else {
    next.previousInDataLane = stream
  }
}

/** At the back of the round */
export function append<Owner> (ring: Ring<Owner>, stream: StreamState<Owner>): void {
  stream.previousInDataLane = ring.last

  if (ring.last === undefined) {
    ring.first = stream
  } else {
    ring.last.nextInDataLane = stream
  }

  ring.last = stream
}

export function unlink<Owner> (ring: Ring<Owner>, stream: StreamState<Owner>): void {
  const { previousInDataLane: previous, nextInDataLane: next } = stream
  stream.previousInDataLane = undefined
  stream.nextInDataLane = undefined

  if (ring.lastAhead === stream) {
    ring.lastAhead = previous
  }

  stream.isAhead = false

  if (previous === undefined) {
    ring.first = next
  } else {
    previous.nextInDataLane = next
  }

  if (next === undefined) {
    ring.last = previous
  } else {
    next.previousInDataLane = previous
  }
}
