/** The application's side of a stream, as far as the host calls it. */
import type { StreamState } from '../core/stream-state.ts'

export interface StreamOwner {
  readonly inactivityTimeout: number
  readonly maxReadBufferLength: number
  /** The application has not begun to read */
  readonly isLeftUnread: boolean
  /** The application reads, or has paused */
  readonly isBeingRead: boolean
  /** Something has happened to the stream: bits of EVENT_* */
  handle (events: number): void
  /** Ends the stream without an error: this side has sent everything, and the application reads nothing */
  refuseRest (): void
  abort (err: Error): void
}

export type State = StreamState<StreamOwner>

/**
 * This side has opened the stream and sent everything, and its program has still to read data that has arrived. Streams of the peer do not count:
 * a program may drop their iterators, and the peer could then keep all that it may open.
 */
export function waitsForReader ({ isOutbound, life, owner, unreadBytes }: State): boolean {
  return isOutbound && life.writeStatus === 'closed' && unreadBytes > 0 && owner?.isBeingRead === true
}

/** This side has closed a stream of the peer and has not begun to read it, and the peer has used up its window. It may never be read. */
export function isNeverRead ({ hasClosedPeersStream, isStalled, owner }: State): boolean {
  return hasClosedPeersStream && isStalled && owner?.isLeftUnread === true
}
