/**
 * @packageDocumentation
 *
 * A yamux stream muxer for js-libp2p that gathers what all streams have to say into one write.
 * A drop-in for `@libp2p/yamux`: same options, same protocol, same behaviour towards other peers.
 *
 * @example
 *
 * ```typescript
 * import { createLibp2p } from 'libp2p'
 * import { yamux } from 'libp2p-coalescing-yamux'
 *
 * const node = await createLibp2p({
 *   // ... other options
 *   streamMuxers: [
 *     yamux()
 *   ]
 * })
 * ```
 */
import { serviceCapabilities } from '@libp2p/interface'
import { systemClock } from './clock.ts'
import { createConfig } from './config.ts'
import { YAMUX_PROTOCOL_ID, YamuxMuxer } from './muxer/muxer.ts'
import type { Config, YamuxMuxerInit } from './config.ts'
import type { MessageStream, StreamMuxerFactory } from '@libp2p/interface'

export { GoAwayCode } from './core/frame/frame.ts'
export { ProtocolError } from './core/protocol-error.ts'
export { InactivityTimeoutError, KeepAliveTimeoutError, RemoteGoAwayError, RemoteResetError, StreamIdsExhaustedError, TransportClosedError } from './errors.ts'
export type { CoalesceOptions, YamuxMuxerInit, YamuxStreamOptions } from './config.ts'
export type { ProtocolErrorCode } from './core/protocol-error.ts'
export type { CloseOptions, YamuxMuxer } from './muxer/muxer.ts'
export type { YamuxStream } from './stream/stream.ts'

class Yamux implements StreamMuxerFactory<YamuxMuxer> {
  readonly protocol = YAMUX_PROTOCOL_ID
  readonly [Symbol.toStringTag] = 'libp2p-coalescing-yamux'
  readonly [serviceCapabilities] = ['@libp2p/stream-multiplexing']
  readonly #config: Config

  constructor (config: Config) {
    this.#config = config
  }

  createStreamMuxer (maConn: MessageStream): YamuxMuxer {
    return new YamuxMuxer(maConn, this.#config, systemClock)
  }
}

/**
 * Makes the factory that `createLibp2p` takes as a stream muxer.
 *
 * Throws InvalidParametersError when an option is out of its range.
 */
export function yamux (init: YamuxMuxerInit = {}): (components?: object) => StreamMuxerFactory<YamuxMuxer> {
  const config = createConfig(init)

  return () => new Yamux(config)
}
