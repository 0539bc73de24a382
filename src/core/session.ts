/**
 * One yamux session: what each inbound frame does, what the application may ask for, and the
 * bytes that go out. Pure: bytes and time in; bytes and news of streams out.
 */
import { Decoder } from './frame/decoder.ts'
import { FLAG_FIN, FLAG_RST, FLAG_SYN, INITIAL_WINDOW_BYTES, SESSION_ID, TYPE_DATA, TYPE_GO_AWAY, TYPE_PING, TYPE_WINDOW_UPDATE } from './frame/frame.ts'
import { WriteBatch } from './flush/write-batch.ts'
import { InboundIds } from './inbound-ids.ts'
import { ProtocolError } from './protocol-error.ts'
import { RoundTrip } from './round-trip.ts'
import { WriteScheduler } from './schedule/write-scheduler.ts'
import { StreamRegistry } from './stream-registry.ts'
import { NEWS_DATA, NEWS_LOCAL_FIN, NEWS_OPENED, NEWS_REMOTE_FIN, NEWS_REMOTE_RST, OWES_ACK, OWES_FIN, OWES_RST, OWES_SYN, OWES_UPDATE } from './stream-state.ts'
import type { FrameSink } from './frame/decoder.ts'
import type { StreamRegistryInit } from './stream-registry.ts'
import type { StreamState } from './stream-state.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface SessionInit extends StreamRegistryInit {
  isDialler: boolean
  /** The largest payload of a frame sent */
  frameBytes: number
  lowWaterMarkBytes: number
}

/** Filled and emptied within one call of `pull`, so all sessions share it and an idle one holds nothing */
const sharedBatch = new WriteBatch()

export class Session<Owner> implements FrameSink {
  readonly registry: StreamRegistry<Owner>
  readonly roundTrip = new RoundTrip()
  /** Streams with news, each once; the owner empties it after every `receive` and `pull` */
  readonly withNews: Array<StreamState<Owner>> = []
  /** The code of the peer's GoAway */
  remoteGoAwayCode: number | undefined
  hasSentGoAway = false
  readonly #isDialler: boolean
  readonly #scheduler: WriteScheduler<Owner>
  readonly #decoder = new Decoder(this)
  readonly #inboundIds: InboundIds
  /** No body of an unknown stream can be longer than the largest window that was ever advertised */
  readonly #maxBodyBytes: number
  #nowMs = 0
  /** Whose body is being received, and the flags of its header */
  #bodyStream: StreamState<Owner> | undefined
  #bodyFlags = 0

  constructor (init: SessionInit) {
    this.#isDialler = init.isDialler
    this.#maxBodyBytes = Math.max(INITIAL_WINDOW_BYTES, init.initialWindowBytes)
    this.registry = new StreamRegistry(init.isDialler, init)
    this.#inboundIds = new InboundIds(init.isDialler ? 2 : 1)
    this.#scheduler = new WriteScheduler({
      frameBytes: init.frameBytes,
      mergesMessages: init.mergesMessages,
      lowWaterMarkBytes: init.lowWaterMarkBytes,
      onNews: (stream, news) => { this.#tell(stream, news) },
      onFinDue: stream => { this.#owe(stream, OWES_FIN) },
      onResetWritten: stream => { this.registry.release(stream) }
    })
  }

  // What the application asks for

  get hasOutput (): boolean {
    return this.#scheduler.hasOutput
  }

  /** There is more to write than acknowledgements, which nobody waits for */
  get hasPressingOutput (): boolean {
    return this.#scheduler.data.streamCount > 0 || this.#scheduler.control.hasMoreThanAcks
  }

  open (nowMs: number): StreamState<Owner> {
    const stream = this.registry.addOutbound(nowMs)
    this.#owe(stream, OWES_SYN)

    return stream
  }

  write (stream: StreamState<Owner>, bytes: Uint8Array): void {
    if (bytes.byteLength === 0) {
      return
    }

    stream.sendQueue.push(bytes)
    this.#scheduler.data.enlist(stream, bytes.byteLength)
  }

  /** No more will be written; the FIN goes with the last byte, or by itself when there is none left */
  closeWrite (stream: StreamState<Owner>): void {
    stream.isClosing = true

    if (stream.sendQueue.byteLength === 0) {
      this.#owe(stream, OWES_FIN)
    }
  }

  /** The application has read so much; credit is given back when enough has gathered */
  read (stream: StreamState<Owner>, payloadBytes: number): void {
    if (stream.receiveWindow.read(payloadBytes) && !stream.isRemoteFinished && !stream.isReset) {
      this.#owe(stream, OWES_UPDATE)
    }
  }

  /** Ends the stream at once, in both directions */
  reset (stream: StreamState<Owner>, errorCode: number): void {
    if (stream.isOver) {
      return
    }

    const isUnknownToPeer = (stream.owes & OWES_SYN) !== 0
    this.#drop(stream)
    stream.errorCode = errorCode

    if (isUnknownToPeer) {
      stream.owes = 0
      this.registry.release(stream)
    } else {
      stream.owes = 0
      this.#owe(stream, OWES_RST)
    }
  }

  /** The connection is gone: forgets a stream without a word to the peer */
  forget (stream: StreamState<Owner>): void {
    if (!stream.isOver) {
      this.#drop(stream)
      stream.owes = 0
      this.registry.release(stream)
    }
  }

  ping (nowMs: number): void {
    this.#scheduler.control.ping(this.roundTrip.begin(nowMs))
  }

  goAway (code: number): void {
    this.hasSentGoAway = true
    this.#scheduler.control.goAway(code)
  }

  /** The next write, at most `maxBytes` and `maxFrames` long; undefined when there is nothing to write */
  pull (maxBytes: number, maxFrames: number, nowMs: number): Uint8ArrayList | undefined {
    sharedBatch.begin(maxBytes)
    this.#scheduler.fill(sharedBatch, maxFrames, nowMs)

    return sharedBatch.frameCount === 0 ? undefined : sharedBatch.finish()
  }

  // What the peer sends

  /** Throws a ProtocolError when the peer breaks a rule; what came before it has been accounted for */
  receive (chunk: Uint8Array | Uint8ArrayList, nowMs: number): void {
    this.#nowMs = nowMs

    if (chunk instanceof Uint8Array) {
      this.#decoder.push(chunk)
    } else {
      for (const part of chunk) {
        this.#decoder.push(part)
      }
    }
  }

  onHeader (type: number, flags: number, streamId: number, length: number): boolean {
    if (type > TYPE_GO_AWAY) {
      throw new ProtocolError('ERR_INVALID_FRAME', `received a frame of type ${type}, the highest is ${TYPE_GO_AWAY}`)
    }

    const isAboutSession = type === TYPE_PING || type === TYPE_GO_AWAY

    if (isAboutSession !== (streamId === SESSION_ID)) {
      throw new ProtocolError('ERR_INVALID_FRAME', `received a frame of type ${type} on stream id ${streamId}, id ${SESSION_ID} is for types ${TYPE_PING} and ${TYPE_GO_AWAY} only`)
    }

    if (type === TYPE_DATA) {
      return this.#onData(flags, streamId, length)
    }

    if (type === TYPE_WINDOW_UPDATE) {
      this.#onWindowUpdate(flags, streamId, length)
    } else if (type === TYPE_PING) {
      this.#onPing(flags, length)
    } else {
      this.remoteGoAwayCode = length
    }

    return false
  }

  onBody (piece: Uint8Array): void {
    const stream = this.#bodyStream as StreamState<Owner>

    // the application may have reset the stream since the header came
    if (!stream.isReset) {
      stream.readBuffer.append(piece)
      stream.lastActiveMs = this.#nowMs
      this.#tell(stream, NEWS_DATA)
    }
  }

  onBodyEnd (): void {
    const stream = this.#bodyStream as StreamState<Owner>
    this.#bodyStream = undefined
    stream.readBuffer.endFrame()

    if ((this.#bodyFlags & FLAG_FIN) !== 0 && !stream.isReset) {
      this.#onRemoteFin(stream)
    }
  }

  #onData (flags: number, streamId: number, length: number): boolean {
    if ((flags & FLAG_SYN) !== 0 && length > INITIAL_WINDOW_BYTES) {
      // before the stream is registered: nothing may be left behind (CVE-2026-32314)
      throw new ProtocolError('ERR_RECEIVE_WINDOW_EXCEEDED', `received ${length} bytes with the SYN of stream ${streamId}, allowed ${INITIAL_WINDOW_BYTES}`)
    }

    const stream = this.#find(flags, streamId)

    if (stream === undefined) {
      if (length > this.#maxBodyBytes) {
        throw new ProtocolError('ERR_RECEIVE_WINDOW_EXCEEDED', `received ${length} bytes on stream ${streamId} which is not open, no stream was ever allowed more than ${this.#maxBodyBytes}`)
      }

      return false
    }

    if ((flags & FLAG_RST) !== 0) {
      this.#onRemoteReset(stream, 0)
      return false
    }

    if (length > 0) {
      if (stream.isRemoteFinished) {
        throw new ProtocolError('ERR_DATA_AFTER_FIN', `received ${length} bytes on stream ${streamId} after its FIN, allowed 0`)
      }

      stream.receiveWindow.receive(length, streamId)
    }

    this.#bodyStream = stream
    this.#bodyFlags = flags

    return true
  }

  #onWindowUpdate (flags: number, streamId: number, length: number): void {
    const stream = this.#find(flags, streamId)

    if (stream === undefined) {
      return
    }

    if ((flags & FLAG_RST) !== 0) {
      this.#onRemoteReset(stream, length)
      return
    }

    if (length > 0) {
      stream.sendCredit.grant(length, streamId)
      this.#scheduler.data.enlist(stream, 0)
    }

    if ((flags & FLAG_FIN) !== 0) {
      this.#onRemoteFin(stream)
    }
  }

  #onPing (flags: number, value: number): void {
    if ((flags & FLAG_SYN) !== 0) {
      this.#scheduler.control.pong(value)
    } else {
      this.roundTrip.end(value, this.#nowMs)
    }
  }

  /** The stream a frame is for; undefined when the frame is to be ignored */
  #find (flags: number, streamId: number): StreamState<Owner> | undefined {
    if ((flags & FLAG_SYN) !== 0) {
      return this.#accept(flags, streamId)
    }

    const stream = this.registry.get(streamId)

    if (stream?.awaitsAck === true) {
      // not only on ACK: hashicorp/yamux never sends one for a stream that was closed before it was accepted
      this.registry.acknowledge(stream)
    }

    return stream
  }

  #accept (flags: number, streamId: number): StreamState<Owner> | undefined {
    const isOddId = streamId % 2 === 1

    if (isOddId === this.#isDialler) {
      throw new ProtocolError('ERR_INVALID_STREAM_ID', `received a SYN for stream ${streamId}, the peer opens ${this.#isDialler ? 'even' : 'odd'} ids`)
    }

    if (!this.#inboundIds.take(streamId)) {
      throw new ProtocolError('ERR_INVALID_STREAM_ID', `received a SYN for stream ${streamId} which was used before`)
    }

    if ((flags & FLAG_RST) !== 0) {
      return undefined
    }

    if (this.hasSentGoAway || this.registry.isInboundFull) {
      this.#scheduler.control.refuse(streamId)
      return undefined
    }

    const stream = this.registry.addInbound(streamId, this.#nowMs)
    this.#owe(stream, OWES_ACK)
    this.#tell(stream, NEWS_OPENED)

    return stream
  }

  #onRemoteFin (stream: StreamState<Owner>): void {
    if (!stream.isRemoteFinished) {
      stream.isRemoteFinished = true
      this.#tell(stream, NEWS_REMOTE_FIN)
      this.#removeIfOver(stream)
    }
  }

  #onRemoteReset (stream: StreamState<Owner>, errorCode: number): void {
    this.#drop(stream)
    stream.owes = 0
    stream.errorCode = errorCode
    this.registry.release(stream)
    this.#tell(stream, NEWS_REMOTE_RST)
  }

  // Common to both

  #owe (stream: StreamState<Owner>, what: number): void {
    stream.owes |= what
    this.#scheduler.control.enlist(stream)
  }

  #tell (stream: StreamState<Owner>, news: number): void {
    if (stream.news === 0) {
      this.withNews.push(stream)
    }

    stream.news |= news

    if ((news & NEWS_LOCAL_FIN) !== 0) {
      stream.isLocalFinished = true
      this.#removeIfOver(stream)
    }
  }

  #removeIfOver (stream: StreamState<Owner>): void {
    if (stream.isOver) {
      this.registry.acknowledge(stream)
      this.registry.remove(stream)
      this.registry.release(stream)
    }
  }

  #drop (stream: StreamState<Owner>): void {
    stream.isReset = true
    this.#scheduler.data.discard(stream)
    this.registry.acknowledge(stream)
    this.registry.remove(stream)
  }
}
