/** The connection, as far as its streams call it. */
import type { DataLanes } from '../core/scheduler/lanes.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { StreamLog } from '../observe/log.ts'
import type { Config } from '../options/config.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface StreamHost<Stream> {
  readonly session: { readonly lanes: Pick<DataLanes<Stream>, 'isFull' | 'mayResume'> }
  readonly config: Pick<Config, 'creditsOnReceipt' | 'laneOf'>
  readonly clock: { setTimer (task: () => void, delayMs: number): unknown }
  readonly streamLog: StreamLog
  readonly timers: { watch (state: StreamState<Stream>): void }
  readonly stalls: { suspect (state: StreamState<Stream>): void, forget (state: StreamState<Stream>): void }
  send (state: StreamState<Stream>, data: Uint8Array | Uint8ArrayList): void
  setLane (state: StreamState<Stream>, lane: number): void
  closeWrite (state: StreamState<Stream>): void
  flushBeforeReset (state: StreamState<Stream>): void
  flushWhile (shouldGoOn: () => boolean): void
  reset (state: StreamState<Stream>, errorCode: number): void
  read (state: StreamState<Stream>, payloadBytes: number): void
}

/** The list that holds the stream */
export interface StreamRegistry<Stream> {
  isUnannounced (stream: Stream): boolean
  cancelAnnouncement (stream: Stream): void
  settle (): void
}
