/**
 * The bytes that wait to be sent on one stream. Small messages are copied when they are queued: the application may reuse its memory at
 * once, as with a muxer that writes at once. Hot.
 *
 * Each stream has a block of its own for copies. They are contiguous, so that merged messages are one piece, and the block is reused when
 * the queue is empty.
 */
import { concat } from 'uint8arrays/concat'
import { SentBytesChangedError } from '../errors.ts'
import { BY_REFERENCE_BYTES } from '../scheduler/batch.ts'
import { PieceQueue } from './piece-queue.ts'
import type { SessionInit } from '../session-init.ts'

/** Shorter messages are copied */
export const COPIED_BELOW_BYTES = 4096

/** Blocks grow with the bytes that wait. They are too short for a batch to pass them by reference: written bytes would be overwritten. */
const FIRST_BLOCK_BYTES = 512
const MAX_BLOCK_BYTES = BY_REFERENCE_BYTES - 1

/** An idle stream keeps a block of at most this length, and memory for this many messages, which is 1.5 KiB */
const KEPT_BLOCK_BYTES = 4096
const KEPT_MESSAGES = 64

const NO_BLOCK = new Uint8Array(0)

/** Which messages are frames of their own */
export type MessageBoundaries = Pick<SessionInit, 'mergeFromBytes' | 'frameBytes'>

export class SendQueue extends PieceQueue {
  /** Messages are merged, until the queue is empty */
  isMerging: boolean
  /** A message that fits into a frame is never cut: it waits for credit and room for all of it */
  readonly isNeverCut: boolean
  readonly #boundaries: MessageBoundaries
  #block = NO_BLOCK
  #fillBytes = 0

  constructor (boundaries: MessageBoundaries) {
    super(KEPT_MESSAGES, SentBytesChangedError)
    this.#boundaries = boundaries
    this.isMerging = boundaries.mergeFromBytes === 0
    this.isNeverCut = boundaries.mergeFromBytes === Infinity
  }

  /** The length of the next message if it must be a frame of its own, otherwise 0. Hot. */
  get wholeFrameBytes (): number {
    if (this.isMerging) {
      return 0
    }

    const { firstPieceBytes } = this

    return firstPieceBytes <= this.#boundaries.frameBytes ? firstPieceBytes : 0
  }

  /** Queues a message of `messageBytes`, whole or in parts. Hot: runs once per send. */
  add (message: Uint8Array | Uint8Array[], messageBytes: number): void {
    const { mergeFromBytes, frameBytes } = this.#boundaries
    const { byteLength } = this
    // a backlog is merged, and so is a lone message that is too long for a frame: it has to be cut anyway
    this.isMerging ||= byteLength >= mergeFromBytes || (byteLength === 0 && messageBytes > frameBytes && !this.isNeverCut)

    if (messageBytes < COPIED_BELOW_BYTES) {
      this.#copy(message, messageBytes)
    } else if (message instanceof Uint8Array) {
      this.push(message)
    } else if (this.isMerging) {
      for (const part of message) {
        if (part.byteLength > 0) {
          this.add(part, part.byteLength)
        }
      }
    } else {
      // one piece, so that the message stays one frame
      this.push(message.length === 1 ? message[0] : concat(message, messageBytes))
    }
  }

  /** The queue is empty: messages are no longer merged, and a long block is released. Hot. */
  onEmpty (): void {
    this.isMerging = this.#boundaries.mergeFromBytes === 0

    if (this.#block.byteLength > KEPT_BLOCK_BYTES) {
      this.#block = NO_BLOCK
    }
  }

  #copy (message: Uint8Array | Uint8Array[], byteLength: number): void {
    if (this.byteLength === 0) {
      // all bytes of the block were copied into writes
      this.#fillBytes = 0
    }

    if (this.#block.byteLength - this.#fillBytes < byteLength) {
      this.#block = new Uint8Array(Math.max(byteLength, Math.min(MAX_BLOCK_BYTES, Math.max(FIRST_BLOCK_BYTES, 2 * this.#block.byteLength))))
      this.#fillBytes = 0
    }

    let end = this.#fillBytes

    if (message instanceof Uint8Array) {
      // most messages are whole: an array around each would be garbage
      this.#block.set(message, end)
      end += byteLength
    } else {
      for (const part of message) {
        this.#block.set(part, end)
        end += part.byteLength
      }
    }

    this.push(this.#block, this.#fillBytes, end, this.isMerging)
    this.#fillBytes = end
  }
}
