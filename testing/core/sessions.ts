/**
 * A session with nothing around it: the test is its application, its clock and its peer.
 */
import { fullControl } from '../../src/path-control.ts'
import { Session } from '../../src/core/session.ts'
import { NodeBudget } from '../../src/core/window/node-budget.ts'
import { createConfig } from '../../src/options/config.ts'
import { parseFrames } from '../protocol/frames.ts'
import type { SessionObserver } from '../../src/core/session.ts'
import type { PathControl } from '../../src/core/path-control.ts'
import type { BytesInFlight } from '../../src/path/bytes-in-flight.ts'
import type { SessionInit } from '../../src/core/session-init.ts'
import type { StreamState } from '../../src/core/stream-state.ts'
import type { Frame } from '../protocol/frames.ts'

export const SESSION_INIT: Omit<SessionInit, 'createPathControl' | 'nodeBudget'> = {
  isDialler: true,
  frameBytes: 16_384,
  loneFrameBytes: 16_384,
  maxFrameBytes: 16_384,
  maxWriteBytes: 65_519,
  initialWindowBytes: 262_144,
  maxWindowBytes: 16_777_216,
  maxGrowthBytes: 33_554_432,
  maxToleratedBytes: 0,
  creditsOnReceipt: false,
  mergeFromBytes: 0,
  maxQueueDelayMs: Infinity,
  maxPeerQueueDelayMs: Infinity,
  recordBytes: 65_519,
  nowMs: () => 0,
  maxInboundStreams: 1000,
  maxUnansweredStreams: 256,
  limits: createConfig({}).limits
}

export function createSession ({ onGoAway = () => {}, onRefused = () => {}, onTolerated = () => {}, ...init }: Partial<SessionInit & SessionObserver> = {}): Session<unknown> {
  return new Session({ ...SESSION_INIT, nodeBudget: new NodeBudget(Infinity), createPathControl: fullControl(), ...init }, { onGoAway, onRefused, onTolerated })
}

/** The full control of its bytes in flight */
export function controlOf (session: { readonly path: PathControl }): BytesInFlight {
  return session.path as BytesInFlight
}

/** The frames of the next write, which the transport takes; none if there is nothing to write */
export function pull (session: Session<unknown>, maxBytes = 65_519, nowMs = 0): Frame[] {
  const bytes = session.sender.pull(maxBytes, Infinity, nowMs, 0)
  session.onTransportTook()

  return bytes == null ? [] : parseFrames(bytes.subarray())
}

/** Everything there is to write */
export function pullAll (session: Session<unknown>): Frame[] {
  const frames: Frame[] = []

  for (let next = pull(session); next.length > 0; next = pull(session)) {
    frames.push(...next)
  }

  return frames
}

/** What has happened to streams, as the shell would take it */
export function takeEvents (session: Session<unknown>): Array<[id: number, events: number]> {
  return session.eventful.splice(0).map((stream: StreamState) => {
    const { id, events } = stream
    stream.events = 0

    return [id, events]
  })
}
