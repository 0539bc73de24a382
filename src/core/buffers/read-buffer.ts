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

/** Blocks of lengths: the first is small, because every stream with a frame that waits has one */
const FIRST_LENGTHS_BYTES = 32
const MAX_LENGTHS_BYTES = 16_384

export class ReadBuffer {
  readonly mergeFromBytes: number
  byteLength = 0
  /** How much of it can be taken: frames that are complete, and what was pushed */
  readyBytes = 0
  /** A frame that has just come in, if that is all there is: mostly it is taken before there is more, and needs none of what follows */
  #only: Uint8Array | undefined
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

    if (this.byteLength === 0 && byteLength === frameBytes) {
      this.#only = view
      this.byteLength = byteLength
      this.readyBytes = byteLength
      return
    }

    this.#queueOnly()
    this.byteLength += byteLength

    if (byteLength === frameBytes || frameBytes >= this.mergeFromBytes) {
      this.#addReady(view, byteLength)
    } else {
      this.#partial ??= new UnreadBytes()
      this.#partial.append(view)
    }
  }

  /** What was appended since the last call is one frame */
  endFrame (): void {
    const partial = this.#partial

    if (partial !== undefined) {
      const { byteLength } = partial
      this.#partial = undefined
      this.#addReady(partial.take(byteLength), byteLength)
    }
  }

  /** Takes over bytes, behind everything that can be taken. Throws a ReceivedBytesChangedError. */
  push (bytes: Uint8Array): void {
    if (bytes.byteLength > 0) {
      this.#queueOnly()
      this.#partial?.keep(Infinity)
      this.byteLength += bytes.byteLength
      this.#addReady(bytes, bytes.byteLength)
    }
  }

  /** Takes over bytes, in front of everything. They are handed over with the message behind them. */
  prepend (bytes: Uint8Array): void {
    if (bytes.byteLength > 0) {
      this.#queueOnly()
      this.#ready ??= new UnreadBytes()
      this.#ready.prepend(bytes)
      this.#frontBytes += bytes.byteLength
      this.byteLength += bytes.byteLength
      this.readyBytes += bytes.byteLength
    }
  }

  /** Hands over the first message; the list belongs to the caller. There must be something. Throws a ReceivedBytesChangedError. */
  take (): Uint8ArrayList {
    const only = this.#only

    if (only !== undefined && only.byteLength === this.byteLength) {
      this.#only = undefined
      this.byteLength = 0
      this.readyBytes = 0

      return Uint8ArrayList.fromUint8Arrays([only], only.byteLength)
    }

    this.#queueOnly()
    const byteLength = this.#isMerged ? this.readyBytes : this.#frontBytes + this.#takeLength()
    const message = (this.#ready as UnreadBytes).take(byteLength)
    this.#isMerged &&= this.mergeFromBytes === 0
    this.#frontBytes = 0
    this.byteLength -= byteLength
    this.readyBytes -= byteLength

    return message
  }

  /** Makes what is held, which is never more than `maxBytes`, independent of the chunks it came in. Throws a ReceivedBytesChangedError. */
  keep (maxBytes = Infinity): void {
    this.#queueOnly()
    this.#ready?.keep(maxBytes)
    this.#partial?.keep(maxBytes)
  }

  clear (): void {
    this.byteLength = 0
    this.readyBytes = 0
    this.#only = undefined
    this.#ready = undefined
    this.#partial = undefined
    this.#frontBytes = 0
    this.#messages = undefined
    this.#isMerged = this.mergeFromBytes === 0
  }

  /** Queues the frame that was alone: more comes, or it has to wait */
  #queueOnly (): void {
    const only = this.#only

    if (only !== undefined) {
      this.#only = undefined
      this.readyBytes = 0
      // by the length that it came with: its buffer may have been transferred since
      this.#addReady(only, this.byteLength)
    }
  }

  /** Of the first message that came, without what was put back in front of it */
  #takeLength (): number {
    const lengths = this.#messages

    return lengths === undefined || lengths.count === 0 ? 0 : lengths.shift()
  }

  /** Queues bytes that can be taken, as one message */
  #addReady (bytes: Uint8Array | Uint8ArrayList, byteLength: number): void {
    this.#ready ??= new UnreadBytes()

    if (bytes instanceof Uint8Array) {
      this.#ready.append(bytes, byteLength)
    } else {
      this.#ready.appendAll(bytes)
    }

    this.readyBytes += byteLength

    if (this.#isMerged) {
      return
    }

    if (this.readyBytes >= this.mergeFromBytes) {
      this.#isMerged = true
      this.#messages = undefined
    } else {
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
  /** What the application has pushed back, the first one last */
  #front: Uint8Array[] = []
  /** Older bytes, in memory of their own */
  #kept: PieceQueue | undefined
  /** The last kept block, filled up to `#blockFill`; nobody has a view of it, and while there is one there is `#kept` */
  #block: Uint8Array | undefined
  #blockFill = 0
  /** Views of chunks that have just come in */
  readonly #fresh = new PieceQueue(KEPT_PIECES, ReceivedBytesChangedError)

  /** `byteLength` is what the view had when it came, if that was earlier */
  append (view: Uint8Array, byteLength = view.byteLength): void {
    this.#fresh.pushRange(view, 0, byteLength)
    this.byteLength += byteLength
  }

  appendAll (views: Iterable<Uint8Array>): void {
    for (const view of views) {
      this.append(view)
    }
  }

  /** Puts bytes that nobody else has in front of everything */
  prepend (bytes: Uint8Array): void {
    this.#front.push(bytes)
    this.byteLength += bytes.byteLength
  }

  /** The first `count` bytes, which must be there. Throws a ReceivedBytesChangedError. */
  take (count: number): Uint8ArrayList {
    const piece = this.#fresh.byteLength === this.byteLength ? this.#fresh.takeFirst(count) : undefined
    const pieces = piece === undefined ? this.#takePieces(count) : [piece]
    this.byteLength -= count

    return Uint8ArrayList.fromUint8Arrays(pieces, count)
  }

  /**
   * Makes all of it independent of the chunks it came in. When there can be no more than `maxBytes` of it, no more memory is
   * kept for that. Throws a ReceivedBytesChangedError.
   */
  keep (maxBytes: number): void {
    if (this.#fresh.byteLength > 0) {
      this.#fresh.moveTo({ piece: view => { this.#copy(view, maxBytes) } }, this.#fresh.byteLength)
    }
  }

  #takePieces (count: number): Uint8Array[] {
    const pieces: Uint8Array[] = []
    const sink: PieceSink = { piece: bytes => { pieces.push(bytes) } }

    while (count > 0 && this.#front.length > 0) {
      count -= this.#takeFront(sink, count)
    }

    while (count > 0 && this.#kept !== undefined) {
      count -= this.#takeKept(this.#kept, sink, count)
    }

    this.#fresh.moveTo(sink, count)

    return pieces
  }

  #takeFront (sink: PieceSink, count: number): number {
    const last = this.#front.length - 1
    const piece = this.#front[last]

    if (piece.byteLength > count) {
      sink.piece(piece.subarray(0, count))
      this.#front[last] = piece.subarray(count)

      return count
    }

    sink.piece(piece)
    this.#front.pop()

    return piece.byteLength
  }

  /** When the full blocks are used up, the one that is being filled is sealed and comes next */
  #takeKept (kept: PieceQueue, sink: PieceSink, count: number): number {
    if (kept.byteLength === 0) {
      this.#sealBlock(kept)
    }

    const keptCount = Math.min(count, kept.byteLength)
    kept.moveTo(sink, keptCount)

    if (kept.byteLength === 0 && this.#block === undefined) {
      this.#kept = undefined
    }

    return keptCount
  }

  #sealBlock (kept: PieceQueue): void {
    if (this.#block !== undefined) {
      kept.push(this.#block.subarray(0, this.#blockFill))
      this.#block = undefined
    }
  }

  #copy (view: Uint8Array, maxBytes: number): void {
    let offset = 0

    while (offset < view.byteLength) {
      if (this.#block === undefined || this.#blockFill === this.#block.byteLength) {
        this.#nextBlock(view.byteLength - offset, maxBytes - this.byteLength)
      }

      const block = this.#block as Uint8Array
      const count = Math.min(block.byteLength - this.#blockFill, view.byteLength - offset)
      block.set(view.subarray(offset, offset + count), this.#blockFill)
      this.#blockFill += count
      offset += count
    }
  }

  #nextBlock (atLeastBytes: number, moreBytes: number): void {
    this.#kept ??= new PieceQueue(KEPT_PIECES, ReceivedBytesChangedError)
    this.#sealBlock(this.#kept)
    const growingBytes = Math.min(MAX_BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, this.byteLength))
    const usefulBytes = Math.max(MIN_BLOCK_BYTES, atLeastBytes + moreBytes)
    this.#block = new Uint8Array(Math.max(atLeastBytes, Math.min(growingBytes, usefulBytes)))
    this.#blockFill = 0
  }
}

/**
 * The lengths of frames that wait, first in, first out: a byte each for those under 128, so that the
 * boundaries of a window full of frames of one byte cost no more than the bytes
 */
export class FrameLengths {
  /** How many there are */
  count = 0
  #blocks: Uint8Array[] = []
  /** Where the next length is read in the first block, and written in the last */
  #readAt = 0
  #writeAt = 0

  push (length: number): void {
    let block = this.#blocks.at(-1)

    // a length is not split between blocks
    if (block === undefined || block.byteLength - this.#writeAt < MAX_LENGTH_BYTES) {
      block = new Uint8Array(block === undefined ? FIRST_LENGTHS_BYTES : Math.min(MAX_LENGTHS_BYTES, 2 * block.byteLength))
      this.#blocks.push(block)
      this.#writeAt = 0
    }

    while (length > LENGTH_BITS) {
      block[this.#writeAt++] = (length & LENGTH_BITS) | HAS_MORE
      length >>>= SHIFT
    }

    block[this.#writeAt++] = length
    this.count++
  }

  /** Takes the first; there must be one */
  shift (): number {
    this.count--
    const [block] = this.#blocks
    let length = 0
    let shift = 0
    let byte: number

    do {
      byte = block[this.#readAt++]
      length |= (byte & LENGTH_BITS) << shift
      shift += SHIFT
    } while (byte >= HAS_MORE)

    if (this.#blocks.length > 1) {
      this.#dropIfRead(block)
    } else if (this.#readAt === this.#writeAt) {
      this.#readAt = 0
      this.#writeAt = 0
    }

    return length >>> 0
  }

  /** A block that is not the last has no room for another length at its end */
  #dropIfRead (block: Uint8Array): void {
    if (block.byteLength - this.#readAt < MAX_LENGTH_BYTES) {
      this.#blocks.shift()
      this.#readAt = 0
    }
  }
}
