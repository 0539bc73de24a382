// What everything in one run shares: the plan, the model, the promises that are due, and the first thing that went wrong.
import { Conversation, law } from './flow.ts'
import type { Mischief } from './mischief.ts'
import type { Neighbour } from './neighbour.ts'
import type { Plan } from './plan.ts'
import type { Side } from './side.ts'
import type { StreamEnd } from './stream-end.ts'
import type { Random } from '../../../testing/simulation/random.ts'
import type { Simulation } from '../../../testing/simulation/simulate.ts'

export interface FaultInit {
  /** Thrown by a listener of a muxer of ours, which has to catch it */
  isOurs?: boolean
  /** The muxer learns of it some microtasks later */
  isLate?: boolean
  /** What the listener does instead of throwing the fault: throws, or returns, something else */
  raise? (): unknown
}

/** What a handler of the application throws on purpose */
export class ApplicationFault extends Error {
  readonly isOurs: boolean
  readonly isLate: boolean
  readonly raise: (() => unknown) | undefined

  constructor (message: string, { isOurs = false, isLate = false, raise }: FaultInit = {}) {
    super(message)
    this.isOurs = isOurs
    this.isLate = isLate
    this.raise = raise
  }
}

/** Of what anybody may have thrown: some things cannot even be asked what they are */
export function isError (value: unknown): value is Error {
  try {
    return value instanceof Error
  } catch {
    return false
  }
}

export function print (value: unknown): string {
  try {
    return String(value)
  } catch {
    return 'what cannot be printed'
  }
}

/** What went wrong, as it can be shown: itself, unless it is one of the things that were thrown to be odd */
export function printable (value: unknown): Error {
  try {
    if (value instanceof Error && typeof value.stack === 'string' && typeof value.message === 'string') {
      return value
    }
  } catch {}

  return new Error(`Nobody caught ${print(value)}`)
}

export class Run {
  readonly sim: Simulation
  readonly plan: Plan
  readonly random: Random
  /** Dialler first */
  readonly sides: Side[] = []
  readonly conversations = new Map<number, Conversation>()
  /** What each promise that is not settled yet is of */
  readonly pending = new Map<Promise<unknown>, string>()
  /** The connection is being ended, or may end itself: any stream may be cut off */
  isEnding = false
  /** The next event handler of a muxer of ours ends the connection */
  isEndDue = false
  /** Everybody reads all there is and closes when all is sent */
  isSettling = false
  hasCancelledOpens = false
  /** A second connection of this process, in some runs */
  neighbour: Neighbour | undefined
  /** Their muxer was closed, and had the time to send all that they had queued */
  closedInGoodOrder: StreamEnd[] = []
  sentBytes = 0
  budgetBytes: number
  failure: Error | undefined
  readonly #write: ((line: string) => void) | undefined

  constructor (sim: Simulation, plan: Plan, random: Random, write: ((line: string) => void) | undefined) {
    this.sim = sim
    this.plan = plan
    this.random = random
    this.#write = write
    this.budgetBytes = plan.budgetBytes
    this.isEnding = plan.ending === 'silence'
  }

  /** A line of the trace, made only when somebody reads it */
  trace (line: () => string): void {
    this.#write?.(`${this.sim.nowMs.toFixed(3).padStart(10)} ms  ${line()}`)
  }

  conversation (id: number): Conversation {
    let conversation = this.conversations.get(id)

    if (conversation == null) {
      conversation = new Conversation(id)
      this.conversations.set(id, conversation)
    }

    return conversation
  }

  /** The promise must settle before the run ends, and be rejected with an error if at all. Resolves to that error. */
  async track (what: string, promise: Promise<unknown>): Promise<Error | undefined> {
    this.pending.set(promise, what)

    try {
      await promise
      this.trace(() => `  ${what} resolves`)

      return undefined
    } catch (err: any) {
      this.trace(() => `  ${what} rejects: ${print(err)}`)
      law(isError(err) || this.sides.some(({ isOurs }) => !isOurs), () => `${what} was rejected with ${print(err)}, which is no error`)

      return err
    } finally {
      this.pending.delete(promise)
    }
  }

  /** Something goes on by itself; what goes wrong in it ends the run */
  start (task: Promise<unknown>): void {
    task.catch(err => { this.fail(err) })
  }

  /**
   * For all that runs in event handlers: a muxer catches what they throw, and gives up the stream. Returns what the
   * handler is to return.
   */
  attempt (task: () => void): unknown {
    try {
      task()
    } catch (err) {
      if (isError(err) && err instanceof ApplicationFault) {
        if (err.raise == null) {
          throw err
        }

        return err.raise()
      }

      this.fail(err)
    }

    return undefined
  }

  /** Nobody caught what was thrown */
  onUncaught (err: unknown): void {
    // an EventTarget throws what its listeners throw, with nobody to catch it: stock's does
    if (!(isError(err) && err instanceof ApplicationFault && !err.isOurs)) {
      this.fail(err)
    }
  }

  fail (err: unknown): void {
    this.failure ??= printable(err)
    this.trace(() => `  failed: ${print(err)}`)
  }

  isUpTo (mischief: Mischief): boolean {
    return this.plan.mischief.kinds.includes(mischief)
  }
}
