/**
 * The `for await` loops over one stream. Without a listener, a chunk is handed over once a loop asks, and counts as read once a loop asks for the
 * next. So a loop makes a fast sender wait.
 *
 * An iterator may be dropped without notice. So no loop is waited for while it is not asking: it is left behind as soon as another loop asks, or a
 * listener reads on. When it asks again, it gets the data it has missed, unless that was too much.
 */
import { StreamBufferError } from '@libp2p/interface'
import { ReadBuffer } from '../core/buffers/read-buffer.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/** An application that reads each message with a new iterator drops thousands. Beyond this number the first to be left behind is given up. */
const MAX_LEFT_BEHIND = 16

export interface Loop {
  /** The loop waits for a chunk, or for the end of the stream */
  asked: PromiseWithResolvers<Uint8ArrayList | undefined> | undefined
  /** The data since the loop was left behind; undefined if it was not */
  missed: ReadBuffer | undefined
  /** Why the loop was given up */
  error: Error | undefined
}

export class Loops {
  readonly #mergeFromBytes: number
  /** Those that were left behind come in the order in which they fell behind */
  readonly all = new Set<Loop>()
  /** Handed to loops that have not asked for the next chunk yet */
  #unfinishedBytes = 0

  /** Missed data is merged as the stream's own data is: see ReadBuffer */
  constructor (mergeFromBytes: number) {
    this.#mergeFromBytes = mergeFromBytes
  }

  /** At least one loop was not left behind */
  get areWaitedFor (): boolean {
    for (const { missed } of this.all) {
      if (missed === undefined) {
        return true
      }
    }

    return false
  }

  /** All loops that were not left behind */
  get areAllAsking (): boolean {
    for (const { asked, missed } of this.all) {
      if (asked === undefined && missed === undefined) {
        return false
      }
    }

    return true
  }

  /** At least one loop waits for a chunk */
  get isAnyAsking (): boolean {
    for (const { asked } of this.all) {
      if (asked !== undefined) {
        return true
      }
    }

    return false
  }

  begin (): Loop {
    const loop: Loop = { asked: undefined, missed: undefined, error: undefined }
    this.leaveBehind()
    this.all.add(loop)

    return loop
  }

  remove (loop: Loop): void {
    this.all.delete(loop)
  }

  /** Leaves behind the loops that are not asking, as another reader begins or goes on */
  leaveBehind (): void {
    let leftBehind = 0

    for (const loop of this.all) {
      if (loop.missed !== undefined) {
        leftBehind++
      } else if (loop.asked === undefined) {
        loop.missed = new ReadBuffer(this.#mergeFromBytes)
        // to the end, where this loop counts it
        this.all.delete(loop)
        this.all.add(loop)
      }
    }

    if (leftBehind > MAX_LEFT_BEHIND) {
      this.#giveUpFirst(`${MAX_LEFT_BEHIND} later readers did not either, no more are kept`)
    }
  }

  /** The bytes that were handed over: they count as read when a loop asks again, or has ended */
  takeFinishedBytes (): number {
    const bytes = this.#unfinishedBytes
    this.#unfinishedBytes = 0

    return bytes
  }

  /**
   * Hands over a chunk. If listeners read it, it is `isCounted`. Otherwise a loop must be asking, and it counts as read once one asks again.
   * If all loops together miss more than `maxMissedBytes`, the first to be left behind is given up: it throws when it asks again.
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
        missedBytes += appendCopy(loop.missed, chunk)
      }
    }

    if (missedBytes > maxMissedBytes) {
      this.#giveUpFirst(`${missedBytes} bytes were missed, streamOptions.maxReadBufferLength allows ${maxMissedBytes}`)
    }
  }

  /** The stream has ended. Loops that are not asking learn it when they ask. */
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
        loop.error = new StreamBufferError(`The reader did not request data: ${why}`)
        loop.missed = undefined
        return
      }
    }
  }
}

/** Copies, as a missed byte must not hold the memory of its chunk. Returns the length of `missed`. */
function appendCopy (missed: ReadBuffer, chunk: Uint8ArrayList): number {
  for (const part of chunk) {
    missed.append(part, chunk.byteLength)
  }

  missed.endFrame()
  missed.detach()

  return missed.byteLength
}
