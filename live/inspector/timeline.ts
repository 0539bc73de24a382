/**
 * What a capture says of its connections: their streams and frames, how much credit was left, and what waited.
 */
import { FIRST_MARK_VALUE, FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN, INITIAL_WINDOW_BYTES, SESSION_ID, TYPE_DATA, TYPE_GO_AWAY, TYPE_PING, TYPE_WINDOW_UPDATE } from '../../src/core/wire/frame.ts'
import { CaptureError } from './pcapng.ts'
import { findProtocol } from './protocol.ts'
import type { CapturedFrame, CaptureSink } from './pcapng.ts'

export interface Frame extends Omit<CapturedFrame, 'payload'> {
  /** What is left after it of the credit that it uses or adds to, if that is known */
  creditBytes?: number
  /** That it begins or ends */
  roundTrip?: RoundTrip
}

export interface Span {
  fromUs: number
  /** Infinity while it goes on */
  toUs: number
}

/** From a ping of this side to its pong */
export interface RoundTrip extends Span {
  isMark: boolean
}

/** Some 150 bytes of memory each */
const MAX_FRAMES = 2_000_000
/** The negotiation of a stream's protocol is over by then */
const MAX_FRAMES_BEFORE_PROTOCOL = 8

/** What one side of a stream may send. Known from the SYN on, unless the peer turns out to begin with more than yamux allows. */
export class Credit {
  /** Undefined if it is not known, or the side has sent its FIN */
  bytes?: number
  mostBytes = INITIAL_WINDOW_BYTES
  /** When nothing was left */
  readonly waits: Span[] = []

  begin (): void {
    this.bytes = INITIAL_WINDOW_BYTES
  }

  spend (spentBytes: number, atUs: number): void {
    if (this.bytes == null) {
      return
    }

    this.bytes -= spentBytes

    if (this.bytes < 0) {
      this.end(atUs)
    } else if (this.bytes === 0 && spentBytes > 0) {
      this.waits.push({ fromUs: atUs, toUs: Infinity })
    }
  }

  add (addedBytes: number, atUs: number): void {
    if (this.bytes != null && addedBytes > 0) {
      this.#endWait(atUs)
      this.bytes += addedBytes
      this.mostBytes = Math.max(this.mostBytes, this.bytes)
    }
  }

  end (atUs: number): void {
    this.#endWait(atUs)
    this.bytes = undefined
  }

  #endWait (atUs: number): void {
    const last = this.waits.at(-1)

    if (last?.toUs === Infinity) {
      last.toUs = atUs
    }
  }
}

export class Stream {
  readonly id: number
  /** Whether this side opened it; undefined if the capture began later */
  isOutbound?: boolean
  protocol?: string
  readonly frames: Frame[] = []
  /** This side's, and the peer's as this side sees it */
  readonly sent = new Credit()
  readonly received = new Credit()
  /** When it was reset, or both sides had sent their FIN; Infinity before */
  toUs = Infinity
  #hasSentFin = false
  #hasReceivedFin = false

  constructor (id: number) {
    this.id = id
  }

  add (frame: Frame, payload: Uint8Array): void {
    const { atUs, isSent, type, flags, length } = frame
    // data uses the credit of its sender, an update adds to that of its receiver
    const credit = isSent === (type === TYPE_DATA) ? this.sent : this.received

    if ((flags & FLAG_SYN) !== 0 && this.frames.length === 0) {
      this.isOutbound = isSent
      this.sent.begin()
      this.received.begin()
    }

    if (type === TYPE_DATA) {
      credit.spend(length, atUs)
    } else if (type === TYPE_WINDOW_UPDATE && (flags & FLAG_RST) === 0) {
      credit.add(length, atUs)
    }

    frame.creditBytes = credit.bytes

    if ((flags & FLAG_FIN) !== 0) {
      (isSent ? this.sent : this.received).end(atUs)
      this.#hasSentFin ||= isSent
      this.#hasReceivedFin ||= !isSent
    }

    if ((flags & FLAG_RST) !== 0) {
      this.sent.end(atUs)
      this.received.end(atUs)
    }

    if ((flags & FLAG_RST) !== 0 || (this.#hasSentFin && this.#hasReceivedFin)) {
      this.toUs = Math.min(this.toUs, atUs)
    }

    this.frames.push(frame)

    if (type === TYPE_DATA && this.frames.length <= MAX_FRAMES_BEFORE_PROTOCOL) {
      this.protocol ??= findProtocol(payload)
    }
  }
}

export class Connection {
  readonly peer: string
  /** "outbound" or "inbound", and the address */
  readonly direction: string
  /** In the order of their first frames */
  readonly streams: Stream[] = []
  /** Those of no stream: pings and the end */
  readonly frames: Frame[] = []
  readonly roundTrips: RoundTrip[] = []
  frameCount = 0
  /** When its last frame passed */
  toUs = -Infinity
  /** One side has sent a GoAway */
  isOver = false
  readonly #streamsById = new Map<number, Stream>()
  readonly #pings = new Map<number, RoundTrip>()

  constructor (peer: string, direction: string) {
    this.peer = peer
    this.direction = direction
  }

  add ({ payload, ...frame }: CapturedFrame): void {
    // a clock that is set back must not put frames out of order
    frame.atUs = Math.max(frame.atUs, this.toUs)
    this.toUs = frame.atUs
    this.frameCount++

    if (frame.streamId === SESSION_ID) {
      this.#addToSession(frame)
    } else {
      this.#streamOf(frame.streamId).add(frame, payload)
    }
  }

  #addToSession (frame: Frame): void {
    this.frames.push(frame)
    this.isOver ||= frame.type === TYPE_GO_AWAY

    if (frame.type !== TYPE_PING) {
      return
    }

    if (frame.isSent && (frame.flags & FLAG_SYN) !== 0) {
      const roundTrip = { fromUs: frame.atUs, toUs: Infinity, isMark: frame.length >= FIRST_MARK_VALUE }
      frame.roundTrip = roundTrip
      this.roundTrips.push(roundTrip)
      this.#pings.set(frame.length, roundTrip)
    } else if (!frame.isSent && (frame.flags & FLAG_ACK) !== 0) {
      const roundTrip = this.#pings.get(frame.length)
      this.#pings.delete(frame.length)

      if (roundTrip != null) {
        frame.roundTrip = roundTrip
        roundTrip.toUs = frame.atUs
      }
    }
  }

  #streamOf (id: number): Stream {
    let stream = this.#streamsById.get(id)

    if (stream == null) {
      stream = new Stream(id)
      this.#streamsById.set(id, stream)
      this.streams.push(stream)
    }

    return stream
  }
}

/** All connections of a capture, as far as it has been read */
export class Capture implements CaptureSink {
  readonly connections: Connection[] = []
  frameCount = 0
  fromUs = Infinity
  toUs = -Infinity

  onConnection (peer: string, direction: string): void {
    this.connections.push(new Connection(peer, direction))
  }

  onFrame (connection: number, frame: CapturedFrame): void {
    if (this.frameCount === MAX_FRAMES) {
      throw new CaptureError(`Only the first ${MAX_FRAMES.toLocaleString('en')} frames are shown. Wireshark's editcap splits a file: editcap -c ${MAX_FRAMES} capture.pcapng part.pcapng`)
    }

    this.frameCount++
    this.fromUs = Math.min(this.fromUs, frame.atUs)
    this.toUs = Math.max(this.toUs, frame.atUs)
    this.connections[connection].add(frame)
  }

  /** Until when that which goes on in a connection has gone on */
  endUs (connection: Connection): number {
    return connection.isOver ? connection.toUs : this.toUs
  }
}
