/**
 * @packageDocumentation
 *
 * The same muxer for web pages, and for applications that send little: without the bound on bytes in flight, metrics and frame traces.
 */
import { NoControl } from './core/path-control.ts'
import { createFactory } from './factory.ts'
import type { YamuxFactory } from './factory.ts'
import type { YamuxMuxerInit } from './options/config.ts'

export * from './exports.ts'

/** As `yamux()` of the package itself, with the same options. `coalesce.maxQueueDelayMs` and `maxPeerQueueDelayMs` are ignored without a `pathControl`. */
export function yamux (init?: YamuxMuxerInit | null): YamuxFactory {
  return createFactory(init, () => ({ createPathControl: init => new NoControl(init) }))
}
