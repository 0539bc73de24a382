/**
 * What has arrived on one stream and was not read yet, as the messages that it is handed over in. While little waits a frame is a
 * message; from `mergeFromBytes` on all that waits is one, and a frame as long as that is handed over as it comes. Hot.
 */
import { Uint8ArrayList } from 'uint8arraylist'
import { ReceivedBytesChangedError } from '../errors.ts'
import { PieceQueue } from './piece-queue.ts'
import type { PieceSink } from './piece-queue.ts'

/** Blocks of unread bytes grow with what waits, so that one byte costs little and many small frames cost few objects */
const MIN_BLOCK_BYTES = 256
const MAX_BLOCK_BYTES = 16_384

/** The frames of a stream in one chunk are few */
const KEPT_PIECES = 16

/** Seven bits of a frame's length, the lowest first; the eighth says that there are more */
const LENGTH_BITS = 0x7f
const HAS_MORE = 0x80
const SHIFT = 7
/** Of 32 bits */
const MAX_LENGTH_BYTES = 5

/** Room for so many more lengths: few, because every stream with a frame that waits has it; and a part of those that wait */
const SPARE_LENGTHS_BYTES = 32
const SPARE_LENGTHS_PART = 1 / 8

export class ReadBuffer {
  readonly mergeFromBytes: number
  byteLength = 0
  /** How much of it can be taken: frames that are complete, and what was pushed */
  readyBytes = 0
  /** A frame that has just come in, or a piece of a long one, if that is all there is: mostly it is taken before there is more, and needs none of what follows */
  #lone: Uint8Array | undefined
  #ready: UnreadBytes | undefined
  /** What has come of a frame that is not complete */
  #partial: UnreadBytes | undefined
  /** The lengths of the messages that wait, unless they are merged */
  #messages: FrameLengths | undefined
  /** All that can be taken is one message */
  #isMerged: boolean
  /** What was put back, in front of the first message */
  #frontBytes = 0

  /** As for sending: 0 merges all that waits, with Infinity each frame is a message */
  constructor (mergeFromBytes: number) {
    this.mergeFromBytes = mergeFromBytes
    this.#isMerged = mergeFromBytes === 0
  }

  /** A view of the next bytes of a frame, which is `frameBytes` long in all */
  append (view: Uint8Array, frameBytes = view.byteLength): void {
    const { byteLength } = view
    const isReady = byteLength === frameBytes || frameBytes >= this.mergeFromBytes

    if (this.byteLength === 0 && isReady) {
      this.#lone = view
      this.byteLength = byteLength
      this.readyBytes = byteLength
      return
    }

    this.#queueLone()
    this.byteLength += byteLength

    if (isReady) {
      this.#addReady(view, byteLength)
    } else {
      this.#partial ??= new UnreadBytes()
      this.#partial.append(view)
    }
  }

  /** What was appended since the last call is one frame. Does not throw if bytes of it are gone, since a stream may be ending: take() does. */
  endFrame (): void {
    const partial = this.#partial

    if (partial !== undefined) {
      this.#partial = undefined
      this.#ready ??= new UnreadBytes()
      this.#ready.takeOver(partial)
      this.#noteReady(partial.byteLength)
    }
  }

  /** Takes over bytes, behind everything that can be taken. Throws a ReceivedBytesChangedError. */
  push (bytes: Uint8Array): void {
    if (bytes.byteLength > 0) {
      this.#queueLone()
      this.#partial?.detach(Infinity)
      this.byteLength += bytes.byteLength
      this.#addReady(bytes, bytes.byteLength)
    }
  }

  /** Takes over bytes, in front of everything. They are handed over with the message behind them. */
  prepend (bytes: Uint8Array): void {
    if (bytes.byteLength > 0) {
      this.#queueLone()
      this.#ready ??= new UnreadBytes()
      this.#ready.prepend(bytes)
      this.#frontBytes += bytes.byteLength
      this.byteLength += bytes.byteLength
      this.readyBytes += bytes.byteLength
    }
  }

  /** Hands over the first message; the list belongs to the caller. There must be something. Throws a ReceivedBytesChangedError. */
  take (): Uint8ArrayList {
    const lone = this.#lone

    if (lone !== undefined && lone.byteLength === this.byteLength) {
      this.#lone = undefined
      this.byteLength = 0
      this.readyBytes = 0

      return Uint8ArrayList.fromUint8Arrays([lone], lone.byteLength)
    }

    this.#queueLone()
    const messages = this.#messages
    const nextBytes = messages === undefined || messages.count === 0 ? 0 : messages.shift()
    const byteLength = this.#isMerged ? this.readyBytes : this.#frontBytes + nextBytes
    const message = (this.#ready as UnreadBytes).take(byteLength)
    this.#isMerged &&= this.mergeFromBytes === 0
    this.#frontBytes = 0
    this.byteLength -= byteLength
    this.readyBytes -= byteLength

    return message
  }

  /** Makes what is held, which is never more than `maxBytes`, independent of the chunks it came in. Throws a ReceivedBytesChangedError. */
  detach (maxBytes = Infinity): void {
    this.#queueLone()
    this.#ready?.detach(maxBytes)
    this.#partial?.detach(maxBytes)
  }

  clear (): void {
    this.byteLength = 0
    this.readyBytes = 0
    this.#lone = undefined
    this.#ready = undefined
    this.#partial = undefined
    this.#frontBytes = 0
    this.#messages = undefined
    this.#isMerged = this.mergeFromBytes === 0
  }

  /** Queues the frame that was alone: more comes, or it has to wait */
  #queueLone (): void {
    const lone = this.#lone

    if (lone !== undefined) {
      this.#lone = undefined
      this.readyBytes = 0
      // by the length that it came with: its buffer may have been transferred since
      this.#addReady(lone, this.byteLength)
    }
  }

  /** Queues bytes that can be taken, as one message */
  #addReady (bytes: Uint8Array, byteLength: number): void {
    this.#ready ??= new UnreadBytes()
    this.#ready.append(bytes, byteLength)
    this.#noteReady(byteLength)
  }

  /** So many bytes more can be taken, as one message */
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
 * Bytes of one stream that nobody has read yet.
 *
 * What is read in the turn it arrives is passed on as views of the inbound chunk. What must wait is copied into blocks: a
 * view keeps its whole chunk alive, so a peer could otherwise make one waiting byte cost a whole record.
 */
class UnreadBytes {
  byteLength = 0
  /** Older bytes, in memory of their own */
  #detached: PieceQueue | undefined
  /** The last kept block, filled up to `#blockFill`; nobody has a view of it */
  #block = NO_BLOCK
  #blockFill = 0
  /** Views of chunks that have just come in */
  readonly #fresh = new PieceQueue(KEPT_PIECES, ReceivedBytesChangedError)

  /** `byteLength` is what the view had when it came, if that was earlier */
  append (view: Uint8Array, byteLength = view.byteLength): void {
    this.#fresh.push(view, 0, byteLength)
    this.byteLength += byteLength
  }

  /** Takes all bytes of another, behind its own. Whether some of them are gone shows when they are taken. */
  takeOver (other: UnreadBytes): void {
    other.#detached?.passOn(this.#fresh)
    other.#fresh.passOn(this.#fresh)
    this.byteLength += other.byteLength
  }

  /** Puts bytes that nobody else has in front of everything */
  prepend (bytes: Uint8Array): void {
    this.#detached ??= new PieceQueue(KEPT_PIECES, ReceivedBytesChangedError)
    this.#detached.unshift(bytes)
    this.byteLength += bytes.byteLength
  }

  /** The first `count` bytes, which must be there. Throws a ReceivedBytesChangedError. */
  take (count: number): Uint8ArrayList {
    const piece = this.#detached === undefined ? this.#fresh.takeFirst(count) : undefined
    const pieces = piece === undefined ? this.#takePieces(count) : [piece]
    this.byteLength -= count

    return Uint8ArrayList.fromUint8Arrays(pieces, count)
  }

  /**
   * Makes all of it independent of the chunks it came in. When there can be no more than `maxBytes` of it, no more memory is
   * kept for that. Throws a ReceivedBytesChangedError.
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

    // somebody has a view of the block now
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
 * The lengths of frames that wait, first in, first out: a byte each for those under 128, so that the
 * boundaries of a window full of frames of one byte cost little more than the bytes
 */
export class FrameLengths {
  /** How many there are */
  count = 0
  #bytes = new Uint8Array(SPARE_LENGTHS_BYTES)
  /** Where the next length is read, and written */
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

  /** Takes the first; there must be one */
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
      // much has waited: its room is not kept
      this.#bytes = new Uint8Array(SPARE_LENGTHS_BYTES)
      this.#readAt = 0
      this.#writeAt = 0
    }

    return length >>> 0
  }
}
