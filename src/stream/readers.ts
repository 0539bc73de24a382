/**
 * The `for await` loops over one stream: where there is no listener the next chunk is handed over when each of them asks, and
 * the last one counts as read then.
 *
 * A loop may end without a word, when its iterator is dropped. So a listener waits for none, and a loop that begins leaves
 * behind those that do not ask at that moment. The last one that was left behind finds what it has missed if it comes back.
 */
import { StreamBufferError } from '@libp2p/interface'
import { ReadBuffer } from '../core/buffer/read-buffer.ts'
import type { ChunkReader } from './iterator.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

export class Readers {
  readonly #keepsFramesApart: boolean
  readonly #waitedFor = new Set<ChunkReader>()
  /** One, because an application that reads each message with an iterator of its own drops thousands */
  #leftBehind: ChunkReader | undefined
  /** Handed to loops that have not asked for the next chunk yet */
  #unfinishedBytes = 0

  constructor (keepsFramesApart: boolean) {
    this.#keepsFramesApart = keepsFramesApart
  }

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

    if (this.#leftBehind === reader) {
      this.#leftBehind = undefined
    }
  }

  /** Somebody else begins to read, or goes on */
  leaveBehind (): void {
    for (const reader of this.#waitedFor) {
      if (!reader.isAsking) {
        this.#waitedFor.delete(reader)
        this.#giveUp('others read on, and another loop did not ask after it')
        this.#leftBehind = reader
        reader.missed = new ReadBuffer(this.#keepsFramesApart)
      }
    }
  }

  /** A loop asks: if it was left behind, it has what it missed, and keeps up from here on */
  catchUp (): void {
    if (this.#leftBehind?.isAsking === true) {
      this.#waitedFor.add(this.#leftBehind)
      this.#leftBehind = undefined
    }
  }

  /** What has been read since the last call: a chunk, when no loop is still at it */
  takeFinishedBytes (): number {
    const bytes = this.areAllAsking ? this.#unfinishedBytes : 0
    this.#unfinishedBytes -= bytes

    return bytes
  }

  /** Hands over a chunk that counts as read when the loops ask again. They must all be asking. */
  push (chunk: Uint8ArrayList, maxMissedBytes: number): void {
    this.#unfinishedBytes += chunk.byteLength
    this.pushRead(chunk, maxMissedBytes)
  }

  /** Hands over a chunk that is being read by others. A loop may miss `maxMissedBytes`; then it ends with an error when it comes back. */
  pushRead (chunk: Uint8ArrayList, maxMissedBytes: number): void {
    this.leaveBehind()
    this.#waitedFor.forEach(reader => { reader.push(chunk) })

    if (this.#leftBehind?.missed !== undefined) {
      this.#keep(this.#leftBehind.missed, chunk, maxMissedBytes)
    }
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

  /** In memory of its own: a byte that is missed must not hold the chunk it came in */
  #keep (missed: ReadBuffer, chunk: Uint8ArrayList, maxMissedBytes: number): void {
    for (const part of chunk) {
      missed.append(part)
    }

    missed.endFrame()
    missed.keep()

    if (missed.byteLength > maxMissedBytes) {
      this.#giveUp(`others read ${missed.byteLength} bytes, streamOptions.maxReadBufferLength allows it to miss ${maxMissedBytes}`)
    }
  }

  #giveUp (why: string): void {
    this.#leftBehind?.end(new StreamBufferError(`The loop did not ask while ${why}`))
    this.#leftBehind = undefined
  }
}
