// One direction of a connection below the muxer: what the kernels at both ends keep, and the link between them.
import type { Bottleneck } from '../../../testing/simulation/bottleneck.ts'
import type { Timeline } from '../../../testing/simulation/timeline.ts'

/** TCP begins with ten segments, and adds what is acknowledged (RFC 6928, RFC 5681). Nothing is lost here. */
const FIRST_CONGESTION_WINDOW_BYTES = 14_600
/** Others are served between two segments of a write, which take a millisecond each */
const SEGMENT_MS = 1
const MIN_SEGMENT_BYTES = 4096
const MAX_SEGMENT_BYTES = 65_536
/** Node keeps so much that the kernel does not take before it says "wait", and says "drain" when the kernel has taken it */
const HIGH_WATERMARK_BYTES = 65_536

/** Of a link, what a connection over it sees */
export type Way = Pick<Bottleneck, 'rateBytesPerMs' | 'delayMs' | 'send'>

export interface Buffers {
  /** What the sender's kernel takes: all that is not acknowledged */
  sendBytes: number
  /** What the receiver's kernel takes: on its way, or not read */
  receiveBytes: number
}

interface Write<T> {
  leftBytes: number
  content: T
}

interface Segment<T> {
  byteLength: number
  /** Of the write that ends with it */
  content: T | undefined
}

export class Socket<T> {
  onDrain = (): void => {}
  onReadable = (): void => {}
  readonly #timeline: Timeline
  readonly #link: Way
  readonly #buffers: Buffers
  /** Handed down, and not acknowledged by the receiver's kernel */
  #unacknowledgedBytes = 0
  /** On the link, or not read */
  #windowedBytes = 0
  /** On the link, or on the way back as an acknowledgement */
  #inFlightBytes = 0
  #congestionWindowBytes = FIRST_CONGESTION_WINDOW_BYTES
  #unsent: Array<Write<T>> = []
  #unread: Array<Segment<T>> = []
  #isFull = false

  constructor (timeline: Timeline, link: Way, buffers: Buffers) {
    this.#timeline = timeline
    this.#link = link
    this.#buffers = buffers
  }

  /** Returns false for "wait". `atMs` may lie ahead: a program's turn takes time. */
  send (byteLength: number, content: T, atMs: number): boolean {
    this.#unacknowledgedBytes += byteLength
    this.#isFull ||= this.#unacknowledgedBytes >= this.#buffers.sendBytes + HIGH_WATERMARK_BYTES
    this.#timeline.at(atMs, () => {
      this.#unsent.push({ leftBytes: byteLength, content })
      this.#transmit()
    })

    return !this.#isFull
  }

  /** All that has arrived. Returns how much that is. */
  read (onChunk: (byteLength: number) => void, onContent: (content: T) => void): void {
    const segments = this.#unread
    const byteLength = segments.reduce((sum, segment) => sum + segment.byteLength, 0)
    this.#unread = []
    onChunk(byteLength)

    for (const segment of segments) {
      if (segment.content !== undefined) {
        onContent(segment.content)
      }
    }

    this.#timeline.in(this.#link.delayMs, () => {
      this.#windowedBytes -= byteLength
      this.#transmit()
    })
  }

  #transmit (): void {
    const segmentBytes = Math.min(MAX_SEGMENT_BYTES, Math.max(MIN_SEGMENT_BYTES, Math.floor(SEGMENT_MS * this.#link.rateBytesPerMs)))

    for (let roomBytes = this.#roomBytes; this.#unsent.length > 0 && roomBytes >= Math.min(MIN_SEGMENT_BYTES, this.#unsent[0].leftBytes); roomBytes = this.#roomBytes) {
      const write = this.#unsent[0]
      const byteLength = Math.min(write.leftBytes, segmentBytes, roomBytes)
      write.leftBytes -= byteLength
      this.#windowedBytes += byteLength
      this.#inFlightBytes += byteLength
      const isLast = write.leftBytes === 0

      if (isLast) {
        this.#unsent.shift()
      }

      this.#link.send(byteLength, () => { this.#arrive({ byteLength, content: isLast ? write.content : undefined }) })
    }
  }

  /** What TCP lets onto the link */
  get #roomBytes (): number {
    const { sendBytes, receiveBytes } = this.#buffers

    return Math.min(receiveBytes - this.#windowedBytes, Math.min(this.#congestionWindowBytes, sendBytes) - this.#inFlightBytes)
  }

  #arrive (segment: Segment<T>): void {
    this.#unread.push(segment)
    this.#timeline.in(this.#link.delayMs, () => { this.#acknowledge(segment.byteLength) })

    if (this.#unread.length === 1) {
      this.onReadable()
    }
  }

  #acknowledge (byteLength: number): void {
    this.#unacknowledgedBytes -= byteLength
    this.#inFlightBytes -= byteLength
    this.#congestionWindowBytes += byteLength
    this.#transmit()

    if (this.#isFull && this.#unacknowledgedBytes <= this.#buffers.sendBytes) {
      this.#isFull = false
      this.onDrain()
    }
  }
}
