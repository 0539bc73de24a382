/**
 * Pings as the application sees them: calls while one is under way share it.
 */
import { abortable } from '../abortable.ts'
import { withHandledRejection } from '../deferred.ts'
import type { RoundTrip } from '../core/round-trip.ts'
import type { AbortOptions } from '@libp2p/interface'

export class Pinger {
  readonly #roundTrip: RoundTrip
  readonly #send: () => void
  #waiting: PromiseWithResolvers<number> | undefined

  /** `send` begins a measurement */
  constructor (roundTrip: RoundTrip, send: () => void) {
    this.#roundTrip = roundTrip
    this.#send = send
  }

  /** Sends a ping unless one is under way */
  start (): void {
    if (!this.#roundTrip.isPending) {
      this.#send()
    }
  }

  async ping (options?: AbortOptions): Promise<number> {
    this.#waiting ??= withHandledRejection()
    const { promise } = this.#waiting
    this.start()

    return abortable(promise, options?.signal)
  }

  /** Frames have come in, a pong perhaps */
  settle (): void {
    if (this.#waiting != null && !this.#roundTrip.isPending && this.#roundTrip.lastMs != null) {
      this.#waiting.resolve(this.#roundTrip.lastMs)
      this.#waiting = undefined
    }
  }

  reject (err: Error): void {
    this.#waiting?.reject(err)
    this.#waiting = undefined
  }
}
