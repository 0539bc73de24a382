/**
 * All that the protocol knows of one stream: its two half-closes, what it owes the peer, its
 * credit in both directions and the bytes that wait on either side. Plain data, moved by the session.
 */
import { SendQueue } from './buffer/send-queue.ts'
import { SendCredit } from './flow/send-credit.ts'
import { FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN } from './frame/frame.ts'
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
/** The FIN is in a batch: nothing more will be sent */
export const NEWS_LOCAL_FIN = 32

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

  constructor (id: number, isOutbound: boolean, receiveWindow: ReceiveWindow, readBuffer: ReadBuffer, nowMs: number) {
    this.id = id
    this.isOutbound = isOutbound
    this.receiveWindow = receiveWindow
    this.readBuffer = readBuffer
    this.openedMs = nowMs
    this.lastActiveMs = nowMs
  }

  /** Neither side may send any more */
  get isOver (): boolean {
    return this.isReset || (this.isLocalFinished && this.isRemoteFinished)
  }

  /** There are bytes to send, and credit to send at least one of them */
  get canSendData (): boolean {
    return this.sendQueue.byteLength > 0 && this.sendCredit.availableBytes > 0
  }
}
