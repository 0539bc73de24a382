/**
 * All that the protocol knows of one stream: its two half-closes, what it owes the peer, its
 * credit in both directions and the bytes that wait on either side. Plain data, moved by the session.
 */
import { SendQueue } from './buffer/send-queue.ts'
import { SendCredit } from './flow/send-credit.ts'
import { FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN, MAX_FRAME_BYTES } from './frame/frame.ts'
import { NORMAL } from './schedule/lane.ts'
import type { ReadBuffer } from './buffer/read-buffer.ts'
import type { ReceiveWindow } from './flow/receive-window.ts'

/**
 * What a stream owes the peer. Intents, not frames: they become a frame when the batch has
 * room for one, and one that is superseded until then vanishes. The first four are the wire's own flags.
 */
export const OWES_SYN = FLAG_SYN
export const OWES_ACK = FLAG_ACK
export const OWES_FIN = FLAG_FIN
export const OWES_RST = FLAG_RST
export const OWES_UPDATE = 16

/** What has happened to a stream since its owner last looked; owners are told in this order */
export const NEWS_OPENED = 1
export const NEWS_DATA = 2
export const NEWS_REMOTE_FIN = 4
export const NEWS_REMOTE_RST = 8
/** Queued bytes were taken and fell to the low mark, or to nothing */
export const NEWS_TAKEN = 16
/** The transport has taken the FIN: nothing more will be sent */
export const NEWS_LOCAL_FIN = 32
/** This side had to give the stream up, because of `failure` */
export const NEWS_FAILED = 64
/** It stands still in both directions, if nobody reads from it in a moment */
export const NEWS_STALLED = 128

/** When messages are frames of their own, the same for all streams of a connection */
export interface MessageBoundaries {
  /** They are while less than this waits on their stream: 0 for never, Infinity for always */
  readonly mergeFromBytes: number
  /** If they are not longer than this */
  readonly maxWholeBytes: number
}

export class StreamState<Owner = unknown> {
  readonly id: number
  readonly isOutbound: boolean
  /** Whoever acts for the application; set by the shell */
  owner: Owner | undefined

  readonly sendQueue = new SendQueue()
  readonly sendCredit = new SendCredit()
  readonly readBuffer: ReadBuffer
  readonly receiveWindow: ReceiveWindow

  /** Bits of OWES_* */
  owes = 0
  /** Bits of NEWS_* */
  news = 0
  /** Goes into the length of the RST, or came in it; 0 is none */
  errorCode = 0
  failure: Error | undefined
  /** Each of them may be answered by a window update, as @libp2p/yamux does */
  dataFramesSent = 0

  /** No more may be queued; the FIN follows the last queued byte */
  isClosing = false
  isLocalFinished = false
  isRemoteFinished = false
  /** Reset by either side: both directions are over */
  isReset = false
  /** The opener's slot in the ack backlog is taken until the peer says anything on the stream */
  awaitsAck = false
  /** A writer was told to wait */
  awaitsDrain = false

  readonly openedMs: number
  /** When bytes last moved in either direction, or this side asked for the end */
  lastActiveMs: number

  /** When the next frame began to wait; undefined when nobody asks */
  waitsSinceMs: number | undefined

  /** Which of the LANES its data goes out in */
  lane = NORMAL

  // Places in the scheduler's lists. They are here so that the lists need no objects of their own.
  /** SYN or ACK let a DATA frame go first, once */
  hasDeferredControl = false
  isInDataLane = false
  nextInDataLane: StreamState<Owner> | undefined
  previousInDataLane: StreamState<Owner> | undefined
  /** What is left of this round's share */
  deficitBytes = 0

  /** Messages share frames, until nothing waits any more */
  isMerging: boolean
  readonly #boundaries: MessageBoundaries

  constructor (id: number, isOutbound: boolean, receiveWindow: ReceiveWindow, readBuffer: ReadBuffer, boundaries: MessageBoundaries, nowMs: number) {
    this.#boundaries = boundaries
    this.isMerging = boundaries.mergeFromBytes === 0
    this.id = id
    this.isOutbound = isOutbound
    this.receiveWindow = receiveWindow
    this.readBuffer = readBuffer
    this.openedMs = nowMs
    this.lastActiveMs = nowMs
  }

  /** To be called before a message is queued: from a backlog on all that waits is merged */
  beforeMessage (byteLength: number): void {
    const { mergeFromBytes, maxWholeBytes } = this.#boundaries
    const queuedBytes = this.sendQueue.byteLength

    // the parts of one that is alone and longer than a frame need not be told apart either
    this.isMerging ||= queuedBytes >= mergeFromBytes || (queuedBytes === 0 && byteLength > maxWholeBytes && !this.isNeverCut)
  }

  /** Nothing is queued any more */
  onQueueEmpty (): void {
    this.isMerging = this.#boundaries.mergeFromBytes === 0
    this.sendQueue.release()
  }

  /** A message that fits into a frame waits for credit, and room, for all of it */
  get isNeverCut (): boolean {
    return this.#boundaries.mergeFromBytes === Infinity
  }

  /** The length of the next frame if it is to hold one message whole; 0 if it may be cut, or hold more */
  get wholeFrameBytes (): number {
    if (this.isMerging) {
      return 0
    }

    const { firstPieceBytes } = this.sendQueue

    return firstPieceBytes <= this.#boundaries.maxWholeBytes ? firstPieceBytes : 0
  }

  /** Neither side may send any more */
  get isOver (): boolean {
    return this.isReset || (this.isLocalFinished && this.isRemoteFinished)
  }

  /** There are bytes to send, and credit for at least one of them, or for a whole message if it must not be cut */
  get canSendData (): boolean {
    return this.sendQueue.byteLength > 0 && this.sendCredit.availableBytes >= (this.isNeverCut ? this.wholeFrameBytes || 1 : 1)
  }

  /**
   * No credit is left for what waits to be sent, and the peer has too little for a frame: it may be one of ours that cuts none. If
   * both ends write before they read, neither goes on by itself.
   */
  get isStalled (): boolean {
    return this.sendQueue.byteLength > 0 && !this.canSendData && !this.isRemoteFinished && this.receiveWindow.availableBytes < MAX_FRAME_BYTES
  }

  /** What is queued and has no credit */
  get blockedBytes (): number {
    return Math.max(0, this.sendQueue.byteLength - (this.canSendData ? this.sendCredit.availableBytes : 0))
  }
}
