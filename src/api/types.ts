/**
 * What applications see of a stream and of a muxer, in addition to libp2p's own interfaces.
 */
import { LANES } from '../core/scheduler/lane.ts'
import type { GoAwayCode } from '../core/wire/frame.ts'
import type { Lane } from '../core/scheduler/lane.ts'
import type { AbortOptions, Stream, StreamMuxer } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface YamuxStream extends Stream {
  /**
   * The lane that the stream's data goes out in; may be set at any time. Throws InvalidParametersError for an unknown lane.
   *
   * @default what the `priority` option gives the stream's protocol, 'normal' if it says nothing
   */
  priority: Lane

  /**
   * How many milliseconds the stream may carry no data before it is reset; may be set at any time. 0 and Infinity: forever. Throws
   * InvalidParametersError for anything else.
   *
   * @default Infinity
   */
  inactivityTimeout: number

  /** Closes the stream for writing. Resolves when everything that was sent, and the FIN after it, is handed to the transport. */
  close (options?: AbortOptions): Promise<void>

  /**
   * Ends the stream immediately. Queued bytes leave before the reset as far as credit, the transport and the bound on what is in flight allow; the rest is discarded. A whole number
   * `errorCode` on the error travels to the peer (1 to 0xfff is the transport's, 0x1000 to 0xffff libp2p's). Anything that is not an error becomes one.
   */
  abort (err: Error): void

  [Symbol.asyncIterator] (): AsyncGenerator<Uint8Array | Uint8ArrayList>
}

export interface YamuxMuxer extends StreamMuxer<YamuxStream> {
  /** Measures the round trip, in milliseconds. Calls while a ping is in flight share it. Throws MuxerClosedError unless the muxer is open. */
  ping (options?: AbortOptions): Promise<number>

  /** The last measured round trip in milliseconds, -1 before the first */
  getRTT (): number

  /**
   * Ends the session cleanly: every stream is closed for writing and all that is queued is handed down. If data was sent, a ping
   * follows it, and its answer is waited for, 500 ms at most: by then the peer has read the data. Then comes GoAway. What the peer and the
   * transport do not take until the signal is aborted, or within 5 s without one, is given up. Does not wait for what the peer still
   * wants to send: a stream that is being read ends there, without an error.
   */
  close (options?: CloseOptions): Promise<void>
}

export interface CloseOptions extends AbortOptions {
  /**
   * @default GoAwayCode.NormalTermination
   */
  reason?: GoAwayCode
}

/**
 * Whether a stream that libp2p hands out is one of this package's, of whichever copy of it: `node.handle` and
 * `connection.newStream` give streams of all muxers that a node has.
 */
export function isYamuxStream (stream: Stream & { priority?: unknown }): stream is YamuxStream {
  return LANES.includes(stream?.priority as Lane)
}
