/**
 * The factory that `createLibp2p` takes as a stream muxer. Each entry of the package chooses the parts of its connections.
 */
import { serviceCapabilities } from '@libp2p/interface'
import { UnsupportedLibp2pError } from './api/errors.ts'
import { systemClock } from './host/clock.ts'
import { Muxer, YAMUX_PROTOCOL_ID } from './muxer/muxer.ts'
import { createConfig } from './options/config.ts'
import type { YamuxMuxer } from './api/types.ts'
import type { NodeParts } from './host/driver.ts'
import type { Config, YamuxMuxerInit } from './options/config.ts'
import type { ComponentLogger, Logger, MessageStream, Metrics, StreamMuxerFactory } from '@libp2p/interface'

/** The components that libp2p passes to the factory */
export interface YamuxComponents {
  metrics?: Metrics
  logger?: ComponentLogger
}

export type YamuxFactory = (components?: YamuxComponents) => StreamMuxerFactory<YamuxMuxer>

/** `createParts` runs once for each node */
export function createFactory (init: YamuxMuxerInit | null | undefined, createParts: (config: Config, metrics?: Metrics, log?: Logger) => NodeParts): YamuxFactory {
  // throws for a wrong option now, not when there is a node
  createConfig(init ?? {})

  return ({ metrics, logger } = {}) => {
    const log = logger?.forComponent('libp2p:yamux')
    const config = createConfig(init ?? {}, report => { log?.error(report) })
    const parts = createParts(config, metrics, log)

    return {
      protocol: YAMUX_PROTOCOL_ID,
      [Symbol.toStringTag]: 'libp2p-coalescing-yamux',
      [serviceCapabilities]: ['@libp2p/stream-multiplexing'],
      createStreamMuxer: transport => {
        // libp2p 2 passes options instead
        if (typeof (transport as Partial<MessageStream> | undefined)?.addEventListener !== 'function') {
          throw new UnsupportedLibp2pError()
        }

        return new Muxer(transport, config, systemClock, parts)
      }
    }
  }
}
