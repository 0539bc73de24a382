/**
 * Streams that stand still in both directions: both ends write, and neither reads before it has written. Credit that follows
 * reading would leave them so for ever, so they get more, out of the connection's budget, up to what a stream may buffer.
 */
import { logError } from '../thrown.ts'
import type { Clock } from '../clock.ts'
import type { Session } from '../core/session.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { YamuxStream } from '../stream/stream.ts'
import type { Logger } from '@libp2p/interface'

/** A stream that has no more to be granted is reported when it has carried nothing for so long */
const REPORTED_AFTER_MS = 10_000

export interface StallsInit {
  session: Session<YamuxStream>
  clock: Clock
  log: Logger
  /** A stream owes the peer credit */
  onRelieved (): void
  /** A stream was reported */
  onStalled (): void
}

export class Stalls {
  readonly #init: StallsInit
  readonly #streams = new Set<StreamState<YamuxStream>>()
  readonly #reported = new WeakSet<StreamState<YamuxStream>>()
  #timer: unknown
  #dueMs = Infinity
  #isStopped = false

  constructor (init: StallsInit) {
    this.#init = init
  }

  /** A stream stands still now. Its reader may be on the way: it is looked at again when the event loop has come round. */
  suspect (stream: StreamState<YamuxStream>): void {
    if (!this.#isStopped) {
      this.#streams.add(stream)
      this.#lookIn(0)
    }
  }

  stop (): void {
    this.#isStopped = true
    this.#init.clock.clearTimer(this.#timer)
  }

  #lookIn (delayMs: number): void {
    const { clock } = this.#init
    const dueMs = clock.nowMs() + delayMs

    if (dueMs < this.#dueMs) {
      clock.clearTimer(this.#timer)
      this.#dueMs = dueMs
      this.#timer = clock.setTimer(this.#look, delayMs)
    }
  }

  readonly #look = (): void => {
    const nowMs = this.#init.clock.nowMs()
    this.#dueMs = Infinity

    for (const stream of this.#streams) {
      if (stream.isOver || !stream.isStalled || this.#relieve(stream, nowMs)) {
        this.#streams.delete(stream)
      } else {
        this.#wait(stream, nowMs)
      }
    }

    this.#init.onRelieved()
  }

  #relieve (stream: StreamState<YamuxStream>, nowMs: number): boolean {
    return this.#init.session.relieve(stream, stream.owner?.maxReadBufferLength ?? 0, nowMs)
  }

  /** There is no more to be had, as long as others do not give some back */
  #wait (stream: StreamState<YamuxStream>, nowMs: number): void {
    const leftMs = stream.lastActiveMs + REPORTED_AFTER_MS - nowMs

    if (leftMs <= 0 && !this.#reported.has(stream)) {
      this.#reported.add(stream)
      this.#report(stream)
    }

    this.#lookIn(leftMs > 0 ? leftMs : REPORTED_AFTER_MS)
  }

  #report ({ id, sendQueue, readBuffer, receiveWindow, owner }: StreamState<YamuxStream>): void {
    const { log, onStalled } = this.#init
    logError({ log }, '%e', new Error(`Stream ${id} has carried nothing for ${REPORTED_AFTER_MS} ms in either direction: ${sendQueue.byteLength} bytes wait to be sent until the peer reads, and ${readBuffer.byteLength} wait to be read here, which the peer may be waiting for. Read while you write, or raise streamOptions.maxReadBufferLength (${owner?.maxReadBufferLength}) or maxConnectionWindow: the window is ${receiveWindow.windowBytes} bytes`))
    onStalled()
  }
}
