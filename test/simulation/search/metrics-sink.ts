// Metrics as libp2p hands them to a muxer, for an application that does something when they are told.
import type { Metrics } from '@libp2p/interface'

/** `onViolation` learns why a connection was ended for what the peer did */
export function createSink (onTold: () => void, onViolation: (code: string) => void): Metrics {
  const usual = { increment: onTold, reset: onTold, update: onTold, observe: onTold, decrement: onTold }
  const violations = { ...usual, increment: (codes: Record<string, unknown>) => { Object.keys(codes).forEach(onViolation) } }

  return new Proxy({}, { get: () => (name: string) => name.endsWith('violations_total') ? violations : usual }) as Metrics
}
