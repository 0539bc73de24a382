/**
 * No coalescing: every frame is a write of its own, inside the call that made it. For comparison, and for
 * peers that must see what the stock muxer would send.
 */
import { NEXT_TURN } from './fast-lane.ts'
import type { FlushDecision, FlushPolicy } from './flush-policy.ts'

const NOW: FlushDecision = { time: 'now', reason: 'off' }

export const off: FlushPolicy = {
  maxFramesPerWrite: 1,
  opensAtOnce: true,
  holdsRest: false,
  // each write is followed by a decision on the rest: behind what a turn may write they would go ever deeper
  decide: ({ flushesThisTurn }) => flushesThisTurn === Infinity ? NEXT_TURN : NOW
}
