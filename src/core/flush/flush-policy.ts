/**
 * When to write: a policy looks at the state of things and answers, it owns no timer and no bytes.
 */

export interface FlushSnapshot {
  /** There is more than acknowledgements, which nobody waits for */
  isPressing: boolean
  /** An inbound chunk has just been dealt with: what was to be answered at once has been */
  isEndOfChunk: boolean
  /** How many flushes this turn of the event loop has seen */
  flushesThisTurn: number
}

/**
 * - `now`: inside the call that made the output
 * - `soon`: when a few microtasks have brought no more
 * - `end-of-turn`: when the running code and all its microtasks are done
 * - `next-turn`: once, when the event loop comes round
 */
export type FlushDecision = 'now' | 'soon' | 'end-of-turn' | 'next-turn'

export interface FlushPolicy {
  /** How many frames one write may hold */
  readonly maxFramesPerWrite: number
  /** There is output and the transport takes it: when should it leave? */
  decide (snapshot: FlushSnapshot): FlushDecision
}
