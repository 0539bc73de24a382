/**
 * The unread bytes of one stream, as messages. While few bytes wait, a frame is a message. From `mergeFromBytes` on all of them are one, and
 * bytes of a frame that long are ready as they arrive. Hot.
 */
import { Uint8ArrayList } from 'uint8arraylist'
import { ReceivedBytesChangedError } from '../errors.ts'
import { PieceQueue } from './piece-queue.ts'
import type { PieceSink } from './piece-queue.ts'

/** Blocks of unread bytes grow with the bytes that wait: a single byte costs little memory, and many small frames cost few objects */
const MIN_BLOCK_BYTES = 256
const MAX_BLOCK_BYTES = 16_384

/** A chunk has few frames of the same stream */
const KEPT_PIECES = 16

/** A byte has seven bits of a frame's length, the lowest first. The eighth is set if more follow. */
const LENGTH_BITS = 0x7f
const HAS_MORE = 0x80
const SHIFT = 7
/** For 32 bits */
const MAX_LENGTH_BYTES = 5

/** Spare room for lengths: a few bytes, as each stream with a waiting frame has them, and a part of the lengths that wait */
const SPARE_LENGTHS_BYTES = 32
const SPARE_LENGTHS_PART = 1 / 8

export class ReadBuffer {
  readonly mergeFromBytes: number
  byteLength = 0
  /** The bytes that can be taken: those of complete frames, and those that were pushed */
  readyBytes = 0
  /** A frame, or a piece of a long one, if that is all there is. Mostly it is taken before more arrives, and none of the fields below is needed. */
  #lone: Uint8Array | undefined
  /** All others: first those that can be taken, then those of an incomplete frame */
  #bytes: UnreadBytes | undefined
  /** The lengths of the messages that wait, unless they are merged */
  #messages: FrameLengths | undefined
  /** All bytes that can be taken are one message */
  #isMerged: boolean
  /** Bytes that were put back, in front of the first message */
  #frontBytes = 0

  /** As for sending: 0 merges always, Infinity never */
  constructor (mergeFromBytes: number) {
    this.mergeFromBytes = mergeFromBytes
    this.#isMerged = mergeFromBytes === 0
  }

  /** Appends a view of the next bytes of a frame of `frameBytes` */
  append (view: Uint8Array, frameBytes = view.byteLength): void {
    const { byteLength } = view
    const isReady = byteLength === frameBytes || frameBytes >= this.mergeFromBytes

    if (this.byteLength === 0 && isReady) {
      this.#lone = view
      this.byteLength = byteLength
      this.readyBytes = byteLength
      return
    }

    this.#queue().append(view, byteLength)
    this.byteLength += byteLength

    if (isReady) {
      this.#noteReady(byteLength)
    }
  }

  /** Ends the frame that was appended since the last call. The stream may be ending, so lost bytes throw in take(), not here. */
  endFrame (): void {
    const partialBytes = this.byteLength - this.readyBytes

    if (partialBytes > 0) {
      this.#noteReady(partialBytes)
    }
  }

  /** Takes over bytes, at least one, behind all that can be taken. Throws a ReceivedBytesChangedError. */
  push (bytes: Uint8Array): void {
    this.#queue().insert(bytes, this.readyBytes)
    this.byteLength += bytes.byteLength
    this.#noteReady(bytes.byteLength)
  }

  /** Takes over bytes, at least one, in front of all others. They become part of the next message. */
  unshift (bytes: Uint8Array): void {
    this.#queue().prepend(bytes)
    this.#frontBytes += bytes.byteLength
    this.byteLength += bytes.byteLength
    this.readyBytes += bytes.byteLength
  }

  /** Takes the first message; there must be one. The caller owns the list. Throws a ReceivedBytesChangedError. */
  take (): Uint8ArrayList {
    const lone = this.#lone

    if (lone !== undefined && lone.byteLength === this.byteLength) {
      this.#lone = undefined
      this.byteLength = 0
      this.readyBytes = 0

      return Uint8ArrayList.fromUint8Arrays([lone], lone.byteLength)
    }

    const queue = this.#queue()
    const messages = this.#messages
    const nextBytes = messages === undefined || messages.count === 0 ? 0 : messages.shift()
    const byteLength = this.#isMerged ? this.readyBytes : this.#frontBytes + nextBytes
    const message = queue.take(byteLength)
    this.#isMerged &&= this.mergeFromBytes === 0
    this.#frontBytes = 0
    this.byteLength -= byteLength
    this.readyBytes -= byteLength

    return message
  }

  /** Copies the bytes, never more than `maxBytes`, out of their chunks. Throws a ReceivedBytesChangedError. */
  detach (maxBytes = Infinity): void {
    this.#queue().detach(maxBytes)
  }

  clear (): void {
    this.byteLength = 0
    this.readyBytes = 0
    this.#lone = undefined
    this.#bytes = undefined
    this.#frontBytes = 0
    this.#messages = undefined
    this.#isMerged = this.mergeFromBytes === 0
  }

  /** All bytes, the lone frame too: more arrives, or it has to wait */
  #queue (): UnreadBytes {
    const lone = this.#lone
    const queue = this.#bytes ??= new UnreadBytes()

    if (lone !== undefined) {
      this.#lone = undefined
      this.readyBytes = 0
      // by its length on arrival, since its buffer may have been transferred since then
      queue.append(lone, this.byteLength)
      this.#noteReady(this.byteLength)
    }

    return queue
  }

  /** Counts bytes that can be taken, as one message */
  #noteReady (byteLength: number): void {
    this.readyBytes += byteLength

    if (this.readyBytes >= this.mergeFromBytes) {
      this.#isMerged = true
      this.#messages = undefined
    } else if (!this.#isMerged) {
      this.#messages ??= new FrameLengths()
      this.#messages.push(byteLength)
    }
  }
}

/**
 * A run of unread bytes of one stream.
 *
 * Bytes that are read in the turn in which they arrive are passed on as views of their chunk. Bytes that must wait are copied into blocks. A
 * view would retain its chunk, so a peer could make one waiting byte cost a whole record.
 */
class UnreadBytes {
  byteLength = 0
  /** Older bytes, copied out of their chunks */
  #detached: PieceQueue | undefined
  /** The last block, filled up to `#blockFill`, while no program has a view of it */
  #block = NO_BLOCK
  #blockFill = 0
  /** Views of the last chunks */
  readonly #fresh = new PieceQueue(KEPT_PIECES, ReceivedBytesChangedError)

  /** `byteLength` is the length that the view had on arrival */
  append (view: Uint8Array, byteLength = view.byteLength): void {
    this.#fresh.push(view, 0, byteLength)
    this.byteLength += byteLength
  }

  /** Puts bytes in front, which belong to this run alone */
  prepend (bytes: Uint8Array): void {
    this.#detached ??= new PieceQueue(KEPT_PIECES, ReceivedBytesChangedError)
    this.#detached.unshift(bytes)
    this.byteLength += bytes.byteLength
  }

  /** Puts bytes behind the first `count`. Throws a ReceivedBytesChangedError. */
  insert (bytes: Uint8Array, count: number): void {
    if (count === this.byteLength) {
      this.append(bytes)
    } else {
      this.detach(Infinity)
      const before = this.take(count).subarray()
      this.prepend(bytes)

      if (count > 0) {
        this.prepend(before)
      }
    }
  }

  /** Takes the first `count` bytes, which must be there. Throws a ReceivedBytesChangedError. */
  take (count: number): Uint8ArrayList {
    const piece = this.#detached === undefined ? this.#fresh.takeFirst(count) : undefined
    const pieces = piece === undefined ? this.#takePieces(count) : [piece]
    this.byteLength -= count

    return Uint8ArrayList.fromUint8Arrays(pieces, count)
  }

  /**
   * Copies all bytes out of their chunks. The blocks hold no more than `maxBytes`, the most that this run can have. Throws a
   * ReceivedBytesChangedError.
   */
  detach (maxBytes: number): void {
    if (this.#fresh.byteLength > 0) {
      const detached = this.#detached ??= new PieceQueue(KEPT_PIECES, ReceivedBytesChangedError)
      this.#fresh.moveTo({ piece: view => { this.#copy(view, detached, maxBytes) } }, this.#fresh.byteLength)
    }
  }

  #takePieces (count: number): Uint8Array[] {
    const pieces: Uint8Array[] = []
    const sink: PieceSink = { piece: bytes => { pieces.push(bytes) } }
    const detachedBytes = Math.min(count, this.byteLength - this.#fresh.byteLength)
    this.#detached?.moveTo(sink, detachedBytes)
    this.#fresh.moveTo(sink, count - detachedBytes)

    // the caller has a view of the block now
    if (this.#detached !== undefined && this.#detached.byteLength < this.#blockFill) {
      this.#block = NO_BLOCK
      this.#blockFill = 0
    }

    if (this.#detached?.byteLength === 0) {
      this.#detached = undefined
    }

    return pieces
  }

  #copy (view: Uint8Array, detached: PieceQueue, maxBytes: number): void {
    let offset = 0

    while (offset < view.byteLength) {
      if (this.#blockFill === this.#block.byteLength) {
        this.#startBlock(view.byteLength - offset, maxBytes - this.byteLength)
      }

      const end = Math.min(this.#block.byteLength, this.#blockFill + view.byteLength - offset)
      const count = end - this.#blockFill
      this.#block.set(view.subarray(offset, offset + count), this.#blockFill)
      detached.push(this.#block, this.#blockFill, end, true)
      this.#blockFill = end
      offset += count
    }
  }

  #startBlock (atLeastBytes: number, moreBytes: number): void {
    const growingBytes = Math.min(MAX_BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, this.byteLength))
    const usefulBytes = Math.max(MIN_BLOCK_BYTES, atLeastBytes + moreBytes)
    this.#block = new Uint8Array(Math.max(atLeastBytes, Math.min(growingBytes, usefulBytes)))
    this.#blockFill = 0
  }
}

const NO_BLOCK = new Uint8Array(0)

/**
 * The lengths of waiting frames, first in, first out. Lengths below 128 take a byte: a window full of frames of one byte needs about as much
 * memory again for its boundaries.
 */
export class FrameLengths {
  /** The number of lengths */
  count = 0
  #bytes = new Uint8Array(SPARE_LENGTHS_BYTES)
  /** Where the next length is read and written */
  #readAt = 0
  #writeAt = 0

  push (length: number): void {
    if (this.#bytes.byteLength - this.#writeAt < MAX_LENGTH_BYTES) {
      const waiting = this.#bytes.subarray(this.#readAt, this.#writeAt)
      this.#bytes = new Uint8Array(waiting.byteLength * (1 + SPARE_LENGTHS_PART) + SPARE_LENGTHS_BYTES)
      this.#bytes.set(waiting)
      this.#readAt = 0
      this.#writeAt = waiting.byteLength
    }

    while (length > LENGTH_BITS) {
      this.#bytes[this.#writeAt++] = (length & LENGTH_BITS) | HAS_MORE
      length >>>= SHIFT
    }

    this.#bytes[this.#writeAt++] = length
    this.count++
  }

  /** Takes the first length; there must be one */
  shift (): number {
    let length = 0
    let shift = 0
    let byte: number

    do {
      byte = this.#bytes[this.#readAt++]
      length |= (byte & LENGTH_BITS) << shift
      shift += SHIFT
    } while (byte >= HAS_MORE)

    if (--this.count === 0 && this.#writeAt > SPARE_LENGTHS_BYTES) {
      // the memory of a long queue is not kept
      this.#bytes = new Uint8Array(SPARE_LENGTHS_BYTES)
      this.#readAt = 0
      this.#writeAt = 0
    }

    return length >>> 0
  }
}
