// Reads what a stream carries in the pieces that the jobs are made of.
import { Uint8ArrayList } from 'uint8arraylist'
import { chunksOf } from '../libp2p/streams.ts'
import type { Stream } from '@libp2p/interface'

const NEWLINE = 0x0a

export class StreamReader {
  readonly #chunks: AsyncGenerator<Uint8Array | Uint8ArrayList>
  readonly #held = new Uint8ArrayList()

  constructor (stream: Stream) {
    this.#chunks = chunksOf(stream)
  }

  /** What the stream has handed over and nobody has taken */
  get heldBytes (): number {
    return this.#held.byteLength
  }

  /** Up to `maxBytes` of what comes next, undefined at the end */
  async next (maxBytes: number): Promise<Uint8Array | undefined> {
    if (this.#held.byteLength === 0 && !await this.#hold()) {
      return undefined
    }

    return this.#take(Math.min(maxBytes, this.#held.byteLength))
  }

  async exactly (byteLength: number): Promise<Uint8Array> {
    while (this.#held.byteLength < byteLength) {
      if (!await this.#hold()) {
        throw new Error(`The stream ended after ${this.#held.byteLength} of ${byteLength} bytes`)
      }
    }

    return this.#take(byteLength)
  }

  /** Up to the next newline, without it */
  async line (): Promise<string> {
    let end = this.#held.indexOf(Uint8Array.of(NEWLINE))

    while (end === -1) {
      if (!await this.#hold()) {
        throw new Error('The stream ended before its first line')
      }

      end = this.#held.indexOf(Uint8Array.of(NEWLINE))
    }

    return new TextDecoder().decode(this.#take(end + 1)).trimEnd()
  }

  async expectEnd (): Promise<void> {
    const surplus = await this.next(Infinity)

    if (surplus != null) {
      throw new Error(`The stream goes on for ${surplus.byteLength} bytes where it should end`)
    }
  }

  async #hold (): Promise<boolean> {
    const { value } = await this.#chunks.next()

    if (value != null) {
      this.#held.append(value)
    }

    return value != null
  }

  #take (byteLength: number): Uint8Array {
    const bytes = this.#held.slice(0, byteLength)
    this.#held.consume(byteLength)

    return bytes
  }
}
