/**
 * Copies of small messages, made as they are sent: the application may use its memory again at once, as with a muxer
 * that writes at once. All streams of a connection share the blocks that the copies lie in. Hot.
 */
import type { PieceQueue } from './piece-queue.ts'

/** Shorter messages are copied */
export const COPIED_BELOW_BYTES = 4096

/**
 * Small at first, for connections that say little. Not larger, because one message that waits holds on to all of its block; and
 * too short for a batch to pass a part of it on by reference. Not from Node's pool, whose blocks have 64 KiB.
 */
const FIRST_BLOCK_BYTES = 512
const MAX_BLOCK_BYTES = 8191

export class SendCopies {
  /** Each byte is written once, so what waits in it stays as it is */
  #block = new Uint8Array(0)
  #fillBytes = 0
  #nextBlockBytes = FIRST_BLOCK_BYTES

  /** Queues a copy of a message; `isJoined`: it need not be told from the one before it */
  copyTo (queue: PieceQueue, message: Uint8Array, isJoined: boolean): void {
    const start = this.#reserve(message.byteLength)
    this.#block.set(message, start)
    this.#queueRange(queue, start, start + message.byteLength, isJoined)
  }

  /** The same for a message in several parts, `byteLength` bytes in all */
  copyPartsTo (queue: PieceQueue, parts: Uint8Array[], byteLength: number, isJoined: boolean): void {
    const start = this.#reserve(byteLength)
    let end = start

    for (const part of parts) {
      this.#block.set(part, end)
      end += part.byteLength
    }

    this.#queueRange(queue, start, end, isJoined)
  }

  /** Where in the block there is room for so many bytes, which is taken then */
  #reserve (byteLength: number): number {
    if (this.#block.byteLength - this.#fillBytes < byteLength) {
      this.#block = new Uint8Array(Math.max(byteLength, this.#nextBlockBytes))
      this.#fillBytes = 0
      this.#nextBlockBytes = Math.min(MAX_BLOCK_BYTES, 2 * this.#nextBlockBytes)
    }

    const start = this.#fillBytes
    this.#fillBytes += byteLength

    return start
  }

  #queueRange (queue: PieceQueue, start: number, end: number, isJoined: boolean): void {
    if (isJoined) {
      queue.joinRange(this.#block, start, end)
    } else {
      queue.pushRange(this.#block, start, end)
    }
  }
}
