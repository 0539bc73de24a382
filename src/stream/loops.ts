/**
 * The `for await` loops over one stream. Where there is no listener a chunk is handed over when each of them asks, and counts as read when
 * each asks for the next: so a slow loop holds back a fast sender.
 *
 * A loop may end without a word, when its iterator is dropped. So listeners do not wait for loops, and a loop that begins does not wait for
 * those that are not asking: they are left behind. One that comes back finds what it has missed, unless that was too much.
 */
import { StreamBufferError } from '@libp2p/interface'
import { ReadBuffer } from '../core/buffers/read-buffer.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/** An application that reads each message with an iterator of its own drops thousands: those that were left behind first are given up */
const MAX_LEFT_BEHIND = 16

export interface Loop {
  /** The loop waits for a chunk; only meanwhile is it told that there are no more */
  asked: PromiseWithResolvers<Uint8ArrayList | undefined> | undefined
  /** What came since the loop was left behind; undefined while it is waited for */
  missed: ReadBuffer | undefined
  /** Why the loop was given up */
  error: Error | undefined
}

export class Loops {
  readonly #mergeFromBytes: number
  /** Those that are waited for, and those that were left behind, these in the order in which they were */
  readonly all = new Set<Loop>()
  /** Handed to loops that have not asked for the next chunk yet */
  #unfinishedBytes = 0

  /** What a loop has missed is handed over as the stream's own bytes are: see ReadBuffer */
  constructor (mergeFromBytes: number) {
    this.#mergeFromBytes = mergeFromBytes
  }

  /** One reads, or will when it comes round */
  get areWaitedFor (): boolean {
    for (const { missed } of this.all) {
      if (missed === undefined) {
        return true
      }
    }

    return false
  }

  /** All that are waited for */
  get areAllAsking (): boolean {
    for (const { asked, missed } of this.all) {
      if (asked === undefined && missed === undefined) {
        return false
      }
    }

    return true
  }

  /** A loop that is waited for from here on */
  begin (): Loop {
    const loop: Loop = { asked: undefined, missed: undefined, error: undefined }
    this.leaveBehind()
    this.all.add(loop)

    return loop
  }

  remove (loop: Loop): void {
    this.all.delete(loop)
  }

  /** Somebody else begins to read, or goes on */
  leaveBehind (): void {
    let leftBehind = 0

    for (const loop of this.all) {
      if (loop.missed !== undefined) {
        leftBehind++
      } else if (loop.asked === undefined) {
        loop.missed = new ReadBuffer(this.#mergeFromBytes)
        // to the end, where it is counted
        this.all.delete(loop)
        this.all.add(loop)
      }
    }

    if (leftBehind > MAX_LEFT_BEHIND) {
      this.#giveUpFirst(`${MAX_LEFT_BEHIND} others did not ask after it`)
    }
  }

  /** What counts as read since the last call: all that was handed over, once every loop has asked again */
  takeFinishedBytes (): number {
    const bytes = this.areAllAsking ? this.#unfinishedBytes : 0
    this.#unfinishedBytes -= bytes

    return bytes
  }

  /**
   * Hands over a chunk that others are reading (`isCounted`), or that counts as read when the loops, which must all be asking, ask again. All
   * loops together may miss `maxMissedBytes`; then the one that was left behind first ends with an error when it comes back.
   */
  push (chunk: Uint8ArrayList, isCounted: boolean, maxMissedBytes: number): void {
    this.#unfinishedBytes += isCounted ? 0 : chunk.byteLength
    let missedBytes = 0
    this.leaveBehind()

    for (const loop of this.all) {
      if (loop.missed === undefined) {
        loop.asked?.resolve(chunk)
        loop.asked = undefined
      } else {
        missedBytes += keepFor(loop.missed, chunk)
      }
    }

    if (missedBytes > maxMissedBytes) {
      this.#giveUpFirst(`others read on, ${missedBytes} bytes were missed, streamOptions.maxReadBufferLength allows ${maxMissedBytes}`)
    }
  }

  /** Nothing more will come. A loop that does not ask has a chunk to take first. */
  end (error: Error | undefined): void {
    for (const { asked } of this.all) {
      if (error === undefined) {
        asked?.resolve(undefined)
      } else {
        asked?.reject(error)
      }
    }
  }

  #giveUpFirst (why: string): void {
    for (const loop of this.all) {
      if (loop.missed !== undefined) {
        this.all.delete(loop)
        loop.error = new StreamBufferError(`The loop did not ask while ${why}`)
        loop.missed = undefined
        return
      }
    }
  }
}

/** In memory of its own: a byte that is missed must not hold the chunk it came in */
function keepFor (missed: ReadBuffer, chunk: Uint8ArrayList): number {
  for (const part of chunk) {
    missed.append(part, chunk.byteLength)
  }

  missed.endFrame()
  missed.detach()

  return missed.byteLength
}
