// What everything in one run shares: the plan, the model, the promises that are due, and the first thing that went wrong.
import { Conversation, law } from './flow.ts'
import type { Plan } from './plan.ts'
import type { Side } from './side.ts'
import type { StreamEnd } from './stream-end.ts'
import type { Random } from '../random.ts'
import type { Simulation } from '../simulate.ts'

/** What a handler of the application throws on purpose */
export class ApplicationFault extends Error {}

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
  /** Their muxer was closed, and had the time to send all that they had queued */
  closedInGoodOrder: StreamEnd[] = []
  sentBytes = 0
  budgetBytes: number
  failure: unknown
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
      this.trace(() => `  ${what} rejects: ${err}`)
      law(err instanceof Error || this.sides.some(({ isOurs }) => !isOurs), () => `${what} was rejected with ${String(err)}, which is no error`)

      return err
    } finally {
      this.pending.delete(promise)
    }
  }

  /** Something goes on by itself; what goes wrong in it ends the run */
  start (task: Promise<unknown>): void {
    task.catch(err => { this.fail(err) })
  }

  /** For all that runs in event handlers: a muxer catches what they throw, and gives up the stream */
  attempt (task: () => void): void {
    try {
      task()
    } catch (err) {
      if (err instanceof ApplicationFault) {
        throw err
      }

      this.fail(err)
    }
  }

  fail (err: unknown): void {
    this.failure ??= err
    this.trace(() => `  failed: ${err}`)
  }
}
