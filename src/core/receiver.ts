/**
 * Checks each frame of the peer, and applies it. Hot: runs once per frame received.
 */
import { ProtocolError } from './errors.ts'
import { EVENT_DATA, EVENT_STALLED } from './stream-state.ts'
import { InboundIds } from './stream-table.ts'
import { Decoder } from './wire/decoder.ts'
import { FLAG_FIN, FLAG_RST, FLAG_SYN, INITIAL_WINDOW_BYTES, MAX_FRAME_BYTES, MAX_UINT32, SESSION_ID, TYPE_DATA, TYPE_GO_AWAY, TYPE_PING, TYPE_WINDOW_UPDATE } from './wire/frame.ts'
import type { PathControl } from './path-control.ts'
import type { Limits, PeerLimits } from './peer-limits.ts'
import type { ControlLane } from './scheduler/control.ts'
import type { SessionInit } from './session-init.ts'
import type { StreamState } from './stream-state.ts'
import type { StreamTable } from './stream-table.ts'
import type { Credit } from './window/credit.ts'
import type { FrameSink } from './wire/decoder.ts'

/** How long an update waits for the end of a frame: at 80 Mbit/s, 256 KiB take this long */
const LONG_FRAME_MS = 25

export interface ReceiverHost<Owner> {
  readonly receivedMs: number
  readonly isClosing: boolean
  readonly isGoingAway: boolean
  readonly streams: StreamTable<Owner>
  readonly limits: PeerLimits
  readonly credit: Credit<Owner>
  readonly control: ControlLane<Owner>
  readonly path: Pick<PathControl, 'onPing'>
  accept (id: number): StreamState<Owner>
  refuse (id: number): void
  onTolerated (streamId: number): void
  handleCredit (stream: StreamState<Owner>, bytes: number): void
  handleGoAway (code: number): void
  handlePong (value: number): boolean
  handleFin (stream: StreamState<Owner>): void
  handleReset (stream: StreamState<Owner>, errorCode: number): void
  emit (stream: StreamState<Owner>, event: number): void
}

export class Receiver<Owner> implements FrameSink {
  readonly decoder = new Decoder(this)
  readonly #host: ReceiverHost<Owner>
  readonly #init: SessionInit
  readonly #ids: InboundIds
  /** The stream whose body is arriving. Below is what its header said. */
  #bodyStream: StreamState<Owner> | undefined
  #bodyFlags = 0
  #bodyBytes = 0
  #bodyBeganMs = 0

  constructor (init: SessionInit, host: ReceiverHost<Owner>) {
    this.#host = host
    this.#init = init
    this.#ids = new InboundIds(init.isDialler ? 2 : 1)
  }

  /**
   * An update must wait for the end of the long frame that is arriving, when it is checked again. A peer may close its socket after the
   * frame, as programs with @libp2p/yamux do. If an update reached the closed socket, the kernel would drop data that was not read yet.
   */
  delaysUpdate (stream: StreamState<Owner>, nowMs: number): boolean {
    return stream === this.#bodyStream && this.#bodyBytes > MAX_FRAME_BYTES && nowMs - this.#bodyBeganMs < LONG_FRAME_MS
  }

  onHeader (type: number, flags: number, streamId: number, length: number): boolean {
    if (type > TYPE_GO_AWAY) {
      throw new ProtocolError('ERR_INVALID_FRAME', `received a frame of type ${type}, the highest is ${TYPE_GO_AWAY}`)
    }

    const isAboutSession = type === TYPE_PING || type === TYPE_GO_AWAY

    if (isAboutSession !== (streamId === SESSION_ID)) {
      throw new ProtocolError('ERR_INVALID_FRAME', `received a frame of type ${type} on stream id ${streamId}, only types ${TYPE_PING} and ${TYPE_GO_AWAY} use id ${SESSION_ID}`)
    }

    if (length === 0 && !isAboutSession) {
      this.#countIfEmpty(flags, streamId)
    }

    if (type === TYPE_DATA) {
      return this.#handleData(flags, streamId, length)
    }

    if (type === TYPE_WINDOW_UPDATE) {
      this.#handleWindowUpdate(flags, streamId, length)
    } else if (type === TYPE_PING) {
      this.#handlePing(flags, length)
    } else {
      this.#host.handleGoAway(length)
    }

    return false
  }

  onBody (piece: Uint8Array): void {
    const stream = this.#bodyStream as StreamState<Owner>

    // the application may have reset the stream since the header arrived
    if (!stream.life.isReset) {
      stream.readBuffer.append(piece, this.#bodyBytes)
      stream.lastActiveMs = this.#host.receivedMs
      this.#host.emit(stream, EVENT_DATA)

      if (this.#init.creditsOnReceipt) {
        this.#host.credit.giveBack(stream, piece.byteLength)
      }
    }
  }

  onBodyEnd (): void {
    const stream = this.#bodyStream as StreamState<Owner>
    this.#bodyStream = undefined
    stream.readBuffer.endFrame()

    if (stream.hasDelayedUpdate) {
      stream.hasDelayedUpdate = false
      this.#host.credit.giveBack(stream, 0)
    }

    if ((this.#bodyFlags & FLAG_FIN) !== 0) {
      this.#host.handleFin(stream)
    }
  }

  #handleData (flags: number, streamId: number, length: number): boolean {
    if ((flags & FLAG_SYN) !== 0 && length > INITIAL_WINDOW_BYTES) {
      // before the stream is registered, so that none is left behind (CVE-2026-32314)
      throw new ProtocolError('ERR_RECEIVE_WINDOW_EXCEEDED', `received ${length} bytes with the SYN of stream ${streamId}, allowed ${INITIAL_WINDOW_BYTES}`)
    }

    const stream = this.#findOrAccept(flags, streamId, length)

    if (stream === undefined) {
      const { maxWindowBytes, maxToleratedBytes, maxGrowthBytes } = this.#init
      // a body delays all other frames, so it may be no longer than the largest window of a stream, or than an open stream would tolerate
      const mostBytes = Math.max(maxWindowBytes, INITIAL_WINDOW_BYTES + Math.min(maxToleratedBytes, maxGrowthBytes))

      if (length > mostBytes) {
        throw new ProtocolError('ERR_RECEIVE_WINDOW_EXCEEDED', `received ${length} bytes on stream ${streamId}, which is not open, allowed ${mostBytes}`)
      }

      return false
    }

    if ((flags & FLAG_RST) !== 0) {
      // the body is skipped, but it must fit into the window
      stream.receiveWindow.receive(length, streamId)
      this.#host.handleReset(stream, 0)
      return false
    }

    if (length > 0) {
      if (stream.life.remoteWriteStatus === 'closed') {
        throw new ProtocolError('ERR_DATA_AFTER_FIN', `received ${length} bytes on stream ${streamId} after its FIN, allowed 0`)
      }

      const excessBytes = length - stream.receiveWindow.availableBytes

      if (excessBytes > 0 && stream.receiveWindow.tolerate(excessBytes, this.#init.maxToleratedBytes, this.#host.streams.budget)) {
        this.#host.onTolerated(streamId)
      }

      stream.receiveWindow.receive(length, streamId)

      // isStalled repeats the first condition, which mostly spares the call
      if (stream.receiveWindow.availableBytes < MAX_FRAME_BYTES && stream.isStalled) {
        this.#host.emit(stream, EVENT_STALLED)
      }
    }

    this.#bodyStream = stream
    this.#bodyFlags = flags
    this.#bodyBytes = length
    this.#bodyBeganMs = this.#host.receivedMs

    return true
  }

  #handleWindowUpdate (flags: number, streamId: number, length: number): void {
    const stream = this.#findOrAccept(flags, streamId, 0)

    if (stream === undefined) {
      return
    }

    if ((flags & FLAG_RST) !== 0) {
      this.#host.handleReset(stream, length)
      return
    }

    if (length > 0) {
      if (stream.creditBytes + length > MAX_UINT32) {
        throw new ProtocolError('ERR_SEND_WINDOW_OVERFLOW', `received a window update of ${length} bytes on stream ${streamId} with ${stream.creditBytes} bytes of credit, allowed ${MAX_UINT32} in total`)
      }

      this.#host.handleCredit(stream, length)
    }

    if ((flags & FLAG_FIN) !== 0) {
      this.#host.handleFin(stream)
    }
  }

  #handlePing (flags: number, value: number): void {
    if ((flags & FLAG_SYN) !== 0) {
      const { control, isGoingAway, path } = this.#host
      this.#spend('pings')
      path.onPing(value, this.#host.receivedMs)

      // this side is about to close the transport, and a write during that would turn a clean end into an error
      if (!isGoingAway) {
        control.pong(value)
      }
    } else if (!this.#host.handlePong(value)) {
      this.#spend('emptyFrames')
    }
  }

  /**
   * Counts a frame of length 0 unless it opens or ends its stream, or is the first to acknowledge it. Frames for streams that are not open are
   * counted by #findOrAccept.
   */
  #countIfEmpty (flags: number, streamId: number): void {
    const stream = this.#host.streams.get(streamId)
    const hasEffect = (flags & (FLAG_SYN | FLAG_RST)) !== 0 ||
      stream === undefined || stream.awaitsAck || ((flags & FLAG_FIN) !== 0 && stream.life.remoteWriteStatus === 'writable')

    if (!hasEffect) {
      this.#spend('emptyFrames')
    }
  }

  #spend (kind: keyof Limits): void {
    this.#host.limits.spend(kind, this.#host.receivedMs)
  }

  /** The stream of a frame; undefined if the frame is to be ignored */
  #findOrAccept (flags: number, streamId: number, payloadBytes: number): StreamState<Owner> | undefined {
    if ((flags & FLAG_SYN) !== 0) {
      return this.#accept(flags, streamId)
    }

    const { streams, limits } = this.#host
    const stream = streams.get(streamId)

    if (stream === undefined) {
      limits.spendUnknown(payloadBytes, this.#host.receivedMs)
    } else if (stream.awaitsAck) {
      // any frame acknowledges: hashicorp/yamux sends no ACK for a stream that was closed before it was accepted
      streams.acknowledge(stream)
      streams.isAnswered = true
    }

    return stream
  }

  #accept (flags: number, streamId: number): StreamState<Owner> | undefined {
    const isOddId = streamId % 2 === 1

    if (isOddId === this.#init.isDialler) {
      throw new ProtocolError('ERR_INVALID_STREAM_ID', `received a SYN for stream ${streamId}, the peer must use ${this.#init.isDialler ? 'even' : 'odd'} ids`)
    }

    if (!this.#ids.take(streamId)) {
      throw new ProtocolError('ERR_INVALID_STREAM_ID', `received a SYN for stream ${streamId}, an id that was used before`)
    }

    const { limits, streams } = this.#host
    limits.checkRefusals()

    if ((flags & FLAG_RST) !== 0) {
      this.#spend('resets')
      return undefined
    }

    if (this.#host.isClosing || streams.isInboundFull) {
      this.#host.refuse(streamId)
      return undefined
    }

    return this.#host.accept(streamId)
  }
}
