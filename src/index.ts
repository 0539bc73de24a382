/**
 * @packageDocumentation
 *
 * A yamux stream muxer for js-libp2p that gathers the output of all streams into one write.
 * It replaces `@libp2p/yamux`: it has the same options, and works with every other yamux peer. docs/migrating.md lists the differences.
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
import { createFactory } from './factory.ts'
import { attempt } from './foreign/values.ts'
import { systemClock } from './host/clock.ts'
import { createFrameTraces } from './observe/frame-trace.ts'
import { NodeMetrics } from './observe/metrics.ts'
import { fullControl } from './path-control.ts'
import type { YamuxFactory } from './factory.ts'
import type { YamuxMuxerInit } from './options/config.ts'

export * from './exports.ts'

/**
 * Makes the factory that `createLibp2p` takes as a stream muxer.
 *
 * Throws InvalidParametersError if an option is out of its range, and for an unknown name in `streamOptions`, `limits` or `coalesce`. An
 * unknown name beside them is logged, since it may belong to another muxer.
 */
export function yamux (init?: YamuxMuxerInit | null): YamuxFactory {
  return createFactory(init, ({ nodeBudget }, metrics, log) => ({
    createPathControl: fullControl(),
    createFrameTraces,
    metrics: metrics && attempt(() => new NodeMetrics(metrics, systemClock, nodeBudget), err => {
      log?.error('metrics could not be registered - %e', err)

      return undefined
    })
  }))
}
