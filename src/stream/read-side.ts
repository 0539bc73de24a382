/**
 * How what has arrived on a stream reaches the application: when it may be delivered, when it
 * counts as read, and when reading is over.
 *
 * Credit follows reading. For 'message' listeners delivery is reading; a `for await` loop has read
 * a chunk when it asks for the next. While paused, or while nobody reads, bytes wait and the peer stops.
 */
import { StreamBufferError, StreamMessageEvent, StreamStateError } from '@libp2p/interface'
import { iterateStream } from './iterator.ts'
import type { ReadBuffer } from '../core/buffer/read-buffer.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { ChunkReader, ChunkSource } from './iterator.ts'
import type { YamuxStream } from './stream.ts'
import type { StreamHost } from './stream-host.ts'
import type { MessageStreamReadStatus } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export class ReadSide implements ChunkSource {
  status: MessageStreamReadStatus = 'readable'
  hasEnded = false
  readonly #state: StreamState<YamuxStream>
  readonly #buffer: ReadBuffer
  readonly #host: StreamHost
  readonly #stream: YamuxStream
  readonly #readers = new Set<ChunkReader>()
  /** Handed to loops that have not asked for the next chunk yet */
  #unfinishedBytes = 0
  /** Bytes in the buffer that the application put there: reading them gives no credit */
  #pushedBackBytes = 0
  /** Why there will be no more, if not because the peer is done */
  #error: Error | undefined

  constructor (state: StreamState<YamuxStream>, host: StreamHost, stream: YamuxStream) {
    this.#state = state
    this.#buffer = state.readBuffer
    this.#host = host
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
    }
  }

  push (data: Uint8Array | Uint8ArrayList): void {
    this.#checkOpen('push data onto')
    this.#buffer.append(data)
    this.#buffer.endFrame()
    this.#onPushedBack(data.byteLength)
  }

  unshift (data: Uint8Array | Uint8ArrayList): void {
    this.#checkOpen('push data onto')
    this.#buffer.prepend(data)
    this.#onPushedBack(data.byteLength)
  }

  /** Reads no more: what comes is discarded and counts as read */
  close (): void {
    this.status = 'closed'
    this.deliver()
  }

  /** Listeners are often added in constructors, which should have run before the first event */
  deliverSoon (): void {
    if (this.#buffer.byteLength > 0) {
      queueMicrotask(() => { this.deliver() })
    }
  }

  /** Data has arrived */
  onData (): void {
    this.deliver()

    if (this.#host.creditsOnReceipt) {
      this.#check(this.#stream.maxReadBufferLength)
    }
  }

  /** Passes on what waits, if somebody reads. Hot: runs once per stream and inbound chunk. */
  deliver (): void {
    if (this.status === 'closed') {
      this.#discard()
      return
    }

    while (this.#buffer.isReady) {
      if (!this.#isWanted()) {
        this.#buffer.keep()
        return
      }

      this.#handOver(this.#buffer.take())
    }

    // a part of a frame that is one event: byte by byte, the chunks it came in would cost 200 times its size
    this.#buffer.keep()
  }

  /** The peer sends no more; `isOver`: nor does this side */
  onRemoteDone (isOver: boolean, err?: Error): void {
    this.#error ??= err
    // what came of a frame that was cut off is ready now
    this.deliver()

    if (isOver && this.#buffer.byteLength === 0) {
      this.status = 'closed'
    }

    this.#settle()
  }

  /** What waits is discarded */
  abort (err: Error): void {
    this.#error ??= err
    this.status = 'closed'
    this.#buffer.clear()
    this.#settle()
  }

  /** What has come before the end is not wanted any more */
  discardUnread (err: Error): void {
    if (this.#buffer.byteLength > 0) {
      this.abort(err)
    }
  }

  iterate (): AsyncGenerator<Uint8Array | Uint8ArrayList> {
    return iterateStream(this)
  }

  addReader (reader: ChunkReader): void {
    this.#readers.add(reader)
  }

  removeReader (reader: ChunkReader): void {
    this.#readers.delete(reader)
    this.onAsk()
  }

  onAsk (): void {
    if (this.#unfinishedBytes > 0 && this.#isEveryReaderAsking()) {
      const readBytes = this.#unfinishedBytes
      this.#unfinishedBytes = 0
      this.#onRead(readBytes)
    }

    this.deliver()
    this.#settle()
  }

  #handOver (chunk: Uint8ArrayList): void {
    if (this.#readers.size === 0) {
      this.#onRead(chunk.byteLength)
    } else {
      this.#unfinishedBytes += chunk.byteLength
      this.#readers.forEach(reader => { reader.push(chunk) })
    }

    if (this.#stream.listenerCount('message') > 0) {
      this.#stream.dispatchEvent(new StreamMessageEvent(chunk))
    }

    if (this.#buffer.byteLength === 0 && this.#isRemoteDone && !this.hasEnded) {
      this.status = 'closed'
      this.#settle()
    }
  }

  #discard (): void {
    this.#onRead(this.#buffer.byteLength)
    this.#buffer.clear()
    this.#settle()
  }

  /** The peer will send no more */
  get #isRemoteDone (): boolean {
    return this.#stream.remoteWriteStatus === 'closed'
  }

  #isWanted (): boolean {
    return this.status === 'readable' &&
      (this.#readers.size > 0 ? this.#isEveryReaderAsking() : this.#stream.listenerCount('message') > 0)
  }

  #isEveryReaderAsking (): boolean {
    for (const reader of this.#readers) {
      if (!reader.isAsking) {
        return false
      }
    }

    return true
  }

  #onRead (readBytes: number): void {
    const pushedBackBytes = Math.min(readBytes, this.#pushedBackBytes)
    this.#pushedBackBytes -= pushedBackBytes

    if (readBytes > pushedBackBytes) {
      this.#host.read(this.#state, readBytes - pushedBackBytes)
    }
  }

  #onPushedBack (bytes: number): void {
    this.#pushedBackBytes += bytes
    this.deliverSoon()
    // credit bounds what the peer can make a stream hold, this what the application pushes back
    this.#check(Math.max(this.#stream.maxReadBufferLength, this.#state.receiveWindow.windowBytes))
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

    for (const reader of this.#readers) {
      // one that does not ask has a chunk to take first
      if (reader.isAsking) {
        reader.end(this.#error)
      }
    }

    if (!this.hasEnded) {
      this.hasEnded = true
      this.#stream.safeDispatchEvent('end')
    }
  }

  #checkOpen (action: string): void {
    if (this.status !== 'readable' && this.status !== 'paused') {
      throw new StreamStateError(`Cannot ${action} a stream that is ${this.status}`)
    }
  }
}
