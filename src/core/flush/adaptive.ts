/**
 * The `adaptive` strategy: `delay`, but for no longer than a quarter of the round trip, so that it hides
 * in the time that the bytes travel anyway.
 */
import { delay } from './delay.ts'
import type { FlushPolicy } from './flush-policy.ts'
import type { DelayInit } from './delay.ts'

/** Of the round trip */
const DELAY_PART = 1 / 4

export interface AdaptiveInit extends Omit<DelayInit, 'delayMs'> {
  maxDelayMs: number
}

/** Nothing waits until the round trip was measured */
export function adaptive ({ maxDelayMs, ...init }: AdaptiveInit): FlushPolicy {
  return delay({
    ...init,
    delayMs: ({ roundTripMs }) => Math.min(maxDelayMs, (roundTripMs ?? 0) * DELAY_PART)
  })
}
