/**
 * Gives credit back in portions, by turns, while the peer control bounds what the peer may have in flight. Runs only meanwhile.
 *
 * A grant is in flight until the data that uses it arrives, or a pong shows that nothing uses it: what the peer sends on a grant is in front of
 * its answer to a later ping. So credit of quiet streams does not count, and stops the others for two round trips at most.
 */
import type { StreamState } from '../stream-state.ts'

/** Smaller ones would cost too many frames, larger ones would be a queue by themselves */
const MIN_PORTION_BYTES = 4096
const MAX_PORTION_BYTES = 16_384
const PORTIONS_PER_BOUND = 4

export class Portions<Owner> {
  /** Streams with grants that may be in flight */
  readonly #granted = new Set<StreamState<Owner>>()
  /** Streams with credit to give back, the next one first */
  readonly waiting = new Set<StreamState<Owner>>()
  /** Undefined if it may have changed */
  #inFlightBytes: number | undefined

  /** Read, and waiting to be given back */
  get withheldBytes (): number {
    return sumOf(this.waiting, givableBytes)
  }

  /** Granted, and not known to be used. Counted once for each chunk: streams may be read one by one after it. */
  get inFlightBytes (): number {
    this.#inFlightBytes ??= sumOf(this.#granted, inFlightOf)

    return this.#inFlightBytes
  }

  /** Data has arrived, which may use grants */
  onReceived (): void {
    this.#inFlightBytes = undefined
  }

  /** The peer has ended the stream, or the stream has ended */
  forget (stream: StreamState<Owner>): void {
    this.#granted.delete(stream)
    this.waiting.delete(stream)
    this.#inFlightBytes = undefined
  }

  /** A ping is written: the grants so far are in front of it */
  beginRound (): void {
    for (const stream of this.#granted) {
      stream.earlierGrantBytes += stream.laterGrantBytes
      stream.laterGrantBytes = 0
    }
  }

  /** Its pong has arrived */
  endRound (): void {
    this.#inFlightBytes = undefined

    for (const stream of this.#granted) {
      stream.earlierGrantBytes = 0

      if (stream.laterGrantBytes + stream.queuedGrantBytes === 0) {
        this.#granted.delete(stream)
      }
    }
  }

  end (): void {
    for (const stream of this.#granted) {
      stream.earlierGrantBytes = 0
      stream.laterGrantBytes = 0
      stream.queuedGrantBytes = 0
    }

    this.#granted.clear()
    this.waiting.clear()
  }

  /** Bytes of the stream were read. It waits if it has a portion to give back, and not enough credit left. */
  enlist (stream: StreamState<Owner>, boundBytes: number): void {
    if (stream.life.remoteWriteStatus === 'writable' && givableBytes(stream) >= MIN_PORTION_BYTES && isShort(stream, boundBytes)) {
      this.waiting.add(stream)
    }
  }

  /** A stalled stream that does not wait gets a portion all the same, or what it has read if that is less */
  relieve (stream: StreamState<Owner>): void {
    stream.queuedGrantBytes = Math.min(MAX_PORTION_BYTES, stream.receiveWindow.readBytes)
    this.#granted.add(stream)
    this.#inFlightBytes = undefined
  }

  /** The update of a stream is being written, with so much */
  onGranted (stream: StreamState<Owner>, deltaBytes: number): void {
    stream.queuedGrantBytes = 0
    stream.laterGrantBytes += deltaBytes
    this.#granted.add(stream)
    this.#inFlightBytes = undefined
  }

  /**
   * Grants what the bound allows. `grant` queues an update for the stream, or returns false if none may be written now. If a stream has nothing
   * left to give back, its window may hold it back: `raise` raises that up to the bound, and returns by how much.
   */
  serve (boundBytes: number, grant: (stream: StreamState<Owner>) => boolean, raise: (stream: StreamState<Owner>, wishBytes: number) => number): void {
    const portionBytes = Math.min(MAX_PORTION_BYTES, Math.max(MIN_PORTION_BYTES, Math.floor(boundBytes / PORTIONS_PER_BOUND)))
    let inFlightBytes = this.waiting.size > 0 ? this.inFlightBytes : 0

    for (const stream of this.waiting) {
      if (inFlightBytes >= boundBytes) {
        return
      }

      const restBytes = givableBytes(stream)
      this.waiting.delete(stream)

      if (restBytes >= MIN_PORTION_BYTES && isShort(stream, boundBytes) && grant(stream)) {
        const bytes = Math.min(portionBytes, restBytes)
        // a bound may have fractions, but windows must not
        const wishBytes = bytes < restBytes ? 0 : Math.min(bytes, Math.floor(boundBytes) - stream.receiveWindow.windowBytes)
        const raisedBytes = wishBytes > 0 ? raise(stream, wishBytes) : 0
        stream.queuedGrantBytes += bytes
        inFlightBytes += bytes + raisedBytes
        this.#inFlightBytes = undefined
        this.#granted.add(stream)
        this.enlist(stream, boundBytes)
      }
    }
  }
}

function sumOf (streams: Set<StreamState>, bytesOf: (stream: StreamState) => number): number {
  return [...streams].reduce((bytes, stream) => bytes + bytesOf(stream), 0)
}

function givableBytes ({ receiveWindow, queuedGrantBytes }: StreamState): number {
  return receiveWindow.readBytes - queuedGrantBytes
}

/**
 * A stream that could fill the bound alone needs no more, before half of its window is used. Behind this side's FIN only the half counts: a
 * peer that has sent little may have finished.
 */
function isShort ({ receiveWindow, queuedGrantBytes, life }: StreamState, boundBytes: number): boolean {
  const halfBytes = receiveWindow.windowBytes / 2

  return receiveWindow.availableBytes + queuedGrantBytes < (life.writeStatus === 'closed' ? halfBytes : Math.max(halfBytes, boundBytes))
}

function inFlightOf ({ receiveWindow, earlierGrantBytes, laterGrantBytes, queuedGrantBytes }: StreamState): number {
  return queuedGrantBytes + Math.min(receiveWindow.availableBytes, earlierGrantBytes + laterGrantBytes)
}
