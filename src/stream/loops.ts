/**
 * The `for await` loops over one stream. Where there is no listener a chunk is handed over when each of them asks, and counts as read when
 * each asks for the next: so a slow loop holds back a fast sender.
 *
 * A loop may end without a word, when its iterator is dropped. So listeners do not wait for loops, and a loop that begins does not wait for
 * those that are not asking: they are left behind. One that comes back finds what it has missed, unless that was too much.
 */
import { StreamBufferError } from '@libp2p/interface'
import { ReadBuffer } from '../core/buffers/read-buffer.ts'
import type { Reader } from './reader.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

type Chunk = Uint8Array | Uint8ArrayList

/** An application that reads each message with an iterator of its own drops thousands: those that were left behind first are given up */
const MAX_LEFT_BEHIND = 16

interface Loop {
  /** It waits for a chunk; only meanwhile is it told that there are no more */
  asked: PromiseWithResolvers<Chunk | undefined> | undefined
  /** What came since it was left behind; undefined while it is waited for */
  missed: ReadBuffer | undefined
  /** Why it was given up */
  error: Error | undefined
}

export class Loops {
  readonly #mergeFromBytes: number
  readonly #reader: Reader
  /** Those that were left behind in the order in which they were */
  readonly #loops = new Set<Loop>()
  /** Handed to loops that have not asked for the next chunk yet */
  #unfinishedBytes = 0

  /** What a loop has missed is handed over as the stream's own bytes are: see ReadBuffer */
  constructor (mergeFromBytes: number, reader: Reader) {
    this.#mergeFromBytes = mergeFromBytes
    this.#reader = reader
  }

  /** Neither one that is waited for nor one that was left behind */
  get areNone (): boolean {
    return this.#loops.size === 0
  }

  /** One reads, or will when it comes round */
  get areWaitedFor (): boolean {
    for (const { missed } of this.#loops) {
      if (missed === undefined) {
        return true
      }
    }

    return false
  }

  /** All that are waited for */
  get areAllAsking (): boolean {
    for (const { asked, missed } of this.#loops) {
      if (asked === undefined && missed === undefined) {
        return false
      }
    }

    return true
  }

  /**
   * One chunk at a time is handed over, so there is no queue. With that of it-pushable a loop that answers one message took 1.1 to 1.5 times
   * as long.
   */
  async * iterate (): AsyncGenerator<Chunk> {
    const loop: Loop = { asked: undefined, missed: undefined, error: undefined }
    this.leaveBehind()
    this.#loops.add(loop)
    this.#reader.onLoop()

    try {
      while (true) {
        while (loop.missed !== undefined && loop.missed.readyBytes > 0) {
          yield loop.missed.take()
        }

        if (loop.error !== undefined) {
          throw loop.error
        }

        // it has what it missed, and keeps up from here on
        loop.missed = undefined
        loop.asked = Promise.withResolvers()
        const { promise } = loop.asked
        this.#reader.onAsk()
        const chunk = await promise

        if (chunk === undefined) {
          return
        }

        yield chunk
      }
    } finally {
      this.#loops.delete(loop)
      this.#reader.onAsk()
    }
  }

  /** Somebody else begins to read, or goes on */
  leaveBehind (): void {
    let leftBehind = 0

    for (const loop of this.#loops) {
      if (loop.missed !== undefined) {
        leftBehind++
      } else if (loop.asked === undefined) {
        loop.missed = new ReadBuffer(this.#mergeFromBytes)
        // to the end, where it is counted
        this.#loops.delete(loop)
        this.#loops.add(loop)
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

  /** Hands over a chunk that counts as read when the loops ask again. They must all be asking. */
  push (chunk: Uint8ArrayList, maxMissedBytes: number): void {
    this.#unfinishedBytes += chunk.byteLength
    this.pushRead(chunk, maxMissedBytes)
  }

  /**
   * Hands over a chunk that is being read by others. All loops together may miss `maxMissedBytes`; then the one that was left behind first
   * ends with an error when it comes back.
   */
  pushRead (chunk: Uint8ArrayList, maxMissedBytes: number): void {
    let missedBytes = 0
    this.leaveBehind()

    for (const loop of this.#loops) {
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
    for (const { asked } of this.#loops) {
      if (error === undefined) {
        asked?.resolve(undefined)
      } else {
        asked?.reject(error)
      }
    }
  }

  #giveUpFirst (why: string): void {
    for (const loop of this.#loops) {
      if (loop.missed !== undefined) {
        this.#loops.delete(loop)
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
  missed.keep()

  return missed.byteLength
}
