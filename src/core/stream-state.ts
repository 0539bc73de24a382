/**
 * The protocol's state of one stream: its life (stream-life.ts), pending frames and events, credit in both directions, queued and unread bytes.
 * The core changes it, with few exceptions. The muxer sets `owner`, the stream `awaitsDrain` and `awaitsIdle`. The Driver sets `waitsSinceMs`,
 * as DataLanes and the first snapshot also do, and clears the events it has told. The stream takes bytes from `readBuffer` or puts them back.
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
 * Pending for the peer, as a frame when a batch has room for one. Flags that are superseded before are never written. The first four are
 * flags on the wire.
 */
export const PENDING_SYN = FLAG_SYN
export const PENDING_ACK = FLAG_ACK
export const PENDING_FIN = FLAG_FIN
export const PENDING_RST = FLAG_RST
export const PENDING_UPDATE = 16

/** Events of a stream since its owner was last told */
export const EVENT_OPENED = 1
export const EVENT_DATA = 2
export const EVENT_REMOTE_FIN = 4
export const EVENT_REMOTE_RST = 8
/** The queue has fallen to the low watermark, or is empty, and the owner waits for that */
export const EVENT_DRAINED = 16
/** The transport has taken the FIN */
export const EVENT_LOCAL_FIN = 32
/** This side had to end the stream, because of `failure` */
export const EVENT_FAILED = 64
/** Neither end has credit, and neither gets any unless a program reads */
export const EVENT_STALLED = 128

/** The same for all streams of a connection */
export type StreamInit = Pick<SessionInit, 'initialWindowBytes' | 'maxWindowBytes' | 'mergeFromBytes' | 'frameBytes'>

export class StreamState<Owner = unknown> extends LaneMember {
  readonly id: number
  readonly isOutbound: boolean
  /** The object that the application uses */
  owner: Owner | undefined
  life = OPEN
  /** This side has opened the stream, and the peer has sent nothing on it */
  awaitsAck = false

  readonly sendQueue: SendQueue
  readonly readBuffer: ReadBuffer
  readonly receiveWindow: ReceiveWindow
  /** How much this side may send. Starts at the protocol's window: a larger one exists only after the peer has advertised it. */
  creditBytes = INITIAL_WINDOW_BYTES

  /** Bits of PENDING_* */
  pending = 0
  /** The SYN or ACK has been deferred for one write, to ride on a DATA frame */
  hasDeferredControl = false
  /** Bits of EVENT_* */
  events = 0
  /** The length field of the RST, in either direction; 0 is no code */
  errorCode = 0
  failure: Error | undefined
  /** @libp2p/yamux may answer each with a window update, also after the stream has ended here */
  dataFramesSent = 0

  /**
   * An update was due and not queued: the peer does not need it, or is sending a long frame. It is checked again at the end of the next frame,
   * as the program may not read again.
   */
  hasDelayedUpdate = false
  /** While credit goes back in portions: granted before the last ping and since, and what is not written yet */
  earlierGrantBytes = 0
  laterGrantBytes = 0
  queuedGrantBytes = 0
  /** A writer was told to wait */
  awaitsDrain = false
  /** The program listens for 'idle', when nothing is queued */
  awaitsIdle = false

  readonly openedMs: number
  /** When bytes last moved in either direction, or this side ended writing */
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

  /** Bytes are queued, and there is credit for one of them, or for a whole message if it must not be cut. Hot. */
  get canSendData (): boolean {
    const { sendQueue } = this

    return sendQueue.byteLength > 0 && this.creditBytes >= (sendQueue.isNeverCut ? sendQueue.wholeFrameBytes || 1 : 1)
  }

  /**
   * The peer has less credit than a frame needs, and this side has none for its own data. Two ends that write before they read would wait for
   * each other. Or this side has answered the peer's stream and closed it, and its program may not read the rest.
   *
   * A frame, because with `mergeMessages: false` a peer waits for credit for a whole one.
   */
  get isStalled (): boolean {
    const { life, sendQueue, receiveWindow } = this
    const isIdle = sendQueue.byteLength > 0 ? !this.canSendData : this.hasClosedPeersStream

    return isIdle && life.remoteWriteStatus === 'writable' && receiveWindow.availableBytes < MAX_FRAME_BYTES
  }

  /** Bytes that have arrived and are not read, including the chunk of a loop unless its credit was given back on receipt */
  get unreadBytes (): number {
    const { readBuffer, receiveWindow: { windowBytes, availableBytes, readBytes } } = this

    return Math.max(readBuffer.byteLength, windowBytes - availableBytes - readBytes)
  }

  /** The peer has opened the stream, and this side has sent its FIN */
  get hasClosedPeersStream (): boolean {
    return !this.isOutbound && this.life.writeStatus === 'closed'
  }

  /**
   * A window update may be written: the peer still sends. After this side's FIN only a peer that runs short of credit gets one. Its own FIN may
   * be in flight, and older versions of nim-libp2p close a connection on an update for a stream that has ended.
   */
  get mayGrant (): boolean {
    return this.life.remoteWriteStatus === 'writable' && (this.life.writeStatus !== 'closed' || this.receiveWindow.isRunningShort)
  }
}
