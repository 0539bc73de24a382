/**
 * The strategy that the options name.
 */
import { adaptive } from '../core/flush/adaptive.ts'
import { delay } from '../core/flush/delay.ts'
import { off } from '../core/flush/off.ts'
import { turn } from '../core/flush/turn.ts'
import type { Config } from '../config.ts'
import type { FlushPolicy } from '../core/flush/flush-policy.ts'

export function createFlushPolicy (config: Config, shortestTimerMs: number): FlushPolicy {
  const init = { watermarkBytes: config.watermarkBytes, shortestTimerMs }

  switch (config.strategy) {
    case 'off':
      return off
    case 'delay':
      return delay({ ...init, delayMs: () => config.delayMs })
    case 'adaptive':
      return adaptive({ ...init, maxDelayMs: config.maxDelayMs })
    default:
      return turn
  }
}
