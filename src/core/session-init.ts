/** What a session is made with: sizes, limits, and what decides how much may be in flight. */
import type { CreatePathControl, PathInit } from './path-control.ts'
import type { Limits } from './peer-limits.ts'

export interface SessionInit extends PathInit {
  isDialler: boolean
  maxInboundStreams: number
  /** How many streams may be opened before the peer has answered anything: it may not listen for streams yet */
  maxUnansweredStreams: number
  /** What every new stream's receive window is raised to */
  initialWindowBytes: number
  /** What it may grow to */
  maxWindowBytes: number
  /** What all windows of the connection may grow by together */
  maxGrowthBytes: number
  /** What a stream may bring beyond its window, as far as all windows may grow */
  maxToleratedBytes: number
  /** Messages share frames from when so many bytes of their stream wait, and so do events on receipt: 0 always, Infinity never */
  mergeFromBytes: number
  /** The largest payload of a frame that no other stream waits behind, on a path that is not fast */
  loneFrameBytes: number
  /** Credit is given back for what arrives, not for what is read */
  creditsOnReceipt: boolean
  createPathControl: CreatePathControl
  limits: Limits
}
