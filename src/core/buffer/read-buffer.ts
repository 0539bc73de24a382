/**
 * The bytes that have arrived on one stream and that nobody has read yet. Hot.
 *
 * What is read in the turn it arrives is passed on as views of the inbound chunk.
 * What must wait is copied into blocks: a view keeps its whole chunk alive, so a peer
 * could otherwise make one waiting byte cost a whole record.
 *
 * When frames are kept apart, each `take` hands over one whole frame.
 */
import { Uint8ArrayList } from 'uint8arraylist'
import { FrameLengths } from './frame-lengths.ts'

/** Blocks grow with what waits, so that one byte costs little and many small frames cost few objects */
const MIN_BLOCK_BYTES = 256
const MAX_BLOCK_BYTES = 16_384

export class ReadBuffer {
  byteLength = 0
  /** Views of chunks that have just come in */
  #fresh: Uint8ArrayList | undefined
  /** Older bytes, in memory of their own */
  #kept: Uint8Array[] = []
  /** The last kept block, filled up to `#blockFill` */
  #block: Uint8Array | undefined
  #blockFill = 0
  /** The lengths of the whole frames that wait, if frames are kept apart */
  readonly #frames: FrameLengths | undefined
  #bytesBehindFrames = 0

  constructor (keepsFramesApart: boolean) {
    this.#frames = keepsFramesApart ? new FrameLengths() : undefined
  }

  /** There is something to take */
  get isReady (): boolean {
    return this.#frames == null ? this.byteLength > 0 : this.#frames.count > 0
  }

  /** What was appended since the last call is one frame */
  endFrame (): void {
    if (this.#frames != null && this.#bytesBehindFrames > 0) {
      this.#frames.push(this.#bytesBehindFrames)
      this.#bytesBehindFrames = 0
    }
  }

  append (bytes: Uint8Array | Uint8ArrayList): void {
    if (this.#fresh === undefined) {
      this.#fresh = new Uint8ArrayList(bytes)
    } else {
      this.#fresh.append(bytes)
    }

    this.byteLength += bytes.byteLength
    this.#bytesBehindFrames += bytes.byteLength
  }

  /** Puts bytes of the application's own in front of everything */
  prepend (bytes: Uint8Array | Uint8ArrayList): void {
    if (bytes.byteLength === 0) {
      return
    }

    this.#kept.unshift(...(bytes instanceof Uint8Array ? [bytes] : bytes))
    this.byteLength += bytes.byteLength
    this.#frames?.unshift(bytes.byteLength)
  }

  /** Hands over the first frame if frames are kept apart, else everything; the list belongs to the caller */
  take (): Uint8ArrayList {
    return this.#frames == null ? this.#takeAll() : this.#frames.count > 0 ? this.#takeFirst(this.#frames.shift()) : new Uint8ArrayList()
  }

  /** Makes what is held independent of the chunks it came in */
  keep (): void {
    if (this.#fresh == null) {
      return
    }

    for (const view of this.#fresh) {
      this.#copy(view)
    }

    this.#fresh = undefined
  }

  clear (): void {
    this.#takeAll()
    this.#bytesBehindFrames = 0

    this.#frames?.clear()
  }

  #takeFirst (count: number): Uint8ArrayList {
    if (count === this.byteLength) {
      return this.#takeAll()
    }

    const list = new Uint8ArrayList()
    this.byteLength -= count

    while (count > 0 && this.#hasKept()) {
      const [piece] = this.#kept
      const taken = Math.min(count, piece.byteLength)
      list.append(piece.subarray(0, taken))
      count -= taken

      if (taken === piece.byteLength) {
        this.#kept.shift()
      } else {
        this.#kept[0] = piece.subarray(taken)
      }
    }

    if (count > 0 && this.#fresh != null) {
      list.append(this.#fresh.sublist(0, count))
      this.#fresh.consume(count)
    }

    return list
  }

  /** Behind the last block that is full comes the one that is being filled, and is then full */
  #hasKept (): boolean {
    if (this.#kept.length === 0) {
      this.#sealBlock()
    }

    return this.#kept.length > 0
  }

  #sealBlock (): void {
    if (this.#block != null) {
      this.#kept.push(this.#block.subarray(0, this.#blockFill))
      this.#block = undefined
    }
  }

  #takeAll (): Uint8ArrayList {
    let list = this.#fresh

    if (list == null || this.byteLength > list.byteLength) {
      this.#sealBlock()
      list = new Uint8ArrayList(...this.#kept)

      if (this.#fresh != null) {
        list.append(this.#fresh)
      }
    }

    this.byteLength = 0
    this.#fresh = undefined
    this.#kept = []
    this.#block = undefined

    return list
  }

  #copy (view: Uint8Array): void {
    let offset = 0

    while (offset < view.byteLength) {
      if (this.#block == null || this.#blockFill === this.#block.byteLength) {
        this.#nextBlock(view.byteLength - offset)
      }

      const block = this.#block as Uint8Array
      const count = Math.min(block.byteLength - this.#blockFill, view.byteLength - offset)
      block.set(view.subarray(offset, offset + count), this.#blockFill)
      this.#blockFill += count
      offset += count
    }
  }

  #nextBlock (atLeastBytes: number): void {
    this.#sealBlock()
    const growing = Math.min(MAX_BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, this.byteLength))
    this.#block = new Uint8Array(Math.max(growing, atLeastBytes))
    this.#blockFill = 0
  }
}
