/** Who acts for the application on a stream, as far as the host has to know. */
import type { StreamState } from '../core/stream-state.ts'

export interface StreamOwner {
  readonly inactivityTimeout: number
  readonly maxReadBufferLength: number
  /** Nobody has begun to read */
  readonly isLeftUnread: boolean
  /** Something has happened to the stream: bits of EVENT_* */
  handle (events: number): void
  /** Ends the stream without an error: this side has said all, and nobody reads the rest */
  refuseRest (): void
  abort (err: Error): void
}

export type State = StreamState<StreamOwner>

/** This side has closed a stream of the peer, whose window is used up, and nobody has begun to read: perhaps nobody will */
export function isAbandoned ({ hasAnswered, isStalled, owner }: State): boolean {
  return hasAnswered && isStalled && owner?.isLeftUnread === true
}
