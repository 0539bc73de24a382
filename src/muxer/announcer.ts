/**
 * Tells the application of inbound streams. Those that came before anybody listened, as happens while libp2p is still setting up the
 * connection, wait for a listener; those beyond what a turn of the event loop may bring wait for the next one.
 */
import { MaxEarlyStreamsError } from '@libp2p/utils'
import type { Clock } from '../clock.ts'
import type { MuxedStream } from '../stream/stream.ts'

/** libp2p has work to do for each, and a chunk of 64 KiB may open a thousand: announced together they took a turn of 28 to 94 ms, so 13 to 48 */
const MAX_PER_TURN = 32

export interface AnnouncerHandler {
  readonly isListenedTo: boolean
  announce (stream: MuxedStream): void
  fail (err: Error): void
}

export class Announcer {
  readonly #maxEarlyStreams: number
  readonly #clock: Clock
  readonly #handler: AnnouncerHandler
  readonly #waiting = new Set<MuxedStream>()
  #announcedInTurn = 0

  constructor (maxEarlyStreams: number, clock: Clock, handler: AnnouncerHandler) {
    this.#maxEarlyStreams = maxEarlyStreams
    this.#clock = clock
    this.#handler = handler
  }

  /** The peer has opened it */
  add (stream: MuxedStream): void {
    const { isListenedTo } = this.#handler

    if (isListenedTo && this.#waiting.size === 0 && this.#announcedInTurn < MAX_PER_TURN) {
      this.#announce(stream)
      return
    }

    this.#waiting.add(stream)

    if (!isListenedTo && this.#waiting.size > this.#maxEarlyStreams) {
      // libp2p listens some microtasks after it has made a muxer. The first chunk comes sooner, and may open any number of streams.
      this.#clock.nextTurn(this.#checkEarly)
    }
  }

  /** It has ended: nobody need see it */
  remove (stream: MuxedStream): void {
    this.#waiting.delete(stream)
  }

  /** Nobody is told of those that wait, which it returns: the session ends */
  close (): MuxedStream[] {
    const waiting = [...this.#waiting]
    this.#waiting.clear()

    return waiting
  }

  /** Somebody listens. Listeners are often added in constructors, which should have run before the first event. */
  onListener (): void {
    if (this.#waiting.size > 0) {
      queueMicrotask(this.#goOn)
    }
  }

  #announce (stream: MuxedStream): void {
    // only so many streams cost a look at where the turn ends
    if (++this.#announcedInTurn === MAX_PER_TURN) {
      this.#clock.nextTurn(() => {
        this.#announcedInTurn = 0
        this.#goOn()
      })
    }

    this.#handler.announce(stream)
  }

  readonly #goOn = (): void => {
    for (const stream of this.#waiting) {
      if (this.#announcedInTurn === MAX_PER_TURN) {
        break
      }

      this.#waiting.delete(stream)
      this.#announce(stream)
    }
  }

  readonly #checkEarly = (): void => {
    const { size } = this.#waiting

    if (!this.#handler.isListenedTo && size > this.#maxEarlyStreams) {
      this.#handler.fail(new MaxEarlyStreamsError(`${size} streams were opened before anybody listened for them, maxEarlyStreams allows ${this.#maxEarlyStreams}`))
    }
  }
}
