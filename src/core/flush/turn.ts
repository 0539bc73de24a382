/**
 * The `turn` strategy: what a turn of the event loop produces leaves as soon as a microtask has
 * brought no more, so nothing waits when there is little to do; what is answered while an inbound
 * chunk is dealt with leaves right behind it. When a turn keeps producing, the rest leaves together
 * in the next one. No timers, a bounded number of writes a turn under load.
 */
import { decideFastLane, leavesAtOnce, isTurnSpent, NEXT_TURN } from './fast-lane.ts'
import type { FlushDecision, FlushPolicy } from './flush-policy.ts'

const AT_ONCE: FlushDecision = { time: 'now', reason: 'chunk' }
const SOON: FlushDecision = { time: 'soon', reason: 'turn' }

/**
 * A message of 64 KiB fills a record but for a few bytes. By themselves they cost a record and its writes; when
 * the next message comes with the next round of the loop, as from a file, they leave with it.
 */
const REST: FlushDecision = { time: 'next-round', reason: 'rest' }

export const turn: FlushPolicy = {
  maxFramesPerWrite: Infinity,
  opensAtOnce: true,
  holdsRest: true,
  decide (snapshot) {
    const fast = decideFastLane(snapshot)

    if (fast !== undefined) {
      return fast
    }

    if (isTurnSpent(snapshot)) {
      return NEXT_TURN
    }

    if (snapshot.isRest) {
      return REST
    }

    return leavesAtOnce(snapshot) ? AT_ONCE : SOON
  }
}
