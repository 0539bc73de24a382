// One direction of a link: a socket buffer that empties at a rate, and a delay. Exact to the byte:
// instants are computed from where the wire last started, so that nothing adds up on the way.
import { MovingTime } from './stalls.ts'
import type { Pace } from './pace.ts'
import type { Stall } from './stalls.ts'
import type { Happening, Timeline } from './timeline.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/** What Node 24's sockets take before they say to wait, and what one read of a socket returns at most */
const DEFAULT_SOCKET_BUFFER_BYTES = 65_536
const DEFAULT_SEGMENT_BYTES = 65_536
/** Far below a byte, far above what floating point is wrong by */
const ROUNDING_BYTES = 1e-3

export interface WireOptions {
  /** Infinity is a wire that takes everything at once */
  rateBytesPerS: number
  /** From one end to the other, for each byte; may be a fraction, such as 0.05 */
  delayMs: number
  /** send() answers false when so much is not on the wire yet. Everything is taken all the same. */
  socketBufferBytes?: number
  /** 'drain' follows when so little is left; Node's sockets wait for 0 */
  drainAtBytes?: number
  /** From then on the delay is longer by this much */
  longer?: { fromMs: number, byMs: number }
  /** What is handed down in one send() arrives in pieces of at most this size, each with its last byte; may differ from piece to piece */
  segmentBytes?: number | (() => number)
  /** While nothing moves: neither into the wire nor along it */
  stalls?: readonly Stall[]
  /** Instead of stalls: the rate changes, and bytes that are on the wire arrive after the delay */
  pace?: Pace
}

export interface WireCounters {
  /** Handed to the wire so far */
  readonly bytesHandedDown: number
  /** Of these, what has left the socket buffer */
  readonly bytesOnWire: number
  readonly bytesArrived: number
  /** Handed to the wire and not yet on it */
  readonly unsentBytes: number
}

export interface WireEvents {
  onArrived (bytes: Uint8Array): void
  onDrain (): void
  /** The other side has closed: nothing follows */
  onEnd (): void
  onReset (): void
}

interface InFlight {
  arrivesAtMs: number
  /** How many bytes of the wire have been sent when this one has */
  lastByte: number
  bytesArriving: number
  arrive (): void
}

export class Wire implements WireCounters {
  bytesHandedDown = 0
  bytesArrived = 0
  readonly #timeline: Timeline
  readonly #time: MovingTime | Pace
  readonly #isPaced: boolean
  readonly #events: WireEvents
  readonly #bytesPerMs: number
  readonly #delayMs: number
  readonly #longer: { fromMs: number, byMs: number }
  readonly #socketBufferBytes: number
  readonly #drainAtBytes: number
  readonly #segmentBytes: () => number
  /** First in, first out: only the first one is on the timeline */
  readonly #inFlight: InFlight[] = []
  #nextArrival: Happening | undefined
  #drain: Happening | undefined
  /** Where the wire last started: how many bytes had been sent, and when, in moving time */
  #startByte = 0
  #startMovedMs = 0

  constructor (timeline: Timeline, options: WireOptions, events: WireEvents) {
    this.#timeline = timeline
    this.#time = options.pace ?? new MovingTime(options.stalls)
    this.#isPaced = options.pace !== undefined
    this.#events = events
    this.#bytesPerMs = options.rateBytesPerS / 1000
    this.#delayMs = options.delayMs
    this.#longer = options.longer ?? { fromMs: Infinity, byMs: 0 }
    this.#socketBufferBytes = options.socketBufferBytes ?? DEFAULT_SOCKET_BUFFER_BYTES
    this.#drainAtBytes = options.drainAtBytes ?? 0
    const { segmentBytes = DEFAULT_SEGMENT_BYTES } = options
    this.#segmentBytes = typeof segmentBytes === 'number' ? () => segmentBytes : segmentBytes

    if (!(options.rateBytesPerS > 0 && options.delayMs >= 0 && (typeof segmentBytes !== 'number' || segmentBytes >= 1) && this.#drainAtBytes < this.#socketBufferBytes)) {
      throw new RangeError('A wire needs a rate, a delay, a segment size, and to drain below the size of its buffer')
    }
  }

  get bytesOnWire (): number {
    const movedMs = this.#time.movedMs(this.#timeline.nowMs) - this.#startMovedMs

    if (movedMs <= 0) {
      return this.#startByte
    }

    return Math.min(this.bytesHandedDown, this.#startByte + Math.floor(movedMs * this.#bytesPerMs + ROUNDING_BYTES))
  }

  get unsentBytes (): number {
    return this.bytesHandedDown - this.bytesOnWire
  }

  /** Returns false when the socket buffer is full. The bytes must be the wire's own. */
  send (bytes: Uint8Array): boolean {
    if (this.unsentBytes === 0) {
      this.#startAt(this.bytesHandedDown)
    }

    for (let offset = 0; offset < bytes.byteLength;) {
      const segment = bytes.subarray(offset, offset + this.#segmentBytes())
      offset += segment.byteLength
      this.bytesHandedDown += segment.byteLength
      this.#launch(this.#sentAtMovedMs(this.bytesHandedDown), segment.byteLength, () => { this.#events.onArrived(segment) })
    }

    if (this.unsentBytes < this.#socketBufferBytes) {
      return true
    }

    this.#planDrain()

    return false
  }

  /** Tells the other side that nothing follows. `onSent` runs when all there is is on the wire. */
  end (onSent: () => void): void {
    const sentAtMovedMs = Math.max(this.#sentAtMovedMs(this.bytesHandedDown), this.#time.movedMs(this.#timeline.nowMs))
    this.#launch(sentAtMovedMs, 0, () => { this.#events.onEnd() })
    this.#timeline.at(this.#time.atMs(sentAtMovedMs), onSent)
  }

  /** Discards what is not on the wire, and tells the other side behind what is */
  reset (): void {
    const sent = this.bytesOnWire
    const kept = this.#inFlight.findIndex(({ lastByte }) => lastByte > sent)

    if (kept !== -1) {
      this.#inFlight.splice(kept)
    }

    if (kept === 0 && this.#nextArrival != null) {
      this.#timeline.cancel(this.#nextArrival)
      this.#nextArrival = undefined
    }

    if (this.#drain != null) {
      this.#timeline.cancel(this.#drain)
      this.#drain = undefined
    }

    this.bytesHandedDown = sent
    this.#launch(this.#time.movedMs(this.#timeline.nowMs), 0, () => { this.#events.onReset() })
  }

  #startAt (byte: number): void {
    this.#startByte = byte
    this.#startMovedMs = this.#time.movedMs(this.#timeline.nowMs)
  }

  #sentAtMovedMs (byte: number): number {
    return this.#startMovedMs + (byte - this.#startByte) / this.#bytesPerMs
  }

  #launch (sentAtMovedMs: number, bytesArriving: number, arrive: () => void): void {
    const sentAtMs = this.#time.atMs(sentAtMovedMs)
    const delayMs = this.#delayMs + (sentAtMs >= this.#longer.fromMs ? this.#longer.byMs : 0)
    const arrivesAtMs = this.#isPaced ? sentAtMs + delayMs : this.#time.atMs(sentAtMovedMs + delayMs)
    this.#inFlight.push({ arrivesAtMs, lastByte: this.bytesHandedDown, bytesArriving, arrive })

    if (this.#nextArrival == null) {
      this.#planArrival()
    }
  }

  #planArrival (): void {
    const [next] = this.#inFlight
    this.#nextArrival = next == null ? undefined : this.#timeline.at(next.arrivesAtMs, this.#onArrival)
  }

  readonly #onArrival = (): void => {
    const arrived = this.#inFlight.shift()
    this.#planArrival()
    this.bytesArrived += arrived?.bytesArriving ?? 0
    arrived?.arrive()
  }

  #planDrain (): void {
    if (this.#drain != null) {
      return
    }

    const drainedByte = this.bytesHandedDown - this.#drainAtBytes

    this.#drain = this.#timeline.at(this.#time.atMs(this.#sentAtMovedMs(drainedByte)), () => {
      this.#drain = undefined

      if (this.bytesHandedDown - this.#drainAtBytes > drainedByte) {
        // more has been sent meanwhile
        this.#planDrain()
        return
      }

      // exactly so much is on the wire now, also where its rate has no limit
      this.#startAt(drainedByte)
      this.#events.onDrain()
    })
  }
}

/** A sender may use its memory again after send(), as with a socket */
export function copyOf (bytes: Uint8Array | Uint8ArrayList): Uint8Array {
  return bytes instanceof Uint8Array ? new Uint8Array(bytes) : bytes.slice()
}
