/**
 * What a stream asks of its muxer.
 */
import type { YamuxStream } from './stream.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { LaneOf } from '../priority.ts'
import type { Logger } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface StreamHost {
  /** Credit is given back for what arrives, so it does not bound what is unread */
  readonly creditsOnReceipt: boolean
  readonly laneOf: LaneOf
  write (state: StreamState<YamuxStream>, data: Uint8Array | Uint8ArrayList): void
  closeWrite (state: StreamState<YamuxStream>): void
  /** Writes what is queued as far as credit and transport allow, inside the call; before a reset, which discards the rest */
  handDown (state: StreamState<YamuxStream>): void
  reset (state: StreamState<YamuxStream>, errorCode: number): void
  read (state: StreamState<YamuxStream>, payloadBytes: number): void
  /** Moves the stream to another of the LANES */
  setLane (state: StreamState<YamuxStream>, lane: number): void
  /** Runs `task` when the event loop has come round, a millisecond later or so */
  later (task: () => void): void
  /** It has another `inactivityTimeout` */
  onTimeoutChanged (state: StreamState<YamuxStream>): void
  /** Its lines begin with `label` */
  createLog (label: string): Logger
  /** One line at debug level, for a stream that may have no log of its own */
  logDebug (describe: () => string): void
}
