/**
 * The errors of the core: the peer broke a rule (ProtocolError), or a program changed a buffer that holds bytes of a stream.
 */
import { GoAwayCode } from './wire/frame.ts'

export type ProtocolErrorCode =
  /** A header that no yamux peer may send: version, type, id and flags do not fit together */
  'ERR_INVALID_FRAME' |
  /** A SYN whose id belongs to this side, or was used before */
  'ERR_INVALID_STREAM_ID' |
  /** More payload than the receive window allowed */
  'ERR_RECEIVE_WINDOW_EXCEEDED' |
  /** Window updates that raise the credit above 2^32 - 1 */
  'ERR_SEND_WINDOW_OVERFLOW' |
  /** Payload after FIN */
  'ERR_DATA_AFTER_FIN' |
  /** Frames that need replies, sent faster than the peer reads the replies */
  'ERR_TOO_MANY_UNREAD_REPLIES' |
  /** Pings beyond `limits.pings` */
  'ERR_TOO_MANY_PINGS' |
  /** Streams reset right after they were opened, beyond `limits.resets` */
  'ERR_TOO_MANY_RESETS' |
  /** Frames that change nothing beyond `limits.emptyFrames` */
  'ERR_TOO_MANY_EMPTY_FRAMES' |
  /** Streams that had to be refused beyond `limits.refusedStreams` */
  'ERR_TOO_MANY_REFUSED_STREAMS' |
  /** Frames for streams that are not open beyond `limits.unknownStreamFrames` */
  'ERR_TOO_MANY_UNKNOWN_STREAM_FRAMES'

/** The names of `@libp2p/yamux` for the same violations: applications may check them */
const STOCK_NAMES: Partial<Record<ProtocolErrorCode, string>> = {
  ERR_INVALID_FRAME: 'InvalidFrameError',
  ERR_INVALID_STREAM_ID: 'InvalidParametersError',
  ERR_RECEIVE_WINDOW_EXCEEDED: 'ReceiveWindowExceededError'
}

export class ProtocolError extends Error {
  override name: string
  readonly code: ProtocolErrorCode
  readonly goAwayCode = GoAwayCode.ProtocolError

  constructor (code: ProtocolErrorCode, message: string) {
    super(message)
    this.name = STOCK_NAMES[code] ?? 'ProtocolError'
    this.code = code
  }
}

/** The application changed a buffer after it passed it to `send()` */
export class SentBytesChangedError extends Error {
  override name = 'SentBytesChangedError'
  readonly code = 'ERR_SENT_BYTES_CHANGED'

  constructor (bytesBefore: number, bytesNow: number) {
    super(`${bytesNow} of ${bytesBefore} bytes passed to send() were left to write: do not transfer or shrink a buffer before it is sent, or send a copy`)
  }
}

/** A program changed a chunk that also holds bytes of another stream or message */
export class ReceivedBytesChangedError extends Error {
  override name = 'ReceivedBytesChangedError'
  readonly code = 'ERR_RECEIVED_BYTES_CHANGED'

  constructor (bytesBefore: number, bytesNow: number) {
    super(`${bytesNow} of ${bytesBefore} received bytes were left to read: do not transfer the buffer of a message, transfer a copy`)
  }
}
