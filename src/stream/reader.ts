/**
 * How what has arrived on a stream reaches the application: when it may be delivered, when it
 * counts as read, and when reading is over.
 *
 * Credit follows reading. For 'message' listeners delivery is reading; a `for await` loop has read
 * a chunk when it asks for the next, unless there is a listener as well. While paused, or while nobody reads, bytes wait and the peer
 * stops.
 *
 * Listeners may call anything in here. Delivery is one loop that looks anew at everything after each event, so such a call only changes
 * what the loop sees.
 */
import { StreamBufferError, StreamStateError } from '@libp2p/interface'
import { OwnMessageEvent } from '../emitter.ts'
import { copyOf } from '../foreign.ts'
import { Loops } from './loops.ts'
import type { ReadBuffer } from '../core/buffers/read-buffer.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { Driver } from '../muxer/driver.ts'
import type { MuxedStream } from './stream.ts'
import type { MessageStreamReadStatus } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export class Reader {
  status: MessageStreamReadStatus = 'readable'
  hasEnded = false
  readonly #state: StreamState<MuxedStream>
  readonly #buffer: ReadBuffer
  readonly #driver: Driver
  readonly #stream: MuxedStream
  /** Made with the first: most streams are listened to */
  #loops: Loops | undefined
  #isDelivering = false
  /** A reader has put bytes back, and would be given the same again and again: they are offered to it later */
  #isPutBack = false
  /** A loop has begun, and not asked yet */
  #isLoopNew = false
  /** Bytes in the buffer that the application put there: reading them gives no credit */
  #pushedBackBytes = 0
  /** Why there will be no more, if not because the peer is done */
  #error: Error | undefined

  constructor (state: StreamState<MuxedStream>, driver: Driver, stream: MuxedStream) {
    this.#state = state
    this.#buffer = state.readBuffer
    this.#driver = driver
    this.#stream = stream
  }

  pause (): void {
    this.#checkOpen('pause')
    this.status = 'paused'
  }

  resume (): void {
    this.#checkOpen('resume')

    if (this.status === 'paused') {
      this.status = 'readable'
      this.deliver()

      // in a listener: others may not have been given the last message yet
      if (!this.#isDelivering) {
        this.#closeIfDone()
      }
    }
  }

  push (data: Uint8Array | Uint8ArrayList): void {
    this.#checkOpen('push data onto')
    const bytes = copyOf(data, 'push()')

    try {
      this.#buffer.push(bytes)
    } catch (err: any) {
      this.#fail(err)
      return
    }

    this.#onPushedBack(bytes.byteLength)
  }

  unshift (data: Uint8Array | Uint8ArrayList): void {
    this.#checkOpen('push data onto')
    const bytes = copyOf(data, 'unshift()')
    this.#buffer.prepend(bytes)
    this.#onPushedBack(bytes.byteLength)
  }

  /** Reads no more: what comes is discarded and counts as read */
  close (): void {
    this.status = 'closed'
    this.deliver()
  }

  /** A 'message' listener was added */
  onListener (): void {
    this.#isPutBack = false

    if (this.#loops !== undefined) {
      this.#loops.leaveBehind()
      this.#onRead(this.#loops.takeFinishedBytes())
    }

    this.deliverSoon()
  }

  /** Listeners are often added in constructors, which should have run before the first event */
  deliverSoon (): void {
    if (this.#buffer.byteLength > 0) {
      queueMicrotask(() => { this.deliver() })
    }
  }

  /** Data has arrived */
  onData (): void {
    this.#isPutBack = false
    this.deliver()

    if (this.#driver.session.creditsOnReceipt) {
      this.#check(this.#stream.maxReadBufferLength)
    }
  }

  /** Passes on what waits, if somebody reads. Hot: runs once per stream and inbound chunk. */
  deliver (): void {
    // in a listener, whose caller comes to it, or with nothing to be done
    if (this.#isDelivering || (this.#buffer.byteLength === 0 && this.status !== 'closed')) {
      return
    }

    if (this.#stream.isDispatchingTooDeep && this.status !== 'closed') {
      this.deliverSoon()
      return
    }

    this.#isDelivering = true

    try {
      this.#deliverAll()
    } catch (err: any) {
      this.#fail(err)
    } finally {
      this.#isDelivering = false
    }
  }

  /** The peer sends no more; `isOver`: the stream has ended in both directions */
  onRemoteDone (isOver: boolean, err?: Error): void {
    this.#error ??= err
    this.#isPutBack = false
    // the beginning of a frame that was cut off is ready now
    this.deliver()

    if (isOver) {
      this.#closeIfDone()
    } else {
      this.#settle()
    }
  }

  /** What waits is discarded */
  abort (err: Error): void {
    this.#error ??= err
    this.status = 'closed'
    this.#buffer.clear()
    this.#settle()
  }

  /** An abort behind the end: who reads gets no more. What nobody reads stays, as with the stock muxer. */
  discardUnread (err: Error): void {
    if (this.#buffer.byteLength > 0 && this.#isRead) {
      this.abort(err)
    }
  }

  iterate (): AsyncGenerator<Uint8Array | Uint8ArrayList> {
    this.#loops ??= new Loops(this.#buffer.mergeFromBytes, this)

    return this.#loops.iterate()
  }

  /** A loop has begun, and not asked yet */
  onLoop (): void {
    this.#isPutBack = false
    this.#isLoopNew = true
  }

  /** A loop asks, or has ended */
  onAsk (): void {
    this.#onRead(this.#loops?.takeFinishedBytes() ?? 0)

    if (this.#isLoopNew) {
      // others who begin to read in the same moment get the same bytes
      this.#isLoopNew = false
      this.deliverSoon()
    } else {
      this.deliver()
    }

    // while the stream is open, a loop that has come to the end may still put something back
    if (this.#stream.status === 'open') {
      this.#settle()
    } else {
      this.#closeIfDone()
    }
  }

  #deliverAll (): void {
    while (this.#buffer.readyBytes > 0 && this.status !== 'closed') {
      const isListenedTo = this.#stream.listenerCount('message') > 0
      const loops = this.#loops

      if (this.status === 'paused' || this.#isPutBack || !(isListenedTo || (loops !== undefined && loops.areWaitedFor && loops.areAllAsking))) {
        break
      }

      if (loops === undefined || loops.areNone) {
        this.#handOverToListeners()
      } else {
        this.#handOver(loops, this.#buffer.take(), isListenedTo)
      }
    }

    if (this.status === 'closed') {
      this.#discard()
      this.#settle()
    } else if (this.#buffer.byteLength > 0) {
      // also the beginning of a frame: coming byte by byte, the chunks it came in would cost 200 times its size
      this.#buffer.keep(this.#state.receiveWindow.windowBytes)
    }
  }

  /** The usual case. Credit is given for all that they were told of, once: that is as dear as an event. */
  #handOverToListeners (): void {
    let readBytes = 0

    try {
      do {
        const chunk = this.#buffer.take()
        readBytes += chunk.byteLength
        this.#stream.dispatchEvent(new OwnMessageEvent(chunk))
      } while (this.#buffer.readyBytes > 0 && this.status === 'readable' && this.#loops?.areNone !== false && !this.#isPutBack && this.#stream.listenerCount('message') > 0)
    } finally {
      this.#onRead(readBytes)
    }

    this.#closeIfDone()
  }

  #handOver (loops: Loops, chunk: Uint8ArrayList, isListenedTo: boolean): void {
    const { maxReadBufferLength } = this.#stream

    if (isListenedTo) {
      this.#onRead(chunk.byteLength)
      loops.pushRead(chunk, maxReadBufferLength)
    } else {
      loops.push(chunk, maxReadBufferLength)
    }

    if (isListenedTo || this.#stream.isObserved) {
      this.#stream.dispatchEvent(new OwnMessageEvent(chunk))
    }

    this.#closeIfDone()
  }

  /** Not while a loop has the last chunk in hand: it may want to pause the stream for it */
  #closeIfDone (): void {
    // the usual case
    if (this.#stream.remoteWriteStatus !== 'closed' && this.status !== 'closed') {
      return
    }

    if (this.#buffer.byteLength === 0 && this.#stream.remoteWriteStatus === 'closed' && this.status !== 'paused' && this.#loops?.areAllAsking !== false) {
      this.status = 'closed'
    }

    this.#settle()
  }

  /** The peer will send no more */
  get #isRemoteDone (): boolean {
    return this.#stream.remoteWriteStatus === 'closed'
  }

  /** Somebody reads, now or when the loop comes round */
  get #isRead (): boolean {
    return this.status === 'readable' && (this.#stream.listenerCount('message') > 0 || this.#loops?.areWaitedFor === true)
  }

  #discard (): void {
    if (this.#buffer.byteLength > 0) {
      this.#onRead(this.#buffer.byteLength)
      this.#buffer.clear()
    }
  }

  #onRead (readBytes: number): void {
    const pushedBackBytes = Math.min(readBytes, this.#pushedBackBytes)
    this.#pushedBackBytes -= pushedBackBytes

    if (readBytes > pushedBackBytes) {
      this.#driver.read(this.#state, readBytes - pushedBackBytes)
    }
  }

  #onPushedBack (bytes: number): void {
    this.#pushedBackBytes += bytes

    if (!this.#isDelivering && this.#loops?.areAllAsking !== false) {
      this.deliverSoon()
    } else if (!this.#isPutBack) {
      // a reader that cannot use what it was given
      this.#isPutBack = true
      this.#driver.clock.setTimer(() => {
        this.#isPutBack = false
        this.deliver()
      }, 0)
    }

    if (!this.#isRead) {
      // credit bounds what the peer sends; this bounds what the application pushes back
      this.#check(Math.max(this.#stream.maxReadBufferLength, this.#state.receiveWindow.windowBytes))
    }
  }

  #check (limitBytes: number): void {
    if (this.#buffer.byteLength > limitBytes) {
      this.#stream.abort(new StreamBufferError(`Read buffer length of ${this.#buffer.byteLength} exceeded limit of ${limitBytes}, read status is ${this.status}`))
    }
  }

  /** Ends loops and tells listeners when nothing more will be delivered */
  #settle (): void {
    if (this.#buffer.byteLength > 0 || !(this.status === 'closed' || this.#isRemoteDone)) {
      return
    }

    this.#loops?.end(this.#error)

    if (!this.hasEnded) {
      this.hasEnded = true
      this.#stream.safeDispatchEvent('end')
    }
  }

  /** Bytes are gone: whoever was given other bytes of the same chunk has transferred its buffer */
  #fail (err: Error): void {
    this.#stream.abort(err)
    // an abort of a stream that was over does not end its reading
    this.abort(err)
  }

  #checkOpen (action: string): void {
    if (this.status !== 'readable' && this.status !== 'paused') {
      throw new StreamStateError(`Cannot ${action} a stream that is ${this.status}`)
    }
  }
}
