/**
 * The `delay` strategy: data waits for more until a time, or until there is enough for a write. Control
 * frames and urgent data do not wait, and what waits rides along with them.
 */
import { decideFastLane, isTurnSpent, NEXT_TURN } from './fast-lane.ts'
import type { FlushDecision, FlushPolicy, FlushSnapshot } from './flush-policy.ts'

export interface DelayInit {
  /** How long data may wait, decided when the first byte of a write comes */
  delayMs (snapshot: FlushSnapshot): number
  /** So much data does not wait */
  watermarkBytes: number
  /** A shorter delay than the clock's timers can measure ends with the turn */
  shortestTimerMs: number
}

const FULL: FlushDecision = { time: 'soon', reason: 'watermark' }
const TOO_SHORT: FlushDecision = { time: 'next-turn', reason: 'delay' }
const HOLD: FlushDecision = { time: 'hold', reason: 'delay' }

export function delay ({ delayMs, watermarkBytes, shortestTimerMs }: DelayInit): FlushPolicy {
  return {
    maxFramesPerWrite: Infinity,
    // libp2p says what protocol the stream is for a few microtasks later: the SYN spares that the delay
    opensAtOnce: false,
    holdsRest: true,
    decide (snapshot) {
      const fast = decideFastLane(snapshot)

      if (fast !== undefined) {
        return fast
      }

      if (snapshot.queuedBytes >= watermarkBytes) {
        return isTurnSpent(snapshot) ? NEXT_TURN : FULL
      }

      if (snapshot.isArranged) {
        return HOLD
      }

      const waitMs = delayMs(snapshot)

      return waitMs < shortestTimerMs ? TOO_SHORT : { time: 'at', reason: 'delay', atMs: snapshot.nowMs + waitMs }
    }
  }
}
