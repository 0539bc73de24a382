/**
 * The `for await` loops over one stream: the next chunk is handed over when each of them asks, and the last one counts as
 * read then.
 *
 * A loop may end without a word, when its iterator is dropped. So whoever begins to read, a loop or a listener, leaves behind
 * the loops that do not ask at that moment: nobody waits for them any more. One that was not dropped finds what it has missed.
 */
import { StreamBufferError } from '@libp2p/interface'
import type { ChunkReader } from './iterator.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

export class Readers {
  readonly #waitedFor = new Set<ChunkReader>()
  #leftBehind: Set<ChunkReader> | undefined
  /** Handed to loops that have not asked for the next chunk yet */
  #unfinishedBytes = 0

  /** How many are waited for */
  get count (): number {
    return this.#waitedFor.size
  }

  get areAllAsking (): boolean {
    for (const reader of this.#waitedFor) {
      if (!reader.isAsking) {
        return false
      }
    }

    return true
  }

  add (reader: ChunkReader): void {
    this.leaveBehind()
    this.#waitedFor.add(reader)
  }

  remove (reader: ChunkReader): void {
    this.#waitedFor.delete(reader)
    this.#leftBehind?.delete(reader)
  }

  /** Somebody begins to read */
  leaveBehind (): void {
    for (const reader of this.#waitedFor) {
      if (!reader.isAsking) {
        this.#waitedFor.delete(reader)
        this.#leftBehind ??= new Set()
        this.#leftBehind.add(reader)
      }
    }
  }

  /** A loop asks: if it was left behind, it has what it missed, and keeps up from here on */
  catchUp (): void {
    this.#leftBehind?.forEach(reader => {
      if (reader.isAsking) {
        this.#leftBehind?.delete(reader)
        this.#waitedFor.add(reader)
      }
    })
  }

  /** What has been read since the last call: a chunk, when no loop is still at it */
  takeFinishedBytes (): number {
    const bytes = this.areAllAsking ? this.#unfinishedBytes : 0
    this.#unfinishedBytes -= bytes

    return bytes
  }

  /** Hands a chunk over. A loop that was left behind may miss `maxMissedBytes`; then it ends with an error when it comes back. */
  push (chunk: Uint8ArrayList, maxMissedBytes: number): void {
    if (this.#waitedFor.size > 0) {
      this.#unfinishedBytes += chunk.byteLength
      this.#waitedFor.forEach(reader => { reader.push(chunk) })
    }

    this.#leftBehind?.forEach(reader => {
      reader.push(chunk)

      if (reader.missedBytes > maxMissedBytes) {
        this.#leftBehind?.delete(reader)
        reader.end(new StreamBufferError(`The loop did not ask while others read ${reader.missedBytes} bytes, streamOptions.maxReadBufferLength allows ${maxMissedBytes}`))
      }
    })
  }

  /** Nothing more will come */
  end (error: Error | undefined): void {
    for (const reader of this.#waitedFor) {
      // one that does not ask has a chunk to take first
      if (reader.isAsking) {
        reader.end(error)
      }
    }
  }
}
