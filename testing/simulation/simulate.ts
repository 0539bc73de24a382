// Runs whole muxers, and the application on them, in virtual time: time jumps from event to event,
// nothing waits for real, and the same input gives the same bytes at the same instants.
import { createLink } from './link.ts'
import { Random } from './random.ts'
import { Timeline } from './timeline.ts'
import { VirtualGlobals } from './virtual-globals.ts'
import type { Link, LinkOptions } from './link.ts'
import type { StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'

const DEFAULT_END_MS = 3_600_000
const DEFAULT_EVENTS_OF_AN_INSTANT = 100_000

export interface SimulationInit {
  seed?: number
  /** What happens at one instant happens in an order that follows from the seed, timers first; as planned unless told otherwise */
  shufflesTies?: boolean
  /** The simulation fails when it has not come to its end by then: an hour unless told otherwise */
  endMs?: number
  /**
   * The simulation fails when more than that happens without time passing, 100,000 unless told
   * otherwise: code that asks in every turn of the event loop whether something is so stops time
   */
  maxEventsOfAnInstant?: number
}

export interface MuxerFactories<Dialler extends StreamMuxer, Listener extends StreamMuxer> {
  dialler (): StreamMuxerFactory<Dialler>
  listener (): StreamMuxerFactory<Listener>
}

export interface ConnectedMuxers<Dialler extends StreamMuxer, Listener extends StreamMuxer> extends Link {
  dialler: Dialler
  listener: Listener
}

interface Waiter {
  isDue (): boolean
  resolve (): void
}

interface Idler {
  /** How long nothing may happen */
  forMs: number
  resolve (): void
}

let isRunning = false

/**
 * Runs `application` in virtual time, and returns what it returns. Timers, dates, performance.now()
 * and AbortSignal.timeout() are virtual in it, in the whole process.
 *
 * All that it waits for has to come about in virtual time. Modules are imported before, files read.
 */
export async function simulate<T> (init: SimulationInit, application: (sim: Simulation) => Promise<T> | T): Promise<T> {
  if (isRunning) {
    throw new Error('There is one simulation at a time, for there is one clock')
  }

  const timeline = new Timeline(init.shufflesTies === true ? new Random(init.seed ?? 1).fork() : undefined)
  const realSetImmediate = globalThis.setImmediate
  const realTurn = async (): Promise<void> => new Promise(resolve => { realSetImmediate(resolve) })
  const globals = new VirtualGlobals(timeline)
  isRunning = true

  try {
    return await new Simulation(init, timeline, globals, realTurn).run(application)
  } finally {
    isRunning = false
    globals.restore()
  }
}

export class Simulation {
  readonly #timeline: Timeline
  readonly #globals: VirtualGlobals
  readonly #realTurn: () => Promise<void>
  readonly #endMs: number
  readonly #maxEventsOfAnInstant: number
  #waiters: Waiter[] = []
  #idlers: Idler[] = []
  #eventsOfThisInstant = 0

  constructor (init: SimulationInit, timeline: Timeline, globals: VirtualGlobals, realTurn: () => Promise<void>) {
    this.#timeline = timeline
    this.#globals = globals
    this.#realTurn = realTurn
    this.#endMs = init.endMs ?? DEFAULT_END_MS
    this.#maxEventsOfAnInstant = init.maxEventsOfAnInstant ?? DEFAULT_EVENTS_OF_AN_INSTANT
  }

  /** The virtual time, with its fraction; performance.now() is the same */
  get nowMs (): number {
    return this.#timeline.nowMs
  }

  /** Two muxers on a link, dialler first */
  connect<Dialler extends StreamMuxer, Listener extends StreamMuxer> (options: LinkOptions, factories: MuxerFactories<Dialler, Listener>): ConnectedMuxers<Dialler, Listener> {
    const link = this.link(options)

    return {
      ...link,
      dialler: factories.dialler().createStreamMuxer(link.diallerEnd),
      listener: factories.listener().createStreamMuxer(link.listenerEnd)
    }
  }

  /** A link by itself */
  link (options: LinkOptions): Link {
    return createLink(this.#timeline, options)
  }

  /** Runs `task` at an instant, which unlike a timer's may be a fraction of a millisecond */
  at (atMs: number, task: () => void): void {
    this.#timeline.at(atMs, task)
  }

  async sleep (forMs: number): Promise<void> {
    return new Promise(resolve => { this.at(this.nowMs + forMs, resolve) })
  }

  /** Waits until something is so. It is looked at after each event, when all that the event led to is done. */
  async until (isDue: () => boolean): Promise<void> {
    return new Promise(resolve => { this.#waiters.push({ isDue, resolve }) })
  }

  /** Waits until nothing is left to happen. Never, where a muxer keeps its connection alive with a timer. */
  async idle (): Promise<void> {
    return this.calm(Infinity)
  }

  /** Waits until nothing is going to happen for so long, from then on */
  async calm (forMs: number): Promise<void> {
    return new Promise(resolve => { this.#idlers.push({ forMs, resolve }) })
  }

  /** Timers that are set and have not run yet, other than those of AbortSignal.timeout(), which Node forgets with the signal */
  get timerCount (): number {
    return this.#globals.timerCount
  }

  async run<T> (application: (sim: Simulation) => Promise<T> | T): Promise<T> {
    let isOver = false
    const result = (async () => application(this))()
    const over = (): void => { isOver = true }
    result.then(over, over)

    while (true) {
      await this.#settle()

      if (isOver) {
        return result
      }

      if (!this.#release()) {
        this.#step()
      }
    }
  }

  /**
   * One turn runs all microtasks and all of process.nextTick, whatever they lead to. More turns are
   * for code that has got hold of the real setImmediate before the simulation.
   */
  async #settle (): Promise<void> {
    let planned

    do {
      planned = this.#timeline.planned
      await this.#realTurn()
    } while (this.#timeline.planned !== planned)
  }

  #release (): boolean {
    const due = this.#waiters.filter(({ isDue }) => isDue())
    this.#waiters = this.#waiters.filter(waiter => !due.includes(waiter))

    for (const { resolve } of due) {
      resolve()
    }

    return due.length > 0
  }

  /** Lets the next thing happen. Of one instant, timers come first: they cannot keep out the others. */
  #step (): void {
    const timerMs = this.#globals.nextTimerMs
    const nextMs = Math.min(timerMs, this.#timeline.nextMs)

    if (this.#comeToRest(nextMs)) {
      return
    }

    if (nextMs > this.#endMs) {
      throw new Error(`The simulation has not come to its end within ${this.#endMs} ms`)
    }

    this.#eventsOfThisInstant = nextMs > this.nowMs ? 0 : this.#eventsOfThisInstant + 1

    if (this.#eventsOfThisInstant > this.#maxEventsOfAnInstant) {
      throw new Error(`Time stands still at ${this.nowMs} ms: something happens in every turn of the event loop`)
    }

    this.#timeline.moveTo(nextMs)

    if (timerMs === nextMs) {
      this.#globals.runTimer()
    } else {
      this.#globals.follow()
      this.#timeline.runNext()
    }
  }

  /** Returns whether somebody has waited for that */
  #comeToRest (nextMs: number): boolean {
    const resting = this.#idlers.filter(({ forMs }) => nextMs === Infinity || nextMs - this.nowMs > forMs)

    if (nextMs === Infinity && resting.length === 0) {
      throw new Error(`Nothing is left to happen after ${this.nowMs} ms, and the simulation has not come to its end`)
    }

    this.#idlers = this.#idlers.filter(idler => !resting.includes(idler))
    resting.forEach(({ resolve }) => { resolve() })

    return resting.length > 0
  }
}
