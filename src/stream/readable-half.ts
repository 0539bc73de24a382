/**
 * The reading half of a stream: when data may be delivered, when it counts as read, and when reading ends.
 *
 * Credit follows reading. Data that is delivered to a 'message' listener has been read. A `for await` loop has read a chunk once it asks for
 * the next, unless there is a listener as well. While the stream is paused or has no reader, data waits and the peer stops.
 *
 * The readers of a chunk, while the stream is not paused:
 *
 * | 'message' listeners | loops | delivered to | counts as read |
 * | --- | --- | --- | --- |
 * | yes | any or none | the listeners and the loops that ask; the others get it when they ask again | immediately |
 * | no | one asks | the loops that ask; the others get it when they ask again | when one asks again or ends |
 * | no | none asks | nobody: it waits | |
 *
 * Listeners may call any method here. Delivery is one loop that checks all conditions after each event, so a call only changes what the loop
 * finds.
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

/** Shared, as most streams have listeners and no loops */
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
  /** Delivery pauses, as a reader has pushed bytes back and would be given them again and again. It goes on with a timer, new data or a new reader. */
  #awaitsRetry = false
  /** Bytes in the buffer that the application has pushed back: reading them gives no credit */
  #pushedBackBytes = 0
  /** The peer's FIN was reported: no data is missing */
  #isComplete = false
  /** All data was read; a reader may still push some of it back */
  #isReadToEnd = false
  /** Why the stream has ended, if data may be missing */
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
    if (this.#isReadable('pause')) {
      this.readStatus = 'paused'
    }
  }

  resume (): void {
    if (this.#isReadable('resume') && this.readStatus === 'paused') {
      this.readStatus = 'readable'
      this.#deliver()

      // if a listener calls this, others may not have been given the last message yet
      if (!this.#isDelivering) {
        this.#closeIfRead()
      }
    }
  }

  push (data: Chunk): void {
    this.#pushBack(data, 'push')
  }

  unshift (data: Chunk): void {
    this.#pushBack(data, 'unshift')
  }

  /** Stops reading: further data is discarded and counts as read */
  async closeRead (options?: AbortOptions): Promise<void> {
    throwIfAborted(options?.signal)

    if (this.readStatus !== 'closed') {
      this.sendCloseRead()
      this.readStatus = 'closed'
      this.#deliver()
    }
  }

  /** Yamux has no frame for this. It is a method because libp2p's own tests spy on it. */
  protected sendCloseRead (): void {}

  /** One chunk at a time is handed over, so there is no queue, which would make loops slower. */
  async * [Symbol.asyncIterator] (): AsyncGenerator<Chunk> {
    if (this.#loops === NO_LOOPS) {
      this.#loops = new Loops(this.state.readBuffer.mergeFromBytes)
    }

    const loops = this.#loops
    const loop = loops.begin()
    this.#awaitsRetry = false
    let isNew = true

    try {
      while (true) {
        while (loop.missed !== undefined && loop.missed.readyBytes > 0) {
          yield loop.missed.take()
        }

        if (loop.error !== undefined) {
          throw loop.error
        }

        // it has caught up
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

  // Called by the stream

  protected onMessageListener (): void {
    this.#awaitsRetry = false

    if (this.#loops !== NO_LOOPS) {
      this.#loops.leaveBehind()
      this.#onRead(this.#loops.takeFinishedBytes())
    }

    this.#deliverSoon()
  }

  /** Data has arrived */
  protected onData (): void {
    this.#awaitsRetry = false
    this.#deliver()

    if (this.host.config.creditsOnReceipt) {
      this.#checkLength(this.maxReadBufferLength)
    }
  }

  /** The peer has sent its last byte */
  protected onRemoteFin (): void {
    this.#isComplete = true
    this.#awaitsRetry = false
    this.#deliver()
    this.#settle()
  }

  /** The stream has ended in both directions */
  protected onOver (err?: Error): void {
    this.#endError ??= this.#isComplete ? undefined : err
    this.#awaitsRetry = false
    // a truncated frame is delivered as well
    this.#deliver()
    this.#closeIfRead()
  }

  /** Discards unread data, and ends reading */
  protected discard (err: Error): void {
    const { readBuffer } = this.state
    this.#endError ??= this.#isComplete && readBuffer.byteLength === 0 ? undefined : err
    this.readStatus = 'closed'
    this.#isReadToEnd = false
    readBuffer.clear()
    this.#settle()
  }

  /** An abort after the end of the stream. A reader gets no more data. Without a reader data stays, as with the stock muxer. */
  protected discardUnread (err: Error): void {
    if (this.readBufferLength > 0 && this.#hasReader) {
      this.discard(err)
    }
  }

  // Delivery

  /** Delivers in a microtask: listeners are often added in constructors, which should finish before the first event */
  #deliverSoon (): void {
    if (this.state.readBuffer.byteLength > 0) {
      queueMicrotask(() => { this.#deliver() })
    }
  }

  /** Delivers waiting data if there is a reader. Hot: runs once per stream and inbound chunk. */
  #deliver (): void {
    const { readBuffer, receiveWindow } = this.state

    // the loop below does it if a listener calls this; otherwise there is nothing to do
    if (this.#isDelivering || (readBuffer.byteLength === 0 && this.readStatus !== 'closed')) {
      return
    }

    if (this.isDispatchingTooDeep && this.readStatus !== 'closed') {
      this.#deliverSoon()
      return
    }

    this.#isDelivering = true

    try {
      while (readBuffer.readyBytes > 0 && this.readStatus === 'readable' && !this.#awaitsRetry) {
        const isListenedTo = this.listenerCount('message') > 0
        const loops = this.#loops

        if (isListenedTo && loops.all.size === 0) {
          this.#tellListeners()
        } else if (isListenedTo || loops.isAnyAsking) {
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
        // the beginning of a frame too: if it came byte by byte, its chunks would take many times its size
        readBuffer.detach(receiveWindow.windowBytes)
      }
    } catch (err: any) {
      this.#fail(err)
    } finally {
      this.#isDelivering = false
    }
  }

  /** The usual case. Credit is given once for all chunks, as it costs as much as an event. */
  #tellListeners (): void {
    const { readBuffer } = this.state
    // bytes that a listener pushes back meanwhile still give credit: otherwise a message longer than the window would never be complete
    const pushedBackBytes = this.#pushedBackBytes
    let readBytes = 0

    try {
      do {
        const chunk = readBuffer.take()
        readBytes += chunk.byteLength
        this.dispatchEvent(new OwnMessageEvent(chunk))
      } while (readBuffer.readyBytes > 0 && this.readStatus === 'readable' && this.#loops.all.size === 0 && !this.#awaitsRetry && this.listenerCount('message') > 0)
    } finally {
      this.#onRead(readBytes, pushedBackBytes)
    }

    this.#closeIfRead()
  }

  #handOver (loops: Loops, chunk: Uint8ArrayList, isListenedTo: boolean): void {
    if (isListenedTo) {
      this.#onRead(chunk.byteLength)
    }

    // after the FIN no more can be missed than a window
    loops.push(chunk, isListenedTo, this.remoteWriteStatus === 'closed' ? Infinity : this.maxReadBufferLength)

    // without a listener too: libp2p's metrics replace dispatchEvent() with their own function, which counts messages
    this.dispatchEvent(new OwnMessageEvent(chunk))
    this.#closeIfRead()
  }

  /** A loop asks, or has ended */
  #onAsk (loops: Loops, isNew: boolean): void {
    loops.leaveBehind()
    this.#onRead(loops.takeFinishedBytes())

    if (isNew) {
      // readers that begin in the same microtask get the same data
      this.#deliverSoon()
    } else {
      this.#deliver()
    }

    // while the stream is open, a loop that has read all data may still push some of it back
    if (this.status === 'open') {
      this.#settle()
    } else {
      this.#closeIfRead()
    }
  }

  /** Bytes that were pushed back before (`pushedBackBytes`) gave credit when they were first read */
  #onRead (readBytes: number, pushedBackBytes = this.#pushedBackBytes): void {
    const readAgainBytes = Math.min(readBytes, pushedBackBytes)
    this.#pushedBackBytes -= readAgainBytes

    if (readBytes > readAgainBytes) {
      this.host.read(this.state, readBytes - readAgainBytes)
    }
  }

  /** Protocol negotiation pushes back what it did not use, perhaps after all data was read */
  #pushBack (data: Chunk, to: 'push' | 'unshift'): void {
    const bytes = copyOf(data, `${to}()`)
    const isReadable = this.#isReadable('push data onto')

    if (bytes.byteLength === 0) {
      return
    }

    if (!isReadable) {
      this.#isReadToEnd = false
      this.readStatus = 'readable'
    }

    try {
      this.state.readBuffer[to](bytes)
    } catch (err: any) {
      this.#fail(err)
      return
    }

    this.#pushedBackBytes += bytes.byteLength

    if (!this.#isDelivering && this.#loops.areAllAsking) {
      this.#deliverSoon()
    } else if (!this.#awaitsRetry) {
      // a reader that cannot use the data yet
      this.#awaitsRetry = true
      this.host.clock.setTimer(() => {
        this.#awaitsRetry = false
        this.#deliver()
      }, 0)
    }

    // credit limits the peer's data; this limits the data that the application pushes back. After the FIN a reader may put back a whole window.
    if (this.remoteWriteStatus === 'writable' && (this.#isDelivering || !this.#hasReader)) {
      this.#checkLength(Math.max(this.maxReadBufferLength, this.state.receiveWindow.windowBytes))
    }
  }

  /** Not while a loop works on the last chunk, for which it may pause the stream */
  #closeIfRead (): void {
    // the usual case
    if (this.remoteWriteStatus !== 'closed' && this.readStatus !== 'closed') {
      return
    }

    if (this.state.readBuffer.byteLength === 0 && this.remoteWriteStatus === 'closed' && (this.readStatus !== 'paused' || this.status !== 'open') && this.#loops.areAllAsking && this.readStatus !== 'closed') {
      this.readStatus = 'closed'
      this.#isReadToEnd = this.#isComplete
    }

    this.#settle()
  }

  /** Ends the loops and emits 'end' if nothing more will be delivered */
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

  /** Data is lost: a reader has transferred the buffer of the chunk that held it */
  #fail (err: Error): void {
    this.abort(err)
    // an abort after the end of the stream does not end its reading
    this.discard(err)
  }

  /** There is no reader, and no pause that promises one. The listener of protocol negotiation is removed by then. */
  get isLeftUnread (): boolean {
    return this.readStatus === 'readable' && this.#loops === NO_LOOPS && this.listenerCount('message') === 0
  }

  /** Somebody reads, or has paused. An iterator that was dropped looks like a slow loop. */
  get isBeingRead (): boolean {
    return this.readStatus === 'paused' || this.#hasReader
  }

  /** There is a listener, or a loop that was not left behind */
  get #hasReader (): boolean {
    return this.readStatus === 'readable' && (this.listenerCount('message') > 0 || this.#loops.areWaitedFor)
  }

  #checkLength (limitBytes: number): void {
    if (this.readBufferLength > limitBytes) {
      this.abort(new StreamBufferError(`Read buffer length of ${this.readBufferLength} exceeded limit of ${limitBytes}, read status is ${this.readStatus}`))
    }
  }

  /** Returns false if all data was read, perhaps by other readers or while paused. Throws if reading has ended in another way. */
  #isReadable (action: string): boolean {
    if (this.readStatus === 'closed' && !this.#isReadToEnd) {
      throw new StreamStateError(`Cannot ${action} a stream that is ${this.readStatus}`)
    }

    return !this.#isReadToEnd
  }
}
