/**
 * The reading half of a stream: when what has arrived may be delivered, when bytes count as read, and when reading is over.
 *
 * Credit follows reading. For 'message' listeners delivery is reading; a `for await` loop has read a chunk when the loop asks for the
 * next, unless there is a listener as well. While paused, or while nobody reads, bytes wait and the peer stops.
 *
 * Who gets a chunk that can be taken, while the stream is not paused:
 *
 * | 'message' listeners | loops | |
 * | --- | --- | --- |
 * | yes | none | the listeners, and it is read |
 * | yes | some | the listeners, and each loop that asks; the others find it when they come back. It is read. |
 * | no | all that are waited for ask | the loops, and it is read when they ask again |
 * | no | one has not asked yet, or none | nobody yet: it waits |
 *
 * Listeners may call anything in here. Delivery is one loop that looks anew at everything after each event, so such a call only changes
 * what the loop sees.
 */
import { StreamBufferError, StreamStateError } from '@libp2p/interface'
import { GuardedEmitter } from '../foreign/emitter.ts'
import { copyOf, throwIfAborted } from '../foreign/values.ts'
import { OwnMessageEvent } from '../foreign/message-event.ts'
import { Loops } from './loops.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { StreamLimits } from '../options/config.ts'
import type { StreamHost } from './stream-host.ts'
import type { AbortOptions, MessageStreamEvents, MessageStreamReadStatus, MessageStreamStatus, MessageStreamWriteStatus } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

type Chunk = Uint8Array | Uint8ArrayList

/** Most streams are listened to */
const NO_LOOPS = new Loops(0)

export abstract class ReadableHalf<Stream> extends GuardedEmitter<MessageStreamEvents> {
  abstract status: MessageStreamStatus
  readStatus: MessageStreamReadStatus = 'readable'
  remoteWriteStatus: MessageStreamWriteStatus = 'writable'
  readableEnded = false
  maxReadBufferLength: number
  protected readonly state: StreamState<Stream>
  protected readonly host: StreamHost<Stream>
  #loops = NO_LOOPS
  #isDelivering = false
  /** A reader has put bytes back, and would be given the same again and again: they are offered to it later */
  #isPutBack = false
  /** Bytes in the buffer that the application put there: reading them gives no credit */
  #pushedBackBytes = 0
  /** The peer's FIN was told of: nothing can be missing behind what has arrived */
  #isWhole = false
  /** A reader has come to the end, and may still put back what it was given */
  #isReadToEnd = false
  /** Why there will be no more, if bytes may be missing */
  #endError: Error | undefined

  constructor (state: StreamState<Stream>, host: StreamHost<Stream>, limits: StreamLimits) {
    super()
    this.state = state
    this.host = host
    this.maxReadBufferLength = limits.maxReadBufferLength
  }

  abstract abort (reason: Error): void

  get readBufferLength (): number {
    return this.state.readBuffer.byteLength
  }

  pause (): void {
    this.#checkReadable('pause')
    this.readStatus = 'paused'
  }

  resume (): void {
    this.#checkReadable('resume')

    if (this.readStatus === 'paused') {
      this.readStatus = 'readable'
      this.#deliver()

      // in a listener: others may not have been given the last message yet
      if (!this.#isDelivering) {
        this.#closeIfRead()
      }
    }
  }

  push (data: Chunk): void {
    this.#reopen()
    const bytes = copyOf(data, 'push()')

    try {
      this.state.readBuffer.push(bytes)
    } catch (err: any) {
      this.#fail(err)
      return
    }

    this.#onPushedBack(bytes.byteLength)
  }

  unshift (data: Chunk): void {
    this.#reopen()
    const bytes = copyOf(data, 'unshift()')
    this.state.readBuffer.prepend(bytes)
    this.#onPushedBack(bytes.byteLength)
  }

  /** Reads no more: what comes is discarded and counts as read */
  async closeRead (options?: AbortOptions): Promise<void> {
    throwIfAborted(options?.signal)

    if (this.#isReadable) {
      this.sendCloseRead()
      this.readStatus = 'closed'
      this.#deliver()
    }
  }

  /** Yamux has no frame that says "I will not read". A step of its own because libp2p's own tests watch it. */
  protected sendCloseRead (): void {}

  /**
   * One chunk at a time is handed over, so there is no queue. With that of it-pushable a loop that answers one message took 1.1 to 1.5 times
   * as long.
   */
  async * [Symbol.asyncIterator] (): AsyncGenerator<Chunk> {
    if (this.#loops === NO_LOOPS) {
      this.#loops = new Loops(this.state.readBuffer.mergeFromBytes)
    }

    const loops = this.#loops
    const loop = loops.begin()
    this.#isPutBack = false
    let isNew = true

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
        this.#onAsk(loops, isNew)
        isNew = false
        const chunk = await promise

        if (chunk === undefined) {
          return
        }

        yield chunk
      }
    } finally {
      loops.remove(loop)
      this.#onAsk(loops, false)
    }
  }

  // What the stream says

  /** A 'message' listener was added */
  protected onReader (): void {
    this.#isPutBack = false

    if (this.#loops !== NO_LOOPS) {
      this.#loops.leaveBehind()
      this.#onRead(this.#loops.takeFinishedBytes())
    }

    this.#deliverSoon()
  }

  /** Data has arrived */
  protected onData (): void {
    this.#isPutBack = false
    this.#deliver()

    if (this.host.config.creditsOnReceipt) {
      this.#check(this.maxReadBufferLength)
    }
  }

  /** The peer has sent all it had to */
  protected onRemoteFin (): void {
    this.#isWhole = true
    this.#isPutBack = false
    this.#deliver()
    this.#settle()
  }

  /** The stream has ended in both directions */
  protected onOver (err?: Error): void {
    this.#endError ??= this.#isWhole ? undefined : err
    this.#isPutBack = false
    // the beginning of a frame that was cut off is ready now
    this.#deliver()
    this.#closeIfRead()
  }

  /** What waits is discarded */
  protected discard (err: Error): void {
    const { readBuffer } = this.state
    this.#endError ??= this.#isWhole && readBuffer.byteLength === 0 ? undefined : err
    this.readStatus = 'closed'
    this.#isReadToEnd = false
    readBuffer.clear()
    this.#settle()
  }

  /** An abort behind the end: who reads gets no more. What nobody reads stays, as with the stock muxer. */
  protected discardUnread (err: Error): void {
    if (this.readBufferLength > 0 && this.#hasReader) {
      this.discard(err)
    }
  }

  // How it reaches those who read

  /** Listeners are often added in constructors, which should have run before the first event */
  #deliverSoon (): void {
    if (this.state.readBuffer.byteLength > 0) {
      queueMicrotask(() => { this.#deliver() })
    }
  }

  /** Passes on what waits, if somebody reads. Hot: runs once per stream and inbound chunk. */
  #deliver (): void {
    const { readBuffer, receiveWindow } = this.state

    // in a listener, whose caller comes to it, or with nothing to be done
    if (this.#isDelivering || (readBuffer.byteLength === 0 && this.readStatus !== 'closed')) {
      return
    }

    if (this.isDispatchingTooDeep && this.readStatus !== 'closed') {
      this.#deliverSoon()
      return
    }

    this.#isDelivering = true

    try {
      while (readBuffer.readyBytes > 0 && this.readStatus === 'readable' && !this.#isPutBack) {
        const isListenedTo = this.listenerCount('message') > 0
        const loops = this.#loops

        if (isListenedTo && loops.all.size === 0) {
          this.#tellListeners()
        } else if (isListenedTo || (loops.areWaitedFor && loops.areAllAsking)) {
          this.#handOver(loops, readBuffer.take(), isListenedTo)
        } else {
          break
        }
      }

      if (this.readStatus === 'closed') {
        this.#onRead(readBuffer.byteLength)
        readBuffer.clear()
        this.#settle()
      } else if (readBuffer.byteLength > 0) {
        // also the beginning of a frame: coming byte by byte, the chunks it came in would cost 200 times its size
        readBuffer.detach(receiveWindow.windowBytes)
      }
    } catch (err: any) {
      this.#fail(err)
    } finally {
      this.#isDelivering = false
    }
  }

  /** The usual case. Credit is given for all that they were told of, once: that is as dear as an event. */
  #tellListeners (): void {
    const { readBuffer } = this.state
    // what a listener puts back it has been given, so there is credit for it: else a message longer than the window would never be complete
    const pushedBackBytes = this.#pushedBackBytes
    let readBytes = 0

    try {
      do {
        const chunk = readBuffer.take()
        readBytes += chunk.byteLength
        this.dispatchEvent(new OwnMessageEvent(chunk))
      } while (readBuffer.readyBytes > 0 && this.readStatus === 'readable' && this.#loops.all.size === 0 && !this.#isPutBack && this.listenerCount('message') > 0)
    } finally {
      this.#onRead(readBytes, pushedBackBytes)
    }

    this.#closeIfRead()
  }

  #handOver (loops: Loops, chunk: Uint8ArrayList, isListenedTo: boolean): void {
    if (isListenedTo) {
      this.#onRead(chunk.byteLength)
    }

    loops.push(chunk, isListenedTo, this.maxReadBufferLength)

    if (isListenedTo || this.isObserved) {
      this.dispatchEvent(new OwnMessageEvent(chunk))
    }

    this.#closeIfRead()
  }

  /** A loop asks, or has ended */
  #onAsk (loops: Loops, isNew: boolean): void {
    this.#onRead(loops.takeFinishedBytes())

    if (isNew) {
      // others who begin to read in the same moment get the same bytes
      this.#deliverSoon()
    } else {
      this.#deliver()
    }

    // while the stream is open, a loop that has come to the end may still put something back
    if (this.status === 'open') {
      this.#settle()
    } else {
      this.#closeIfRead()
    }
  }

  /** `pushedBackBytes`: what the application had put back before; there was credit for it when it was first read */
  #onRead (readBytes: number, pushedBackBytes = this.#pushedBackBytes): void {
    const readAgainBytes = Math.min(readBytes, pushedBackBytes)
    this.#pushedBackBytes -= readAgainBytes

    if (readBytes > readAgainBytes) {
      this.host.read(this.state, readBytes - readAgainBytes)
    }
  }

  #onPushedBack (bytes: number): void {
    this.#pushedBackBytes += bytes

    if (!this.#isDelivering && this.#loops.areAllAsking) {
      this.#deliverSoon()
    } else if (!this.#isPutBack) {
      // a reader that cannot use what it was given
      this.#isPutBack = true
      this.host.clock.setTimer(() => {
        this.#isPutBack = false
        this.#deliver()
      }, 0)
    }

    // credit bounds what the peer sends; this bounds what the application pushes back
    if (this.#isDelivering || !this.#hasReader) {
      this.#check(Math.max(this.maxReadBufferLength, this.state.receiveWindow.windowBytes))
    }
  }

  /** Not while a loop has the last chunk in hand: it may want to pause the stream for it */
  #closeIfRead (): void {
    // the usual case
    if (this.remoteWriteStatus !== 'closed' && this.readStatus !== 'closed') {
      return
    }

    if (this.state.readBuffer.byteLength === 0 && this.remoteWriteStatus === 'closed' && (this.readStatus !== 'paused' || this.status !== 'open') && this.#loops.areAllAsking && this.readStatus !== 'closed') {
      this.readStatus = 'closed'
      this.#isReadToEnd = this.#isWhole
    }

    this.#settle()
  }

  /** Ends loops and tells listeners when nothing more will be delivered */
  #settle (): void {
    if (this.state.readBuffer.byteLength > 0 || !(this.readStatus === 'closed' || this.remoteWriteStatus === 'closed')) {
      return
    }

    this.#loops.end(this.#endError)

    if (!this.readableEnded) {
      this.readableEnded = true
      this.safeDispatchEvent('end')
    }
  }

  /** Bytes are gone: whoever was given other bytes of the same chunk has transferred its buffer */
  #fail (err: Error): void {
    this.abort(err)
    // an abort of a stream that was over does not end its reading
    this.discard(err)
  }

  /** Nobody has begun to read, or means to later: protocol negotiation, which puts back the rest, is forgotten */
  get isLeftUnread (): boolean {
    return this.readStatus === 'readable' && this.#loops === NO_LOOPS && this.listenerCount('message') === 0
  }

  /** Somebody reads, now or when the loop comes round */
  get #hasReader (): boolean {
    return this.readStatus === 'readable' && (this.listenerCount('message') > 0 || this.#loops.areWaitedFor)
  }

  get #isReadable (): boolean {
    return this.readStatus === 'readable' || this.readStatus === 'paused'
  }

  #check (limitBytes: number): void {
    if (this.readBufferLength > limitBytes) {
      this.abort(new StreamBufferError(`Read buffer length of ${this.readBufferLength} exceeded limit of ${limitBytes}, read status is ${this.readStatus}`))
    }
  }

  /** Protocols are agreed on by a reader that puts back what it did not use, perhaps when the peer has long said its last word */
  #reopen (): void {
    if (this.#isReadToEnd) {
      this.#isReadToEnd = false
      this.readStatus = 'readable'
    }

    this.#checkReadable('push data onto')
  }

  #checkReadable (action: string): void {
    if (!this.#isReadable) {
      throw new StreamStateError(`Cannot ${action} a stream that is ${this.readStatus}`)
    }
  }
}
