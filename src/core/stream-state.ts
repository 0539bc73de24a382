/**
 * All that the protocol knows of one stream: its two halves, what is to be said of it, its credit in both directions and
 * the bytes that wait on either side. Session, receiver and scheduler change it; the driver and the stream note what concerns them.
 */
import { SendQueue } from './buffers/send-queue.ts'
import { NORMAL } from './scheduler/lane.ts'
import { FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN, INITIAL_WINDOW_BYTES, MAX_FRAME_BYTES } from './wire/frame.ts'
import type { ReadBuffer } from './buffers/read-buffer.ts'
import type { ReceiveWindow } from './window/receive-window.ts'

/**
 * What the peer is to be told of a stream. They become a frame when a batch has room for one; what is superseded until then
 * is never written. The first four are the wire's own flags.
 */
export const PENDING_SYN = FLAG_SYN
export const PENDING_ACK = FLAG_ACK
export const PENDING_FIN = FLAG_FIN
export const PENDING_RST = FLAG_RST
export const PENDING_UPDATE = 16

/** What has happened to a stream since its owner was last told */
export const EVENT_OPENED = 1
export const EVENT_DATA = 2
export const EVENT_REMOTE_FIN = 4
export const EVENT_REMOTE_RST = 8
/** The queue has fallen to the low mark, or is empty, and somebody waits for that */
export const EVENT_DRAINED = 16
/** The transport has taken the FIN */
export const EVENT_LOCAL_FIN = 32
/** This side had to give the stream up, because of `failure` */
export const EVENT_FAILED = 64
/** Neither end has credit, and if nobody reads soon neither gets any */
export const EVENT_STALLED = 128

/** When each message is a frame of its own. The same for all streams of a connection. */
export interface MessageBoundaries {
  /** Messages share frames from when so many bytes of their stream wait: 0 always, Infinity never */
  readonly mergeFromBytes: number
  /** Longer messages are cut into frames */
  readonly maxWholeBytes: number
}

export class StreamState<Owner = unknown> {
  readonly id: number
  readonly isOutbound: boolean
  /** Who acts for the application */
  owner: Owner | undefined

  readonly sendQueue = new SendQueue()
  readonly readBuffer: ReadBuffer
  readonly receiveWindow: ReceiveWindow
  /** What the peer lets this side send. Starts at the protocol's window: a larger one exists only once the peer has advertised it. */
  creditBytes = INITIAL_WINDOW_BYTES

  /** Bits of PENDING_* */
  pending = 0
  /** Bits of EVENT_* */
  events = 0
  /** Goes into the length of the RST, or came in it; 0 is none */
  errorCode = 0
  failure: Error | undefined
  /** @libp2p/yamux may answer each with a window update, also when the stream has ended here */
  dataFramesSent = 0

  /** No more may be queued; the FIN follows the last queued byte */
  isClosing = false
  isLocalFinished = false
  isRemoteFinished = false
  /** By either side */
  isReset = false
  /** Reset, or finished by both sides: neither may send any more */
  isOver = false
  /** The peer has said nothing on a stream that this side has opened */
  awaitsAck = false
  /** An update was due that the peer had no need of: to be looked at again when more has come, for nobody may read that */
  hasHeldUpdate = false
  /** A writer was told to wait */
  awaitsDrain = false
  /** Somebody wants to know when nothing is queued any more */
  tellsIdle = false

  readonly openedMs: number
  /** When bytes last moved in either direction, or this side asked for the end */
  lastActiveMs: number

  /** When the next frame began to wait; undefined without metrics */
  waitsSinceMs: number | undefined

  /** Which of the LANES its data goes out in */
  lane = NORMAL

  // The scheduler's. They are here so that its lists need no objects of their own.
  /** SYN or ACK has waited for a DATA frame to go with, once */
  hasDeferredControl = false
  isInDataLane = false
  nextInDataLane: StreamState<Owner> | undefined
  previousInDataLane: StreamState<Owner> | undefined
  /** What is left of its share in this round (the deficit counter of the literature) */
  deficitBytes = 0
  /** What it has sent since its lane had sent so much */
  roundBytes = 0
  roundFromBytes = -Infinity
  /** It goes before the streams whose turn it is */
  isAhead = false

  /** Messages share frames, until nothing waits any more */
  isMerging: boolean
  /** A message that fits into a frame is never cut: it waits for credit, and room, for all of it */
  readonly isNeverCut: boolean
  readonly #boundaries: MessageBoundaries

  constructor (id: number, isOutbound: boolean, receiveWindow: ReceiveWindow, readBuffer: ReadBuffer, boundaries: MessageBoundaries, nowMs: number) {
    this.#boundaries = boundaries
    this.isMerging = boundaries.mergeFromBytes === 0
    this.isNeverCut = boundaries.mergeFromBytes === Infinity
    this.id = id
    this.isOutbound = isOutbound
    this.receiveWindow = receiveWindow
    this.readBuffer = readBuffer
    this.openedMs = nowMs
    this.lastActiveMs = nowMs
  }

  /** To be called before a message is queued: from a backlog on all that waits is merged. Hot. */
  beforeMessage (byteLength: number): void {
    const { mergeFromBytes, maxWholeBytes } = this.#boundaries
    const queuedBytes = this.sendQueue.byteLength

    // a message that is alone, and has to be cut anyway, has no boundaries to keep
    this.isMerging ||= queuedBytes >= mergeFromBytes || (queuedBytes === 0 && byteLength > maxWholeBytes && !this.isNeverCut)
  }

  /** Nothing is queued any more. Hot. */
  onQueueEmpty (): void {
    this.isMerging = this.#boundaries.mergeFromBytes === 0
    this.sendQueue.release()
  }

  /** The length of the next message if it is to be a frame of its own, else 0. Hot. */
  get wholeFrameBytes (): number {
    if (this.isMerging) {
      return 0
    }

    const { firstPieceBytes } = this.sendQueue

    return firstPieceBytes <= this.#boundaries.maxWholeBytes ? firstPieceBytes : 0
  }

  /** There are bytes to send, and credit for at least one of them, or for a whole message if it must not be cut. Hot. */
  get canSendData (): boolean {
    return this.sendQueue.byteLength > 0 && this.creditBytes >= (this.isNeverCut ? this.wholeFrameBytes || 1 : 1)
  }

  /**
   * This side has no credit for what it wants to send, and the peer has less than a frame's worth. (With `mergeMessages: false` a peer waits
   * for credit for a whole frame.) If both ends write before they read, neither goes on by itself.
   */
  get isStalled (): boolean {
    return this.sendQueue.byteLength > 0 && !this.canSendData && !this.isRemoteFinished && this.receiveWindow.availableBytes < MAX_FRAME_BYTES
  }

  /**
   * The peer still sends, and takes a window update. Behind this side's FIN it may have sent its own by now, and an update for a stream that
   * has ended made nim-libp2p close the connection until 2025: there it is only for who needs it.
   */
  get mayGrant (): boolean {
    return !this.isRemoteFinished && (!this.isLocalFinished || this.receiveWindow.isRunningShort)
  }

  /** What is queued and has no credit */
  get blockedBytes (): number {
    return Math.max(0, this.sendQueue.byteLength - (this.canSendData ? this.creditBytes : 0))
  }
}
