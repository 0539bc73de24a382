/**
 * Streams that always have a message to send, and take turns.
 */
import { systemClock } from '../../src/host/clock.ts'
import { bytesAt, checkBytes } from './bytes.ts'
import type { Setup } from '../setup.ts'
import type { Stream } from '@libp2p/interface'

/** What the application has on its way on all streams together, in the muxer and below; each has an equal part of it */
const MAX_UNARRIVED_BYTES = 16_777_216
/** Then the event loop comes round */
const MAX_TURN_MS = 4
/** So many messages are sent between two looks at the clock */
const MESSAGES_PER_LOOK = 64

interface Writer {
  stream: Stream
  sentBytes: number
  arrivedBytes: number
  /** `send` has returned false */
  isFull: boolean
  isReady: boolean
}

export class Bulk {
  readonly #messageBytes: number
  readonly #maxUnarrivedBytes: number
  readonly #onFailure: (err: unknown) => void
  readonly #writers: Writer[] = []
  #ready: Writer[] = []
  #arrivedBytes = 0
  #isScheduled = false
  /** Until all streams are open */
  #isPaused = true

  constructor ({ streams, messageBytes, messagesAhead }: Setup, onFailure: (err: unknown) => void) {
    this.#messageBytes = messageBytes
    this.#maxUnarrivedBytes = Math.max(messageBytes, Math.min(MAX_UNARRIVED_BYTES / streams, messagesAhead * messageBytes))
    this.#onFailure = onFailure
  }

  get arrivedMessages (): number {
    return Math.floor(this.#arrivedBytes / this.#messageBytes)
  }

  /** In the muxer */
  get waitingBytes (): number {
    return this.#writers.reduce((sum, { stream }) => sum + stream.writeBufferLength, 0)
  }

  sendOn (stream: Stream): void {
    const writer = { stream, sentBytes: 0, arrivedBytes: 0, isFull: false, isReady: false }
    this.#writers.push(writer)

    // onDrain() of @libp2p/yamux resolves at once after its first use
    stream.addEventListener('drain', () => {
      writer.isFull = false
      this.#readyIfMay(writer)
    })
  }

  /** The other end of what was the `index`th to send on */
  receive (stream: Stream, index: number): void {
    const writer = this.#writers[index]

    stream.addEventListener('message', ({ data }) => {
      try {
        for (const bytes of data instanceof Uint8Array ? [data] : data) {
          checkBytes(writer.arrivedBytes, bytes)
          writer.arrivedBytes += bytes.byteLength
          this.#arrivedBytes += bytes.byteLength
        }
      } catch (err) {
        this.#onFailure(err)
      }

      this.#readyIfMay(writer)
    })
  }

  setPaused (isPaused: boolean): void {
    this.#isPaused = isPaused
    this.#writers.forEach(writer => { this.#readyIfMay(writer) })
  }

  #may ({ isFull, sentBytes, arrivedBytes }: Writer): boolean {
    return !isFull && !this.#isPaused && sentBytes + this.#messageBytes - arrivedBytes <= this.#maxUnarrivedBytes
  }

  #readyIfMay (writer: Writer): void {
    if (!writer.isReady && this.#may(writer)) {
      writer.isReady = true
      this.#ready.push(writer)
      this.#schedule(queueMicrotask)
    }
  }

  #schedule (soon: (task: () => void) => void): void {
    if (!this.#isScheduled) {
      this.#isScheduled = true
      soon(this.#send)
    }
  }

  readonly #send = (): void => {
    const untilMs = systemClock.nowMs() + MAX_TURN_MS

    try {
      while (this.#ready.length > 0 && systemClock.nowMs() < untilMs) {
        this.#sendSome()
      }
    } catch (err) {
      this.#onFailure(err)
    }

    this.#isScheduled = false

    if (this.#ready.length > 0) {
      this.#schedule(systemClock.nextTurn)
    }
  }

  /** A message of each that may, in as many rounds as there are messages between two looks at the clock */
  #sendSome (): void {
    for (let sent = 0; sent < MESSAGES_PER_LOOK && this.#ready.length > 0;) {
      const round = this.#ready
      this.#ready = []

      for (const writer of round) {
        const position = writer.sentBytes
        writer.sentBytes += this.#messageBytes
        writer.isFull = !writer.stream.send(bytesAt(position, this.#messageBytes))
        writer.isReady = this.#may(writer)
        sent++

        if (writer.isReady) {
          this.#ready.push(writer)
        }
      }
    }
  }
}
