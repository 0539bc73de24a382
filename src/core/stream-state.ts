/**
 * All that the protocol knows of one stream: where it is in its life (stream-life.ts), what the peer and the program are to be told of it,
 * its credit in both directions, and the bytes that wait on either side. The core changes it. But the muxer and the stream set
 * `owner`, `awaitsDrain`, `awaitsIdle` and `waitsSinceMs`, take away the events that they tell of, and read from `readBuffer` and put back there.
 */
import { ReadBuffer } from './buffers/read-buffer.ts'
import { SendQueue } from './buffers/send-queue.ts'
import { LaneMember } from './scheduler/lane.ts'
import { OPEN } from './stream-life.ts'
import { ReceiveWindow } from './window/receive-window.ts'
import { FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN, INITIAL_WINDOW_BYTES, MAX_FRAME_BYTES } from './wire/frame.ts'
import type { SessionInit } from './session-init.ts'
import type { Step } from './stream-life.ts'

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
/** The queue has fallen to the low water mark, or is empty, and somebody waits for that */
export const EVENT_DRAINED = 16
/** The transport has taken the FIN */
export const EVENT_LOCAL_FIN = 32
/** This side had to give the stream up, because of `failure` */
export const EVENT_FAILED = 64
/** Neither end has credit, and if nobody reads soon neither gets any */
export const EVENT_STALLED = 128

/** The same for all streams of a connection */
export type StreamInit = Pick<SessionInit, 'initialWindowBytes' | 'maxWindowBytes' | 'mergeFromBytes' | 'frameBytes'>

export class StreamState<Owner = unknown> extends LaneMember {
  readonly id: number
  readonly isOutbound: boolean
  /** Who acts for the application */
  owner: Owner | undefined
  life = OPEN
  /** The peer has said nothing on a stream that this side has opened */
  awaitsAck = false

  readonly sendQueue: SendQueue
  readonly readBuffer: ReadBuffer
  readonly receiveWindow: ReceiveWindow
  /** What the peer lets this side send. Starts at the protocol's window: a larger one exists only once the peer has advertised it. */
  creditBytes = INITIAL_WINDOW_BYTES

  /** Bits of PENDING_* */
  pending = 0
  /** SYN or ACK has waited for a DATA frame to go with, once */
  hasDeferredControl = false
  /** Bits of EVENT_* */
  events = 0
  /** Goes into the length of the RST, or came in it; 0 is none */
  errorCode = 0
  failure: Error | undefined
  /** @libp2p/yamux may answer each with a window update, also when the stream has ended here */
  dataFramesSent = 0

  /** An update was due and was not written: the peer has no need of it, or a long frame is still coming. Looked at again when more has come, for nobody may read that. */
  hasDelayedUpdate = false
  /** A writer was told to wait */
  awaitsDrain = false
  /** Somebody wants to know when nothing is queued any more */
  awaitsIdle = false

  readonly openedMs: number
  /** When bytes last moved in either direction, or this side asked for the end */
  lastActiveMs: number

  constructor (id: number, isOutbound: boolean, init: StreamInit, nowMs: number) {
    super()
    this.id = id
    this.isOutbound = isOutbound
    this.receiveWindow = new ReceiveWindow(init.initialWindowBytes, init.maxWindowBytes)
    this.readBuffer = new ReadBuffer(init.mergeFromBytes)
    this.sendQueue = new SendQueue(init)
    this.openedMs = nowMs
    this.lastActiveMs = nowMs
  }

  /** Moves the stream on in its life */
  become (step: Step): void {
    this.life = this.life.next[step] ?? this.life
  }

  /** There are bytes to send, and credit for at least one of them, or for a whole message if it must not be cut. Hot. */
  get canSendData (): boolean {
    const { sendQueue } = this

    return sendQueue.byteLength > 0 && this.creditBytes >= (sendQueue.isNeverCut ? sendQueue.wholeFrameBytes || 1 : 1)
  }

  /**
   * The peer has less credit than a frame's worth, and this side no credit for what it wants to send: if both ends write before they read,
   * neither goes on by itself. Or this side has answered a stream of the peer and closed it: perhaps nobody reads the rest. (With
   * `mergeMessages: false` a peer waits for credit for a whole frame.)
   */
  get isStalled (): boolean {
    const { life, sendQueue, receiveWindow } = this
    const isIdle = sendQueue.byteLength > 0 ? !this.canSendData : this.hasAnswered

    return isIdle && life.remoteWriteStatus === 'writable' && receiveWindow.availableBytes < MAX_FRAME_BYTES
  }

  /** The peer has opened the stream, and this side has sent its FIN */
  get hasAnswered (): boolean {
    return !this.isOutbound && this.life.writeStatus === 'closed'
  }

  /**
   * The peer still sends, and takes a window update. Behind this side's FIN it may have sent its own by now, and an update for a stream that
   * has ended made nim-libp2p close the connection until 2025: there it is only for who needs it.
   */
  get mayGrant (): boolean {
    return this.life.remoteWriteStatus === 'writable' && (this.life.writeStatus !== 'closed' || this.receiveWindow.isRunningShort)
  }

  /** What is queued and has no credit */
  get blockedBytes (): number {
    return Math.max(0, this.sendQueue.byteLength - (this.canSendData ? this.creditBytes : 0))
  }
}
