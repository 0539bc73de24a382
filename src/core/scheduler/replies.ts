/**
 * Answers that the peer calls for without a stream: pongs, and resets of streams that were refused. Bounded: a peer that sends
 * and does not read would otherwise pile them up (CVE-2024-32984, CVE-2019-9512).
 */
import { ProtocolError } from '../protocol-error.ts'
import { FLAG_ACK, FLAG_RST, HEADER_BYTES, SESSION_ID, TYPE_PING, TYPE_WINDOW_UPDATE } from '../wire/frame.ts'
import type { Batch } from './batch.ts'

/** Of 4 bytes each. The Rust crate h2 bounds the resets it is made to send by the same number. */
const MAX_UNREAD_REPLIES = 1024

export class Replies {
  /** How many wait */
  count = 0
  #pongs: number[] = []
  #refusedIds: number[] = []
  readonly #onFull: () => void

  /** `onFull` may write; if that frees no room, the peer does not read */
  constructor (onFull: () => void) {
    this.#onFull = onFull
  }

  pong (value: number): void {
    this.#makeRoom()
    this.#pongs.push(value)
    this.count++
  }

  refuse (streamId: number): void {
    this.#makeRoom()
    this.#refusedIds.push(streamId)
    this.count++
  }

  fill (batch: Batch, maxFrames: number): void {
    this.#pongs = this.#write(this.#pongs, batch, maxFrames, value => { batch.header(TYPE_PING, FLAG_ACK, SESSION_ID, value) })
    this.#refusedIds = this.#write(this.#refusedIds, batch, maxFrames, id => { batch.header(TYPE_WINDOW_UPDATE, FLAG_RST, id, 0) })
  }

  /** Returns those that there was no room for */
  #write (values: number[], batch: Batch, maxFrames: number, write: (value: number) => void): number[] {
    let written = 0

    while (written < values.length && batch.roomBytes >= HEADER_BYTES && batch.frameCount < maxFrames) {
      write(values[written++])
    }

    this.count -= written

    return values.slice(written)
  }

  #makeRoom (): void {
    if (this.count >= MAX_UNREAD_REPLIES) {
      this.#onFull()

      if (this.count >= MAX_UNREAD_REPLIES) {
        throw new ProtocolError('ERR_TOO_MANY_UNREAD_REPLIES', `received frames that call for ${this.count + 1} replies the peer does not read, allowed ${MAX_UNREAD_REPLIES}`)
      }
    }
  }
}
