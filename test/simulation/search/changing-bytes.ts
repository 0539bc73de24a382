// Bytes whose memory is resized, or given away, by the application that has sent them.
import type { Random } from '../../../testing/simulation/random.ts'

const MAX_PADDING_BYTES = 64

type Change = (buffer: ArrayBuffer, startByte: number, random: Random) => void

interface Kind {
  isResizable: boolean
  /** The view ends where its buffer ends */
  isTracking: boolean
  change: Change
}

const shrink: Change = (buffer, startByte, random) => { buffer.resize(random.integer(startByte, buffer.byteLength - 1)) }
const grow: Change = buffer => { buffer.resize(buffer.maxByteLength) }
const giveAway: Change = buffer => { buffer.transfer() }

const kinds: Kind[] = [
  { isResizable: true, isTracking: false, change: shrink },
  { isResizable: true, isTracking: true, change: shrink },
  // which a view of a certain length does not see
  { isResizable: true, isTracking: false, change: grow },
  { isResizable: true, isTracking: true, change: grow },
  { isResizable: true, isTracking: true, change: giveAway },
  { isResizable: false, isTracking: false, change: giveAway }
]

export class ChangingBytes {
  readonly view: Uint8Array
  readonly #byteLength: number
  readonly #buffer: ArrayBuffer
  readonly #startByte: number
  readonly #change: Change
  readonly #random: Random

  /** A copy of bytes that stay what they are */
  constructor (bytes: Uint8Array, random: Random) {
    const { isResizable, isTracking, change } = random.pick(kinds)
    const startByte = random.integer(0, MAX_PADDING_BYTES)
    const endByte = startByte + bytes.byteLength
    const buffer = isResizable ? new ArrayBuffer(endByte, { maxByteLength: 2 * endByte }) : new ArrayBuffer(endByte)
    this.view = isTracking ? new Uint8Array(buffer, startByte) : new Uint8Array(buffer, startByte, bytes.byteLength)
    this.view.set(bytes)
    this.#byteLength = bytes.byteLength
    this.#buffer = buffer
    this.#startByte = startByte
    this.#change = change
    this.#random = random
  }

  /** Returns whether some are gone. What is left of the bytes is what it was. */
  change (): boolean {
    this.#change(this.#buffer, this.#startByte, this.#random)

    return this.view.byteLength < this.#byteLength
  }
}
