/**
 * @packageDocumentation
 *
 * Path controls decide how much may be in flight: their interface, two that implement it, and a base class for your own. Experimental: they
 * may change in any version. docs/path-control.md has an example.
 */
import { BytesInFlight } from './path/bytes-in-flight.ts'
import { NodePaths } from './path/node-paths.ts'
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
