/** A session's configuration: sizes, limits, and the path control. */
import type { CreatePathControl, PathInit } from './path-control.ts'
import type { Limits } from './peer-limits.ts'
import type { NodeBudget } from './window/node-budget.ts'

export interface SessionInit extends PathInit {
  isDialler: boolean
  maxInboundStreams: number
  /** How many streams may be opened before the first answer of the peer, which may not accept streams yet */
  maxUnansweredStreams: number
  /** The receive window of a new stream */
  initialWindowBytes: number
  /** The largest window of a stream */
  maxWindowBytes: number
  /** By how much all windows of the connection together may grow */
  maxGrowthBytes: number
  /** All windows of the node together */
  nodeBudget: NodeBudget
  /** How far a stream may exceed its window. All streams together may as far as windows may grow. */
  maxToleratedBytes: number
  /** Messages are merged into frames, and frames into events, if so many bytes of the stream wait: 0 always, Infinity never */
  mergeFromBytes: number
  /** The largest payload of a frame while no other stream has data, unless the path is fast */
  loneFrameBytes: number
  /** Credit is given back when data arrives, not when it is read */
  creditsOnReceipt: boolean
  createPathControl: CreatePathControl
  limits: Limits
}
