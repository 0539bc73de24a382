/**
 * The `turn` strategy: what a turn of the event loop produces leaves as soon as a few microtasks have
 * brought no more, so nothing waits when there is little to do; what is answered while an inbound
 * chunk is dealt with leaves right behind it, before the layers below go on with their own work.
 * When a turn keeps producing, the rest leaves together in the next one. No timers, a bounded
 * number of writes a turn under load.
 */
import type { FlushPolicy } from './flush-policy.ts'

/**
 * Answering a new stream takes libp2p two steps in one turn: the protocol is agreed on, then the
 * handler writes. Held back to the next turn, the second cost a request on a new stream a quarter
 * of its time; more than three flushes would bring back a write a message for loops that await each send.
 */
const MAX_FLUSHES_PER_TURN = 3

export const turn: FlushPolicy = {
  maxFramesPerWrite: Infinity,
  decide: ({ isPressing, isEndOfChunk, flushesThisTurn }) => {
    if (flushesThisTurn >= MAX_FLUSHES_PER_TURN) {
      return 'next-turn'
    }

    if (!isPressing) {
      return 'end-of-turn'
    }

    return isEndOfChunk && flushesThisTurn === 0 ? 'now' : 'soon'
  }
}
