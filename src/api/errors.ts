/**
 * The errors that applications see. Those the peer's mistakes cause are in core/errors.ts.
 */
import { ConnectionClosedError, InvalidParametersError, StreamResetError, TimeoutError } from '@libp2p/interface'

/** The peer reset the stream. Named as libp2p and `@libp2p/yamux` name it: applications look for that. */
export class RemoteResetError extends StreamResetError {
  readonly code = 'ERR_STREAM_RESET'
  /** What the peer gave as its reason: 1 to 0xfff is the transport's, 0x1000 to 0xffff libp2p's; undefined if it gave none */
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

/** The connection ended while the stream was in use: what it carried may be incomplete */
export class TransportClosedError extends ConnectionClosedError {
  override name = 'TransportClosedError'
  readonly code = 'ERR_TRANSPORT_CLOSED'

  constructor (options?: ErrorOptions) {
    super('The connection closed before the stream had ended, data may be missing')
    this.cause = options?.cause
  }
}

/** The peer has ended the session for a reason other than a normal end; or, with code 0, normally, and its transport could not be closed */
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
  /** Nothing was sent or received on a stream for its inactivity timeout */
  InactivityTimeoutError: 'ERR_INACTIVITY_TIMEOUT',
  /** The peer has not acknowledged a stream that this side opened */
  OpenTimeoutError: 'ERR_OPEN_TIMEOUT',
  /** This side has closed a stream, and then it came to no end */
  CloseTimeoutError: 'ERR_CLOSE_TIMEOUT',
  /** The transport has data and accepts none of it: the peer does not read, or is not there */
  WriteTimeoutError: 'ERR_WRITE_TIMEOUT',
  /** The peer does not answer keep-alive pings, and sends nothing else, or does not for very long */
  KeepAliveTimeoutError: 'ERR_KEEP_ALIVE_TIMEOUT'
} as const

/** Something took too long: what, says its name */
export class YamuxTimeoutError extends TimeoutError {
  override name: keyof typeof TIMEOUT_CODES
  readonly code: typeof TIMEOUT_CODES[keyof typeof TIMEOUT_CODES]

  constructor (name: keyof typeof TIMEOUT_CODES, message: string) {
    super(message)
    this.name = name
    this.code = TIMEOUT_CODES[name]
  }
}

/** What is no bytes was to be sent, or pushed back */
export class InvalidBytesError extends InvalidParametersError {
  readonly code = 'ERR_INVALID_BYTES'

  /** `taker` was given `value` */
  constructor (taker: string, value: unknown) {
    super(`${taker} takes a Uint8Array or a Uint8ArrayList, it was given ${kindOf(value)}`)
  }
}

/** The muxer is used with libp2p 2 */
export class UnsupportedLibp2pError extends InvalidParametersError {
  readonly code = 'ERR_UNSUPPORTED_LIBP2P'

  constructor () {
    super('libp2p-coalescing-yamux needs libp2p 3: update libp2p, or use @chainsafe/libp2p-yamux 7 with libp2p 2')
  }
}

/** All 2^31 ids of this side are used; a new connection starts over */
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
