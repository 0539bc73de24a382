/**
 * When to write: a policy looks at the state of things and answers, it owns no timer and no bytes.
 */

export interface FlushSnapshot {
  /** A write has left in this turn of the event loop already */
  hasFlushedThisTurn: boolean
}

/**
 * `now`: inside the call that made the output; `end-of-turn`: when the running code and its
 * microtasks are done; `next-turn`: once, when the event loop comes round.
 */
export type FlushDecision = 'now' | 'end-of-turn' | 'next-turn'

export interface FlushPolicy {
  /** How many frames one write may hold */
  readonly maxFramesPerWrite: number
  /** There is output, the transport takes it, and no flush is arranged: when? */
  decide (snapshot: FlushSnapshot): FlushDecision
}
