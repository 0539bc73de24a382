/**
 * The `turn` strategy: the first write of a turn leaves at its end, with no delay; what more the
 * same turn produces leaves together in the next. No timers, at most two writes a turn under load.
 */
import type { FlushPolicy } from './flush-policy.ts'

export const turn: FlushPolicy = {
  maxFramesPerWrite: Infinity,
  decide: snapshot => snapshot.hasFlushedThisTurn ? 'next-turn' : 'end-of-turn'
}
