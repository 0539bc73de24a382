/**
 * @packageDocumentation
 *
 * What decides how much may be in flight: the interface, for whoever writes one of their own, and two that implement it. Experimental: it
 * may change in any version. docs/path-control.md has an example.
 */
import { BytesInFlight } from './path/bytes-in-flight.ts'
import { NodePaths } from './path/node-paths.ts'
import type { CreatePathControl } from './core/path-control.ts'

export { MIN_WRITE_BYTES, NoControl } from './core/path-control.ts'
export { ForwardingControl } from './path/forwarding-control.ts'
export type { CreatePathControl, PathControl, PathFigures, PathInit, WritePlan } from './core/path-control.ts'
export type { Positions } from './core/positions.ts'

/** Makes what `yamux()` uses by default for the connections of one node, which tell each other of links that they share. */
export function fullControl (): CreatePathControl {
  const nodePaths = new NodePaths()

  return (init, positions) => new BytesInFlight(init, positions, nodePaths)
}
