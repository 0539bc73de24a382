/**
 * The `for await` loops over one stream: where there is no listener the next chunk is handed over when each of them asks, and
 * the last one counts as read then.
 *
 * A loop may end without a word, when its iterator is dropped. So listeners do not wait for loops, and a loop that begins does not wait for
 * those that are not asking: they are left behind. One that comes back finds what it has missed, unless that was too much.
 */
import { StreamBufferError } from '@libp2p/interface'
import { ReadBuffer } from '../core/buffers/read-buffer.ts'
import type { ChunkReader } from './iterator.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/** An application that reads each message with an iterator of its own drops thousands: those that were left behind first are given up */
const MAX_LEFT_BEHIND = 16

export class Loops {
  readonly #mergeFromBytes: number
  readonly #waitedFor = new Set<ChunkReader>()
  #leftBehind: Set<ChunkReader> | undefined
  /** Handed to loops that have not asked for the next chunk yet */
  #unfinishedBytes = 0

  /** What a loop has missed is handed over as the stream's own bytes are: see ReadBuffer */
  constructor (mergeFromBytes: number) {
    this.#mergeFromBytes = mergeFromBytes
  }

  /** How many are waited for */
  get count (): number {
    return this.#waitedFor.size
  }

  get areNone (): boolean {
    return this.#waitedFor.size === 0 && (this.#leftBehind === undefined || this.#leftBehind.size === 0)
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

  /** Somebody else begins to read, or goes on */
  leaveBehind (): void {
    for (const reader of this.#waitedFor) {
      if (!reader.isAsking) {
        this.#waitedFor.delete(reader)
        this.#leftBehind ??= new Set()
        this.#leftBehind.add(reader)
        reader.missed = new ReadBuffer(this.#mergeFromBytes)
      }
    }

    if (this.#leftBehind !== undefined && this.#leftBehind.size > MAX_LEFT_BEHIND) {
      this.#giveUpFirst(this.#leftBehind, `${MAX_LEFT_BEHIND} others did not ask after it`)
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

  /** What counts as read since the last call: all that was handed over, once every loop has asked again */
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

  /**
   * Hands over a chunk that is being read by others. All loops together may miss `maxMissedBytes`; then who was left behind first
   * ends with an error when it comes back.
   */
  pushRead (chunk: Uint8ArrayList, maxMissedBytes: number): void {
    this.leaveBehind()
    this.#waitedFor.forEach(reader => { reader.push(chunk) })

    if (this.#leftBehind !== undefined && this.#leftBehind.size > 0) {
      this.#keepFor(this.#leftBehind, chunk, maxMissedBytes)
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
  #keepFor (readers: Set<ChunkReader>, chunk: Uint8ArrayList, maxMissedBytes: number): void {
    let missedBytes = 0

    for (const { missed } of readers) {
      for (const part of chunk) {
        missed?.append(part, chunk.byteLength)
      }

      missed?.endFrame()
      missed?.keep()
      missedBytes += missed?.byteLength ?? 0
    }

    if (missedBytes > maxMissedBytes) {
      this.#giveUpFirst(readers, `others read on, all loops together missed ${missedBytes} bytes, streamOptions.maxReadBufferLength allows ${maxMissedBytes}`)
    }
  }

  #giveUpFirst (readers: Set<ChunkReader>, why: string): void {
    const [first] = readers
    readers.delete(first)
    first.end(new StreamBufferError(`The loop did not ask while ${why}`))
  }
}
