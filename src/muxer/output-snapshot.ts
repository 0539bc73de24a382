/**
 * What a policy decides by, found out when it asks.
 */
import type { TurnBudget } from './turn-budget.ts'
import type { Clock } from '../clock.ts'
import type { FlushOccasion, FlushSnapshot } from '../core/flush/flush-policy.ts'

/** What the policy and the coalescer want to know of the session */
export interface Output extends Pick<FlushSnapshot, 'hasUrgent' | 'hasControl' | 'queuedBytes' | 'roundTripMs'> {
  /** Whether they have data or not */
  readonly hasUrgentStreams: boolean
  readonly hasOutput: boolean
}

export class OutputSnapshot implements FlushSnapshot {
  occasion: FlushOccasion = 'write'
  isArranged = false
  isRest = false
  readonly #output: Output
  readonly #clock: Clock
  readonly #turn: TurnBudget

  constructor (output: Output, clock: Clock, turn: TurnBudget) {
    this.#output = output
    this.#clock = clock
    this.#turn = turn
  }

  get flushesThisTurn (): number {
    return this.#turn.flushes
  }

  get isTurnOver (): boolean {
    return this.#turn.isOver
  }

  get nowMs (): number {
    return this.#clock.nowMs()
  }

  get hasUrgent (): boolean {
    return this.#output.hasUrgent
  }

  get hasControl (): boolean {
    return this.#output.hasControl
  }

  get queuedBytes (): number {
    return this.#output.queuedBytes
  }

  get roundTripMs (): number | undefined {
    return this.#output.roundTripMs
  }
}
