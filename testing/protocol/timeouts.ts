/**
 * Timeouts that expire when a test says so, whether they come from a clock or from AbortSignal.timeout().
 */
import { afterEach, beforeEach, vi } from 'vitest'
import { nextTurn } from './raw-peer.ts'
import { VirtualClock } from './virtual-clock.ts'

export interface Timeouts {
  /** To be given to the muxer under test */
  clock: VirtualClock
  /** Ten minutes pass */
  expire (): Promise<void>
}

/** To be called in a describe block; fresh for each of its tests */
export function controlTimeouts (): Timeouts {
  const controllers: AbortController[] = []
  const timeouts: Timeouts = {
    clock: new VirtualClock(),
    expire: async () => {
      await nextTurn()
      timeouts.clock.advance(600_000)
      controllers.splice(0).forEach(controller => { controller.abort(new DOMException('Timed out', 'TimeoutError')) })
      await nextTurn()
    }
  }

  beforeEach(() => {
    timeouts.clock = new VirtualClock()
    controllers.length = 0
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const controller = new AbortController()
      controllers.push(controller)

      return controller.signal
    })
  })

  afterEach(() => {
    vi.restoreAllMocks()
  })

  return timeouts
}
