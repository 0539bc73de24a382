/**
 * The stream and the muxer as applications see them: additions to libp2p's interfaces.
 */
import { LANES } from '../core/scheduler/lane.ts'
import type { GoAwayCode } from '../core/wire/frame.ts'
import type { Lane } from '../core/scheduler/lane.ts'
import type { AbortOptions, Stream, StreamMuxer } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface YamuxStream extends Stream {
  /**
   * The lane of the stream's data. May be set at any time; throws InvalidParametersError for an unknown lane.
   *
   * @default the lane that the `priority` option gives the stream's protocol, otherwise 'normal'
   */
  priority: Lane

  /**
   * How long the stream may carry no data before it is reset. 0 and Infinity: no timeout. May be set at any time; throws
   * InvalidParametersError for a value that is not a number from 0 on.
   *
   * @unit ms
   * @default Infinity
   */
  inactivityTimeout: number

  /** Closes the stream for writing. Resolves when all queued data and the FIN after it are handed to the transport. */
  close (options?: AbortOptions): Promise<void>

  /**
   * Ends the stream immediately. Queued data is sent before the reset as far as credit, the transport and the path control allow; the
   * rest is discarded. If the error has an integer `errorCode`, the peer receives it: 1 to 0xfff are the transport's, 0x1000 to
   * 0xffff libp2p's. A value that is not an error is wrapped in one.
   */
  abort (err: Error): void

  [Symbol.asyncIterator] (): AsyncGenerator<Uint8Array | Uint8ArrayList>
}

export interface YamuxMuxer extends StreamMuxer<YamuxStream> {
  /** Measures the round trip, in milliseconds. Calls may use a ping that is in flight already. Throws MuxerClosedError unless the muxer is open. */
  ping (options?: AbortOptions): Promise<number>

  /** The last measured round trip in milliseconds; -1 before the first */
  getRTT (): number

  /**
   * Ends the session cleanly: closes every stream for writing, sends all queued data, then sends GoAway. If data was sent, a ping follows it
   * and is awaited for up to 500 ms: its answer shows that the peer has read the data. Streams that cannot be closed before the signal is
   * aborted, or within 5 s without a signal, are aborted. Does not wait for more data of the peer: a stream that is being read ends without
   * an error. Rejects only if the signal is aborted before the transport has all frames.
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
 * Whether a stream of `node.handle` or `connection.newStream` is of this muxer. A node may have several muxers. Also recognises streams of
 * another copy of this package.
 */
export function isYamuxStream (stream: Stream & { priority?: unknown }): stream is YamuxStream {
  return LANES.includes(stream?.priority as Lane)
}
