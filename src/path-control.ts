/**
 * @packageDocumentation
 *
 * Path controls decide how much may be in flight: their interface, two that implement it, and a base class for your own. Experimental: they
 * may change in any version. docs/path-control.md has an example.
 */
import { BytesInFlight } from './path/bytes-in-flight.ts'
import { NodePaths } from './path/node-paths.ts'
import { LEAST_BURST_BYTES, limitUploads } from './path/upload-limit.ts'
import { integer, number, section } from './options/rules.ts'
import type { CreatePathControl } from './core/path-control.ts'

export { MIN_WRITE_BYTES, NoControl } from './core/path-control.ts'
export { ForwardingControl } from './path/forwarding-control.ts'
export type { CreatePathControl, PathControl, PathFigures, PathInit, WritePlan } from './core/path-control.ts'
export type { PeerControl } from './core/peer-control.ts'
export type { Positions } from './core/positions.ts'

/** Creates the default control of `yamux()`. Call it once for each node: its connections tell each other of links that they share. */
export function fullControl (): CreatePathControl {
  const nodePaths = new NodePaths()

  return (init, positions) => new BytesInFlight(init, positions, nodePaths)
}

/** Options of `uploadLimit()` */
export interface UploadLimit {
  /**
   * What all connections together may send. From 1 to 1,000,000,000,000.
   *
   * @unit bytes per second
   */
  bytesPerS: number

  /**
   * How much may leave at once after a pause. From 16,384 on. Less than what the rate carries while the event loop is busy would lower the rate.
   *
   * @unit bytes
   * @default `65_536`, a full write, or what `bytesPerS` carries in 50 ms if that is more
   */
  burstBytes?: number
}

/** Finite, as it is multiplied by a time that may be 0 */
const MAX_BYTES_PER_S = 1e12
const BURST_BYTES = 65_536
/** An event loop may be busy so long before the next write */
const BURST_S = 0.05

/**
 * Creates the default control of `yamux()` with a limit on what a node uploads. Call it once for each node: its connections share the limit.
 *
 * In any time, at most `burstBytes + bytesPerS * time` leave. Urgent data may exceed that by one burst, control frames and a closing connection's
 * queue by any amount. Later data waits until the rate has paid for them, but for no more than one burst of a closed connection. Throws
 * InvalidParametersError for a value out of range.
 */
export function uploadLimit (init: UploadLimit): CreatePathControl {
  const { bytesPerS, burstBytes } = section({
    bytesPerS: number(undefined, 1, MAX_BYTES_PER_S),
    burstBytes: (value, name, { bytesPerS }) => integer(Math.max(BURST_BYTES, Math.ceil(BURST_S * bytesPerS)), LEAST_BURST_BYTES)(value, name)
  })(init, 'uploadLimit')

  return limitUploads(bytesPerS, burstBytes, fullControl())
}
