/**
 * One direction of a link: a buffer that empties at a rate, and a delay. It holds bytes as a kernel does, without their
 * borders, and is told what time it is.
 */
import type { Uint8ArrayList } from 'uint8arraylist'

/** What one read of a socket returns at most */
const READ_BYTES = 65_536
const FIRST_CAPACITY_BYTES = 1_048_576
/** Linux lets a program write again when a third of the buffer is free */
const DRAINED_PART = 2 / 3

export interface OneWayOptions {
  bytesPerMs: number
  delayMs: number
  bufferBytes: number
}

interface Departure {
  atMs: number
  /** How many bytes have left by then */
  upToByte: number
}

export class OneWay {
  /** What was handed to `send`, has left the buffer, has come to the other end, and has been read there. Since the beginning. */
  handedBytes = 0
  departedBytes = 0
  arrivedBytes = 0
  readBytes = 0
  #options: OneWayOptions
  /** A ring: byte n is at n modulo its length, which is a power of two */
  #memory = new Uint8Array(FIRST_CAPACITY_BYTES)
  /** Of what is between the ends, the oldest first */
  #departures: Departure[] = []
  #settledMs = 0
  /** A part of a byte that has left */
  #fraction = 0
  #isFull = false

  constructor (options: OneWayOptions) {
    this.#options = options
  }

  /** From now on. When the delay becomes shorter, what has been longer between the ends arrives at once. */
  change (options: OneWayOptions, nowMs: number): void {
    this.settle(nowMs)
    this.#options = options
  }

  get isBusy (): boolean {
    return this.readBytes < this.handedBytes
  }

  /** Waits at either end */
  get waitingBytes (): number {
    return this.handedBytes - this.departedBytes + this.arrivedBytes - this.readBytes
  }

  /** Returns false when the buffer is full. Takes the bytes all the same. */
  send (bytes: Uint8ArrayList, nowMs: number): boolean {
    if (this.departedBytes === this.handedBytes) {
      // it was idle, and begins now. Nothing else here: this runs once for each write
      this.#settledMs = nowMs
      this.#fraction = 0
    }

    this.#reserve(bytes.byteLength)

    for (const part of bytes) {
      this.#write(part)
    }

    this.#isFull = this.waitingBytes >= this.#options.bufferBytes

    return !this.#isFull
  }

  /** Moves what has moved since the last time */
  settle (nowMs: number): void {
    const { bytesPerMs, delayMs } = this.#options
    const unsentBytes = this.handedBytes - this.departedBytes
    const passed = (nowMs - this.#settledMs) * bytesPerMs + this.#fraction
    this.#settledMs = nowMs

    if (unsentBytes <= passed || bytesPerMs === Infinity) {
      this.departedBytes = this.handedBytes
      this.#fraction = 0
    } else {
      this.departedBytes += Math.floor(passed)
      this.#fraction = passed % 1
    }

    if (this.departedBytes > (this.#departures.at(-1)?.upToByte ?? this.arrivedBytes)) {
      this.#departures.push({ atMs: nowMs, upToByte: this.departedBytes })
    }

    const between = this.#departures.findIndex(({ atMs }) => atMs + delayMs > nowMs)
    const arrived = this.#departures.splice(0, between === -1 ? this.#departures.length : between)
    this.arrivedBytes = arrived.at(-1)?.upToByte ?? this.arrivedBytes
  }

  /** The next bytes that have arrived; none if there are none */
  read (): Uint8Array {
    const start = this.readBytes % this.#memory.length
    const byteLength = Math.min(READ_BYTES, this.arrivedBytes - this.readBytes, this.#memory.length - start)
    this.readBytes += byteLength

    return this.#memory.slice(start, start + byteLength)
  }

  /** Whether the buffer was full and has room again: true once */
  takeDrained (): boolean {
    const hasDrained = this.#isFull && this.waitingBytes <= this.#options.bufferBytes * DRAINED_PART
    this.#isFull &&= !hasDrained

    return hasDrained
  }

  /**
   * For the bytes up to each of `ends`, which ascend: in how many ms they will have been read, if nothing changes.
   * A way without a rate is as fast as its ends: `readBytesPerMs` is what they have managed lately.
   */
  arrivalsMs (ends: Float64Array, nowMs: number, readBytesPerMs: number): Float32Array {
    const { bytesPerMs, delayMs } = this.#options
    let departure = 0

    return Float32Array.from(ends, end => {
      if (bytesPerMs === Infinity) {
        return (end - this.readBytes) / Math.max(1, readBytesPerMs) + (end > this.arrivedBytes ? delayMs : 0)
      }

      if (end > this.departedBytes) {
        return delayMs + (end - this.departedBytes) / bytesPerMs
      }

      while (departure < this.#departures.length && this.#departures[departure].upToByte < end) {
        departure++
      }

      return Math.max(0, (this.#departures[departure]?.atMs ?? -Infinity) + delayMs - nowMs)
    })
  }

  #write (part: Uint8Array): void {
    const start = this.handedBytes % this.#memory.length
    const roomBytes = this.#memory.length - start

    if (part.byteLength <= roomBytes) {
      this.#memory.set(part, start)
    } else {
      this.#memory.set(part.subarray(0, roomBytes), start)
      this.#memory.set(part.subarray(roomBytes), 0)
    }

    this.handedBytes += part.byteLength
  }

  /** Room for so many bytes more */
  #reserve (byteLength: number): void {
    const old = this.#memory
    let capacity = old.length

    while (capacity < this.handedBytes - this.readBytes + byteLength) {
      capacity *= 2
    }

    if (capacity > old.length) {
      const { handedBytes } = this
      this.#memory = new Uint8Array(capacity)
      this.handedBytes = this.readBytes

      while (this.handedBytes < handedBytes) {
        const start = this.handedBytes % old.length
        this.#write(old.subarray(start, Math.min(old.length, start + handedBytes - this.handedBytes)))
      }
    }
  }
}
