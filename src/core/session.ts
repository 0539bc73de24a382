/**
 * One yamux session. Pure: bytes and time in; bytes, and news of streams, out.
 */
import { concat } from 'uint8arrays/concat'
import { COPIED_BELOW_BYTES } from './buffer/send-queue.ts'
import { WriteBatch } from './flush/write-batch.ts'
import { Decoder } from './frame/decoder.ts'
import { InboundFrames } from './inbound-frames.ts'
import { RoundTrip } from './round-trip.ts'
import { StreamLifecycle } from './stream-lifecycle.ts'
import { OWES_FIN } from './stream-state.ts'
import type { StreamLifecycleInit } from './stream-lifecycle.ts'
import type { StreamRegistry } from './stream-registry.ts'
import type { StreamState } from './stream-state.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

export type SessionInit = StreamLifecycleInit

export class Session<Owner> {
  readonly roundTrip = new RoundTrip()
  framesWritten = 0
  readonly #creditsOnReceipt: boolean
  readonly #lifecycle: StreamLifecycle<Owner>
  readonly #inbound: InboundFrames<Owner>
  readonly #decoder: Decoder
  /** No other session's: bytes of one connection must not reach another's peer, whatever goes wrong in between */
  readonly #batch = new WriteBatch()

  constructor (init: SessionInit) {
    this.#creditsOnReceipt = init.creditsOnReceipt
    this.#lifecycle = new StreamLifecycle(init, this.roundTrip)
    this.#inbound = new InboundFrames(init, this.#lifecycle, this.roundTrip)
    this.#decoder = new Decoder(this.#inbound)
  }

  get registry (): StreamRegistry<Owner> {
    return this.#lifecycle.registry
  }

  /** Streams with news, each once; to be emptied after every `receive` and `pull` */
  get withNews (): Array<StreamState<Owner>> {
    return this.#lifecycle.withNews
  }

  /** The code of the peer's GoAway, if it said one */
  get remoteGoAwayCode (): number | undefined {
    return this.#inbound.goAwayCode
  }

  get hasOutput (): boolean {
    return this.#lifecycle.scheduler.hasOutput
  }

  /** A stream of the urgent lane has data */
  get hasUrgent (): boolean {
    return this.#lifecycle.scheduler.data.hasUrgent
  }

  /** There are streams of the urgent lane, with data or without */
  get hasUrgentStreams (): boolean {
    return this.#lifecycle.registry.urgentCount > 0
  }

  /** There are control frames other than acknowledgements */
  get hasControl (): boolean {
    return this.#lifecycle.scheduler.control.hasMoreThanAcks
  }

  /** What streams have queued and may send */
  get queuedBytes (): number {
    return this.#lifecycle.scheduler.data.queuedBytes
  }

  /** What output may wait by; undefined until it was measured */
  get roundTripMs (): number | undefined {
    return this.roundTrip.shorterMs
  }

  open (nowMs: number): StreamState<Owner> {
    return this.#lifecycle.openOutbound(nowMs)
  }

  /** Queues a message. Hot: runs once per send */
  write (stream: StreamState<Owner>, message: Uint8Array): void {
    const { byteLength } = message

    // the peer may have reset the stream without its owner knowing yet
    if (byteLength === 0 || stream.isOver) {
      return
    }

    stream.beforeMessage(byteLength)
    this.#queue(stream, message)
    this.#lifecycle.scheduler.data.enlist(stream, byteLength)
  }

  /** Queues a message in parts, as one piece if it is not to share a frame */
  writeParts (stream: StreamState<Owner>, parts: Uint8Array[]): void {
    const byteLength = parts.reduce((sum, part) => sum + part.byteLength, 0)

    if (byteLength === 0 || stream.isOver) {
      return
    }

    stream.beforeMessage(byteLength)

    if (byteLength < COPIED_BELOW_BYTES) {
      stream.sendQueue.copyParts(parts, byteLength, stream.isMerging)
    } else if (!stream.isMerging && parts.length > 1) {
      stream.sendQueue.push(concat(parts, byteLength))
    } else {
      for (const part of parts) {
        this.#queue(stream, part)
      }
    }

    this.#lifecycle.scheduler.data.enlist(stream, byteLength)
  }

  /** From here on its data goes out in another of the LANES */
  setLane (stream: StreamState<Owner>, lane: number): void {
    this.#lifecycle.setLane(stream, lane)
  }

  /** No more will be written; the FIN goes behind the last byte */
  closeWrite (stream: StreamState<Owner>, nowMs: number): void {
    if (stream.isClosing || stream.isOver) {
      return
    }

    stream.isClosing = true
    stream.lastActiveMs = nowMs

    if (stream.sendQueue.byteLength === 0) {
      this.#lifecycle.owe(stream, OWES_FIN)
    }
  }

  /** The application has read so much; credit is given back when enough has gathered */
  read (stream: StreamState<Owner>, payloadBytes: number): void {
    if (!this.#creditsOnReceipt) {
      this.#lifecycle.giveBack(stream, payloadBytes, this.#inbound.nowMs)
    }
  }

  /** Grants a stalled stream more, until `maxUnreadBytes` wait to be read; returns whether there was more to grant */
  relieve (stream: StreamState<Owner>, maxUnreadBytes: number, nowMs: number): boolean {
    return this.#lifecycle.relieve(stream, maxUnreadBytes, nowMs)
  }

  /** Ends the stream at once, in both directions */
  reset (stream: StreamState<Owner>, errorCode: number, nowMs: number): void {
    if (!stream.isOver) {
      this.#lifecycle.reset(stream, errorCode, nowMs)
    }
  }

  /** The connection is gone: forgets a stream without a word to the peer */
  forget (stream: StreamState<Owner>): void {
    if (!stream.isOver) {
      this.#lifecycle.forget(stream)
    }
  }

  ping (): void {
    this.#lifecycle.ping()
  }

  goAway (code: number): void {
    this.#inbound.isLeaving = true
    this.#lifecycle.scheduler.control.goAway(code)
  }

  /**
   * The next write, at most `maxBytes` and `maxFrames` long, but for a message that must not be cut; undefined when there
   * is nothing to write. While there are urgent streams, data of others leaves `reservedBytes` free. The session is of no
   * use any more when this throws, or when the transport does not take what it returns.
   */
  pull (maxBytes: number, maxFrames: number, nowMs: number, reservedBytes = 0): Uint8ArrayList | undefined {
    const { scheduler, registry } = this.#lifecycle
    const batch = this.#batch
    batch.begin(maxBytes)
    scheduler.fill(batch, maxFrames, registry.urgentCount > 0 ? reservedBytes : 0, nowMs)
    this.framesWritten += batch.frameCount

    return batch.frameCount === 0 ? undefined : batch.finish()
  }

  /** The transport has taken what was pulled last */
  handedDown (): void {
    this.#lifecycle.handedDown()
  }

  /** A whole message, or a part of one */
  #queue (stream: StreamState<Owner>, bytes: Uint8Array): void {
    if (bytes.byteLength >= COPIED_BELOW_BYTES) {
      stream.sendQueue.push(bytes)
    } else if (bytes.byteLength > 0) {
      stream.sendQueue.copy(bytes, stream.isMerging)
    }
  }

  /** Throws a ProtocolError when the peer breaks a rule; what came before it has been accounted for */
  receive (chunk: Uint8Array | Iterable<Uint8Array>, nowMs: number): void {
    this.#inbound.nowMs = nowMs

    if (chunk instanceof Uint8Array) {
      this.#decoder.push(chunk)
    } else {
      for (const part of chunk) {
        this.#decoder.push(part)
      }
    }
  }
}
