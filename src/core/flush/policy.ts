/**
 * When to write: a policy looks at the state of things and answers. It owns no timer and no bytes.
 */

/**
 * What has made output. `write`: the application, libp2p or time. `chunk`: an inbound chunk has just been dealt with, and
 * its streams were told. `opening`: this side has opened a stream, the first of this turn.
 */
export type FlushOccasion = 'write' | 'chunk' | 'opening'

/** What this turn of the event loop has written */
export interface Turn {
  /** How many flushes it has seen; Infinity when all but urgent data waits for the next */
  readonly flushes: number
  /** It has written all that a turn may, urgent data included */
  readonly isOver: boolean
}

/** What the writer knows */
export interface Moment {
  readonly occasion: FlushOccasion
  readonly turn: Turn
  /** The output is what the last flush left behind its full writes, and nothing was added */
  readonly isRest: boolean
  /** A flush is arranged already: for the next turn or later, or at a time */
  readonly isArranged: boolean
}

/** What there is to write: a session */
export interface Output {
  readonly lanes: {
    /** A stream of the urgent lane has data */
    readonly hasUrgent: boolean
    /** The data of all streams */
    readonly queuedBytes: number
  }
  readonly control: {
    /** There are control frames other than acknowledgements, which nobody waits for */
    readonly hasMoreThanAcks: boolean
  }
  readonly underWay: {
    /** A ping behind the data: like control frames it waits for nothing */
    readonly isMarkOwed: boolean
  }
  readonly roundTrip: {
    /** Undefined until it was measured */
    readonly shorterMs: number | undefined
  }
}

/**
 * - `now`: inside the call that made the output
 * - `soon`: when a microtask has brought no more
 * - `next-turn`: once, when the event loop comes round
 * - `next-round`: when it has also looked for what timers, sockets and files have brought
 * - `later`: after a time
 * - `keep`: nothing to arrange; what is arranged stays
 */
export type FlushTime = 'now' | 'soon' | 'next-turn' | 'next-round' | 'later' | 'keep'

/**
 * Why bytes were written when they were:
 *
 * - `urgent`: there was urgent data
 * - `control`: there were control frames
 * - `acks`: there were only acknowledgements, and nothing came to take them along
 * - `turn`: what the running code had to say was complete
 * - `chunk`: an inbound chunk had just been dealt with
 * - `next-turn`: the turn before had seen enough flushes
 * - `rest`: nothing came to join what full writes had left behind
 * - `delay`: the delay was over
 * - `watermark`: enough had gathered
 * - `off`: coalescing is off
 * - `drain`: the transport took more again
 * - `forced`: it could not wait for any of this
 */
export const FLUSH_REASONS = ['urgent', 'control', 'acks', 'turn', 'chunk', 'next-turn', 'rest', 'delay', 'watermark', 'off', 'drain', 'forced'] as const

export type FlushReason = typeof FLUSH_REASONS[number]

export interface FlushDecision {
  readonly time: FlushTime
  readonly reason: FlushReason
  /** With `later` */
  readonly delayMs?: number
}

export interface FlushPolicy {
  /** How many frames one write may hold */
  readonly maxFramesPerWrite: number
  /** A stream's SYN leaves when it is opened; if not, soon, and takes along what is sent by then */
  readonly opensAtOnce: boolean
  /** What is left behind full writes, too little for another, is decided on anew */
  readonly defersRest: boolean
  /** What a listener sends leaves while it runs; if not, it is decided on when all listeners have been told */
  readonly interruptsListeners: boolean
  /** There is output and the transport takes it: when should it leave? Hot. */
  decide (moment: Moment, output: Output): FlushDecision
}
