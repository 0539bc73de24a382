/**
 * A stream with a small message now and then that somebody waits for. Each counts from when it was due, so a busy thread,
 * which sends late, does not look fast.
 */
import { systemClock } from '../../src/host/clock.ts'
import { URGENT_MESSAGE_BYTES } from '../setup.ts'
import { bytesAt, checkBytes } from './bytes.ts'
import type { Setup } from '../setup.ts'
import type { Stream } from '@libp2p/interface'

export class Urgent {
  readonly #intervalMs: number
  readonly #onFailure: (err: unknown) => void
  #stream: Stream | undefined
  /** Of messages without an echo, the oldest first */
  #dueMs: number[] = []
  #latenciesMs: number[] = []
  #sentBytes = 0
  #echoedBytes = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor ({ urgentEveryMs }: Setup, onFailure: (err: unknown) => void) {
    this.#intervalMs = urgentEveryMs
    this.#onFailure = onFailure
  }

  sendOn (stream: Stream): void {
    this.#stream = stream
    stream.addEventListener('message', ({ data }) => {
      try {
        for (const bytes of data instanceof Uint8Array ? [data] : data) {
          checkBytes(this.#echoedBytes, bytes)
          this.#onEcho(bytes.byteLength)
        }
      } catch (err) {
        this.#onFailure(err)
      }
    })
  }

  /** At the other end */
  echo (stream: Stream): void {
    stream.addEventListener('message', ({ data }) => { stream.send(data) })
  }

  setPaused (isPaused: boolean): void {
    clearTimeout(this.#timer)

    if (!isPaused) {
      this.#sendWhenDue(systemClock.nowMs())
    }
  }

  get oldestMs (): number {
    return this.#dueMs.length === 0 ? 0 : systemClock.nowMs() - this.#dueMs[0]
  }

  takeLatenciesMs (): number[] {
    const latenciesMs = this.#latenciesMs
    this.#latenciesMs = []

    return latenciesMs
  }

  #sendWhenDue (dueMs: number): void {
    this.#timer = setTimeout(() => {
      this.#dueMs.push(dueMs)
      this.#stream?.send(bytesAt(this.#sentBytes, URGENT_MESSAGE_BYTES))
      this.#sentBytes += URGENT_MESSAGE_BYTES
      this.#sendWhenDue(dueMs + this.#intervalMs)
    }, Math.max(0, dueMs - systemClock.nowMs()))
  }

  #onEcho (byteLength: number): void {
    const before = Math.floor(this.#echoedBytes / URGENT_MESSAGE_BYTES)
    this.#echoedBytes += byteLength
    const echoed = this.#dueMs.splice(0, Math.floor(this.#echoedBytes / URGENT_MESSAGE_BYTES) - before)
    this.#latenciesMs.push(...echoed.map(dueMs => systemClock.nowMs() - dueMs))
  }
}
