/**
 * Reads chunks from the transport, and passes their events to the streams. Hot.
 *
 * One activity at a time:
 *
 * | activity    | runs                          | a new chunk  | a flush                                                        |
 * | ----------- | ----------------------------- | ------------ | -------------------------------------------------------------- |
 * | `idle`      | nothing                       | is read      | is requested by each call of a stream or the muxer             |
 * | `receiving` | the core, chunk by chunk      | is read next | only replies that pile up are written                          |
 * | `telling`   | programs, stream by stream    | waits        | is requested once, at the end; an abort writes within the call |
 * | `answering` | the writer, after a chunk     | waits        | is requested by each call of a stream or the muxer             |
 *
 * A chunk leads from `idle` through `receiving`, `telling` and `answering` to the next chunk or back, a flush from `idle` to `telling` and
 * back. The transport runs during a flush and may call back. A chunk then waits for the end of the flush; if the transport ends, the
 * connection ends immediately.
 */
import { ON_CHUNK } from '../core/flush.ts'
import { EVENT_OPENED, EVENT_REMOTE_FIN } from '../core/stream-state.ts'
import { partsOf, toError } from '../foreign/values.ts'
import { fillYoungMemory } from './young-memory.ts'
import type { Session } from '../core/session.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { ConnectionObserver } from '../observe/frame-tap.ts'
import type { ConnectionMetrics } from '../observe/metrics.ts'
import type { Clock } from './clock.ts'
import type { StreamOwner } from './stream-owner.ts'
import type { Writer } from './writer.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

export type Chunk = Uint8Array | Uint8ArrayList
type Activity = 'idle' | 'receiving' | 'telling' | 'answering'

export interface ReaderHost<Owner> {
  readonly session: Session<Owner>
  readonly clock: Clock
  readonly writer: Pick<Writer, 'turn' | 'isFlushing'>
  readonly metrics: Pick<ConnectionMetrics, 'report'> | undefined
  readonly observers: readonly ConnectionObserver[]
  /** Shorter chunks leave young memory alone */
  readonly youngFromBytes: number
  /** Tells the writer that there may be output */
  request (occasion: number): void
}

/** The muxer, as far as the reader calls it */
export interface ReaderEvents<Owner> {
  /** The peer has opened a stream */
  onOpened (state: StreamState<Owner>): void
  /** Takes a stream off the list before it is told that it has ended. May be called twice for a stream. */
  onStreamEnded (owner: Owner): void
  /** The peer has broken a rule, or is gone */
  fail (err: Error): void
}

export class Reader<Owner extends StreamOwner> {
  activity: Activity = 'idle'
  /** Run after the streams have been told: after each chunk and each flush. Mostly empty. */
  readonly afterTelling = new Set<() => void>()
  /** A transport may bring a chunk during a flush, or during the work on another chunk */
  readonly waitingChunks: Chunk[] = []
  readonly #host: ReaderHost<Owner>
  readonly #events: ReaderEvents<Owner>
  /** The session is over, or the peer has broken a rule */
  #isStopped = false

  constructor (host: ReaderHost<Owner>, events: ReaderEvents<Owner>) {
    this.#host = host
    this.#events = events
  }

  /** Takes what the transport brings. Hot: runs once per chunk. */
  receive (chunk: Chunk): void {
    if (this.#isStopped) {
      return
    }

    this.waitingChunks.push(chunk)

    if (!this.#host.writer.isFlushing) {
      this.receiveWaiting()
    }
  }

  /** Reads the chunks that wait, unless another activity will. The last chunks of a transport that has ended (`isLast`) are read even while telling. */
  receiveWaiting (isLast = false): void {
    const before = this.activity

    if (before !== 'idle' && !(isLast && before === 'telling')) {
      return
    }

    try {
      // the answers to a chunk may bring the next
      while (this.waitingChunks.length > 0 && !this.#isStopped) {
        this.#readWaiting(before === 'idle' ? 'answering' : before)
      }
    } finally {
      this.activity = before
    }
  }

  /** Drops all further chunks */
  stop (): void {
    this.#isStopped = true
  }

  #readWaiting (next: Activity): void {
    const host = this.#host
    const { loop } = host.writer.turn
    let violation: Error | undefined
    this.activity = 'receiving'

    try {
      // a flush of replies may bring more
      for (let i = 0; i < this.waitingChunks.length; i++) {
        const chunk = this.waitingChunks[i]
        const parts = chunk instanceof Uint8Array ? chunk : partsOf(chunk, 'The muxer')
        const nowMs = host.clock.nowMs()

        for (const { received } of host.observers) {
          received.push(parts)
        }

        // a Uint8ArrayList adds up its length at each call
        const { byteLength } = chunk

        if (byteLength >= host.youngFromBytes) {
          fillYoungMemory(byteLength)
        }

        host.session.receive(parts, nowMs, loop.onChunk(nowMs), byteLength)
      }
    } catch (err) {
      violation = toError(err, 'A chunk could not be read:')
      this.#isStopped = true
    } finally {
      // most chunks are alone, and V8 keeps the list's memory on pop()
      if (this.waitingChunks.length === 1) {
        this.waitingChunks.pop()
      } else {
        this.waitingChunks.length = 0
      }

      // telling returns to this
      this.activity = next
    }

    this.tell()

    if (violation === undefined) {
      host.request(ON_CHUNK)
    } else {
      this.#events.fail(violation)
    }

    host.metrics?.report()
  }

  /** Passes the session's events to the streams */
  tell (): void {
    const before = this.activity

    if (before === 'telling' || before === 'receiving') {
      // in the first case the loop below is running and reaches new entries; in the second, the end of the chunk tells
      return
    }

    const { eventful } = this.#host.session
    let told = 0
    this.activity = 'telling'

    try {
      while (told < eventful.length) {
        const state = eventful[told++]
        const { events } = state
        state.events = 0

        // a stream that was opened and reset in one chunk is announced only if its data is complete
        if ((events & EVENT_OPENED) !== 0 && (!state.life.isReset || ((events & EVENT_REMOTE_FIN) !== 0 && state.readBuffer.byteLength > 0))) {
          this.#events.onOpened(state)
        }

        if (state.life.isOver && state.owner !== undefined) {
          this.#events.onStreamEnded(state.owner)
        }

        state.owner?.handle(events)
      }
    } finally {
      if (told === 1 && eventful.length === 1) {
        // the usual case, without a new array
        eventful.pop()
      } else {
        // after an exception, such as a full stack, the rest is told next time
        eventful.splice(0, told)
      }

      this.activity = before
    }

    if (this.afterTelling.size > 0) {
      this.afterTelling.forEach(look => { look() })
    }

    // a listener has made the transport bring it
    if (before === 'idle' && this.waitingChunks.length > 0) {
      this.receiveWaiting()
    }
  }
}
