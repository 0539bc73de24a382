/**
 * @packageDocumentation
 *
 * A yamux stream muxer for js-libp2p that gathers what all streams have to say into one write.
 * It replaces `@libp2p/yamux`: it has the same options, and works with every other yamux peer. docs/migrating.md says what differs.
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
import { NodePaths } from './core/path/node-paths.ts'
import { UnsupportedLibp2pError } from './errors.ts'
import { attempt } from './foreign.ts'
import { NodeMetrics } from './metrics.ts'
import { Muxer, YAMUX_PROTOCOL_ID } from './muxer/muxer.ts'
import { createConfig } from './options/config.ts'
import type { YamuxMuxer } from './api.ts'
import type { YamuxMuxerInit } from './options/config.ts'
import type { ComponentLogger, MessageStream, Metrics, StreamMuxerFactory } from '@libp2p/interface'

export { isYamuxStream } from './api.ts'
export { GoAwayCode } from './core/wire/frame.ts'
export { ProtocolError, ReceivedBytesChangedError, SentBytesChangedError } from './core/errors.ts'
export { InvalidBytesError, RemoteGoAwayError, RemoteResetError, StreamIdsExhaustedError, TransportClosedError, UnsupportedLibp2pError, YamuxTimeoutError } from './errors.ts'
export type { CloseOptions, YamuxMuxer, YamuxStream } from './api.ts'
export type { CoalesceOptions, MergeMessages, Strategy } from './options/coalesce.ts'
export type { WindowUpdateMode, YamuxMuxerInit, YamuxStreamOptions } from './options/config.ts'
export type { LimitOptions } from './options/limits.ts'
export type { Priority } from './options/priority.ts'
export type { Lane } from './core/scheduler/lane.ts'
export type { Limit } from './core/peer-limits.ts'
export type { ProtocolErrorCode } from './core/errors.ts'

/** What libp2p hands to the factory */
export interface YamuxComponents {
  metrics?: Metrics
  logger?: ComponentLogger
}

/**
 * Makes the factory that `createLibp2p` takes as a stream muxer.
 *
 * Throws InvalidParametersError when an option is out of its range, and for a name that is not an option of `streamOptions`, `limits`
 * or `coalesce`. Among the other options such a name is logged, since it may belong to another muxer.
 */
export function yamux (init?: YamuxMuxerInit | null): (components?: YamuxComponents) => StreamMuxerFactory<YamuxMuxer> {
  const unknown: string[] = []
  const config = createConfig(init ?? {}, report => { unknown.push(report) })

  return ({ metrics, logger } = {}) => {
    const log = logger?.forComponent('libp2p:yamux')
    unknown.forEach(report => log?.error(report))
    const nodeMetrics = metrics && attempt(() => new NodeMetrics(metrics), err => {
      log?.error('metrics could not be registered - %e', err)

      return undefined
    })
    const node = { paths: new NodePaths(), metrics: nodeMetrics }

    return {
      protocol: YAMUX_PROTOCOL_ID,
      [Symbol.toStringTag]: 'libp2p-coalescing-yamux',
      [serviceCapabilities]: ['@libp2p/stream-multiplexing'],
      createStreamMuxer: maConn => {
        // libp2p 2 gives options instead
        if (typeof (maConn as Partial<MessageStream> | undefined)?.addEventListener !== 'function') {
          throw new UnsupportedLibp2pError()
        }

        return new Muxer(maConn, config, systemClock, node)
      }
    }
  }
}
