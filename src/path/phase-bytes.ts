/** Pure functions that compute the bound of each phase from the learned path. */
import { MIN_WRITE_BYTES } from '../core/path-control.ts'
import type { FairShare } from './fair-share.ts'
import type { OwnRoundTrip } from './own-round-trip.ts'
import type { PeersBound } from './peers-bound.ts'
import type { PeersData } from './peers-data.ts'
import type { RecentHighest } from './rate.ts'
import type { PongGap, SlowPrograms } from './silences.ts'

/** With a single round trip of data in flight the path would run empty if a pong is late */
const ROUND_TRIP_GAIN = 1.25
/** During start-up the rate may double in each round trip, as fast as TCP starts */
const START_UP_GAIN = 2.89
/** If a mark has waited less than half a round trip the path has room: then more is allowed, to make up for the start with 64 KiB */
const UNQUEUED_GAIN = 4
const UNQUEUED_PART = 1 / 2
/** The first bound, and the least during start-up: about what TCP sends in its first two round trips, 262 ms at 2 Mbit/s */
export const FIRST_BYTES = 65_536

/** A probe allows this part of what the path holds, so nothing queues, and a round trip is the path's own */
const PROBE_PART = 3 / 4
/** Or this many of the smallest writes, if they are more */
export const PROBE_WRITES = 2

/** The bytes in flight last a little longer than the longest silence */
const SILENCE_GAIN = 1.1

/** The shortest distance between two marks: the 12 bytes of a mark are 0.3 % of it. A mark is due from MARK_FROM_PART of it on. */
export const MIN_MARK_EVERY_BYTES = 4096
export const MARKS_IN_FLIGHT = 8
/** Between two marks */
export const MARK_INTERVAL_MS = 5
/** Pongs are rare if the gap between them is this many times that between marks. On a shared link they come in bursts, with shorter gaps. */
const RARE_PONGS = 2

/** What has been learned of a path */
export interface LearnedPath {
  /** How long data may be queued below the muxer */
  readonly maxQueueDelayMs: number
  readonly own: OwnRoundTrip
  readonly rate: RecentHighest
  readonly slowPrograms: SlowPrograms
  /** The time from one pong to the next while data is held */
  readonly pongGap: PongGap
  /** Bulk of a peer that bounds nothing */
  readonly peersData: PeersData
  readonly peersBound: PeersBound
  readonly fairShare: FairShare
}

/** `latestBytesPerMs`: the rate of the newest round trip. `queueMs`: how long the last mark has waited. */
export function startUpBytes (path: LearnedPath, latestBytesPerMs: number, queueMs: number): number {
  const { own, slowPrograms, peersData } = path
  // what a path that carries more in each round trip may carry in the next one
  const nextBytes = carriedBytes(path, queueMs < UNQUEUED_PART * own.ms ? UNQUEUED_GAIN : START_UP_GAIN, latestBytesPerMs)

  // The link may carry as much in this direction as in the other (peersData.roundTripBytes). Doubling up to that would take many round trips of
  // several seconds.
  return Math.max(slowPrograms.boostBytes, FIRST_BYTES, neededBytes(path), carriedBytes(path, START_UP_GAIN), nextBytes, peersData.roundTripBytes)
}

export function steadyBytes (path: LearnedPath): number {
  return Math.max(path.slowPrograms.boostBytes, neededBytes(path) + unconfirmedBytes(path) + MIN_WRITE_BYTES, path.rate.value * path.peersBound.roundTripMs)
}

/** With so little in flight nothing queues */
export function probeBytes ({ rate, own }: LearnedPath): number {
  return Math.max(PROBE_WRITES * MIN_WRITE_BYTES, PROBE_PART * rate.value * own.ms)
}

/** The bytes in flight last for a silence of this length anyway, so a shorter one requires no more */
export function coveredSilenceMs ({ own, maxQueueDelayMs }: LearnedPath): number {
  return ROUND_TRIP_GAIN * own.ms + maxQueueDelayMs
}

/** The longest round trip that this side's own data explains. During start-up it does not depend on the rate, which a queue of the peer makes too low. */
export function ownQueueRoundTripMs (path: LearnedPath, isStartUp: boolean): number {
  return isStartUp ? UNQUEUED_GAIN * path.own.ms + path.maxQueueDelayMs : steadyBytes(path) / path.rate.value
}

/** What the path carries in so many round trips, and in the time that data may be queued below the muxer */
function carriedBytes ({ own, peersData, maxQueueDelayMs, rate }: LearnedPath, roundTrips: number, bytesPerMs = rate.value): number {
  return bytesPerMs * (roundTrips * Math.max(own.ms, peersData.roundTripMs) + maxQueueDelayMs)
}

/** What the path carries in a round trip, and until late pongs come: with less in flight it runs empty */
function neededBytes (path: LearnedPath): number {
  const { own, rate, fairShare, slowPrograms, peersData } = path
  const sharedMs = own.ms + fairShare.queueMs

  return Math.max(rate.value, fairShare.bytesPerMs) *
    Math.max(coveredSilenceMs(path), sharedMs, SILENCE_GAIN * slowPrograms.longestMs, ROUND_TRIP_GAIN * peersData.roundTripMs)
}

/** Data that has arrived since the last mark, and still counts as in flight. Without room for it a slow path would run empty before a pong comes. */
function unconfirmedBytes (path: LearnedPath): number {
  const markMs = Math.max(MARK_INTERVAL_MS, coveredSilenceMs(path) / MARKS_IN_FLIGHT)
  const gapMs = path.pongGap.ms > RARE_PONGS * markMs ? path.pongGap.ms : MARK_INTERVAL_MS

  return Math.max(MIN_MARK_EVERY_BYTES, carriedBytes(path, ROUND_TRIP_GAIN) / MARKS_IN_FLIGHT, path.rate.value * gapMs)
}
