/**
 * The errors that applications see. Those for protocol violations of the peer are in core/errors.ts.
 */
import { ConnectionClosedError, InvalidParametersError, StreamResetError, TimeoutError } from '@libp2p/interface'

/** The peer reset the stream. The name is that of libp2p and `@libp2p/yamux`, which applications check. */
export class RemoteResetError extends StreamResetError {
  readonly code = 'ERR_STREAM_RESET'
  /** The peer's error code: 1 to 0xfff are the transport's, 0x1000 to 0xffff libp2p's; undefined if it gave none */
  readonly errorCode?: number

  constructor (streamId: number, errorCode: number) {
    super(errorCode === 0
      ? `The peer reset stream ${streamId}`
      : `The peer reset stream ${streamId} with error code ${errorCode}`)

    if (errorCode !== 0) {
      this.errorCode = errorCode
    }
  }
}

/** The connection ended while the stream was in use: data may be missing */
export class TransportClosedError extends ConnectionClosedError {
  override name = 'TransportClosedError'
  readonly code = 'ERR_TRANSPORT_CLOSED'

  constructor (options?: ErrorOptions) {
    super('The connection closed before the stream had ended, data may be missing')
    this.cause = options?.cause
  }
}

/** The peer has ended the session with a code other than 0; or with 0, which is a normal end, but the transport could not be closed */
export class RemoteGoAwayError extends ConnectionClosedError {
  override name = 'RemoteGoAwayError'
  readonly code = 'ERR_REMOTE_GO_AWAY'
  /** The code of the GoAway frame: 1 protocol error, 2 internal error, others by agreement */
  readonly errorCode: number

  constructor (errorCode: number) {
    super(`The peer ended the session with GoAway code ${errorCode}`)
    this.errorCode = errorCode
  }
}

const TIMEOUT_CODES = {
  /** A stream carried no data for its inactivity timeout */
  InactivityTimeoutError: 'ERR_INACTIVITY_TIMEOUT',
  /** The peer did not acknowledge a stream that this side had opened */
  OpenTimeoutError: 'ERR_OPEN_TIMEOUT',
  /** A stream that this side had closed for writing carried no data and did not end */
  CloseTimeoutError: 'ERR_CLOSE_TIMEOUT',
  /** The transport accepted no data: the peer does not read, or is gone */
  WriteTimeoutError: 'ERR_WRITE_TIMEOUT',
  /** The peer sent nothing for two keep-alive intervals, or answered no ping for ten */
  KeepAliveTimeoutError: 'ERR_KEEP_ALIVE_TIMEOUT'
} as const

/** A timeout; `name` and `code` say which */
export class YamuxTimeoutError extends TimeoutError {
  override name: keyof typeof TIMEOUT_CODES
  readonly code: typeof TIMEOUT_CODES[keyof typeof TIMEOUT_CODES]

  constructor (name: keyof typeof TIMEOUT_CODES, message: string) {
    super(message)
    this.name = name
    this.code = TIMEOUT_CODES[name]
  }
}

/** send(), push() or unshift() was given a value other than a Uint8Array or a Uint8ArrayList, or the transport delivered one */
export class InvalidBytesError extends InvalidParametersError {
  readonly code = 'ERR_INVALID_BYTES'

  /** `taker` is the function that was given `value` */
  constructor (taker: string, value: unknown) {
    super(`${taker} takes a Uint8Array or a Uint8ArrayList, it was given ${kindOf(value)}`)
  }
}

/** A member of the program's path control threw, rejected, or returned an unusable value; `cause` is what it threw */
export class PathControlError extends Error {
  override name = 'PathControlError'
  readonly code = 'ERR_PATH_CONTROL'

  constructor (member: string, cause: Error) {
    super(`${member} of the pathControl failed: ${cause.message}`, { cause })
  }
}

/** The muxer is used with libp2p 2 */
export class UnsupportedLibp2pError extends InvalidParametersError {
  readonly code = 'ERR_UNSUPPORTED_LIBP2P'

  constructor () {
    super('libp2p-coalescing-yamux needs libp2p 3: update libp2p, or use @chainsafe/libp2p-yamux 7 with libp2p 2')
  }
}

/** All 2^31 stream ids of this side are used. A new connection has new ones. */
export class StreamIdsExhaustedError extends ConnectionClosedError {
  override name = 'StreamIdsExhaustedError'
  readonly code = 'ERR_STREAM_IDS_EXHAUSTED'

  constructor () {
    super('All stream ids are used, open a new connection')
  }
}

/** `a string`, `null`, `Uint16Array` */
function kindOf (value: unknown): string {
  if (value == null || typeof value !== 'object') {
    return value == null ? String(value) : `a ${typeof value}`
  }

  try {
    return Object.prototype.toString.call(value).slice('[object '.length, -1)
  } catch {
    return 'a revoked proxy'
  }
}
