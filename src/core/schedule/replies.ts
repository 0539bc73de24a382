/**
 * Answers that a peer can call for without a stream, pongs and refusals: bounded, because a peer
 * that asks without reading would otherwise pile them up (CVE-2024-32984, CVE-2019-9512).
 */
import { FLAG_ACK, FLAG_RST, HEADER_BYTES, SESSION_ID, TYPE_PING, TYPE_WINDOW_UPDATE } from '../frame/frame.ts'
import { ProtocolError } from '../protocol-error.ts'
import type { WriteBatch } from '../flush/write-batch.ts'

/** Of 4 bytes each. The Rust crate h2 bounds the resets it is made to send by the same number. */
const MAX_UNREAD_REPLIES = 1024

export class Replies {
  #pongs: number[] = []
  #refusedIds: number[] = []
  readonly #onFull: () => void

  /** `onFull` may write; if that frees no room, the peer does not read */
  constructor (onFull: () => void) {
    this.#onFull = onFull
  }

  get count (): number {
    return this.#pongs.length + this.#refusedIds.length
  }

  pong (value: number): void {
    this.#makeRoom()
    this.#pongs.push(value)
  }

  refuse (streamId: number): void {
    this.#makeRoom()
    this.#refusedIds.push(streamId)
  }

  fill (batch: WriteBatch, maxFrames: number): void {
    if (this.#pongs.length > 0) {
      this.#pongs = writeEach(this.#pongs, batch, maxFrames, value => { batch.header(TYPE_PING, FLAG_ACK, SESSION_ID, value) })
    }

    if (this.#refusedIds.length > 0) {
      this.#refusedIds = writeEach(this.#refusedIds, batch, maxFrames, id => { batch.header(TYPE_WINDOW_UPDATE, FLAG_RST, id, 0) })
    }
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

export function hasRoom (batch: WriteBatch, maxFrames: number): boolean {
  return batch.roomBytes >= HEADER_BYTES && batch.frameCount < maxFrames
}

/** Returns those that there was no room for */
function writeEach (values: number[], batch: WriteBatch, maxFrames: number, write: (value: number) => void): number[] {
  let written = 0

  while (written < values.length && hasRoom(batch, maxFrames)) {
    write(values[written++])
  }

  return values.slice(written)
}
