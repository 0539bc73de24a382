/**
 * What a contestant tells the page, some twenty times a second. Of the direction in which the bulk goes, since the beginning.
 */

/** Frames that are in flight, from the one that arrives next on. Where there are too many, neighbours share a cell. */
export interface Cells {
  /** When its first and its last byte arrive, from the time of the report on */
  fromMs: Float32Array
  toMs: Float32Array
  /** Its stream; 0 is a frame without data, such as a ping */
  streamIds: Uint32Array
}

/** The last writes and the frames in them, the newest last */
export interface Writes {
  /** Of each write: how many of the frames below are its own */
  frameCounts: Uint32Array
  frameBytes: Uint32Array
  streamIds: Uint32Array
}

export interface Totals {
  writes: number
  frames: number
  bytes: number
}

export interface Report {
  /** By the clock of the contestant */
  atMs: number
  /** Counted at the transport, whatever the muxer */
  wire: Totals
  /** Counted by the muxer's own metrics; the stock muxer has none. A flush of theirs may be several writes. */
  own?: Omit<Totals, 'writes'>
  /** Has arrived */
  messages: number
  arrivedBytes: number
  /** Handed down and not arrived */
  inFlightBytes: number
  /** Waits in its stream, where it can be overtaken */
  waitingBytes: number
  /** Of urgent messages whose echo has come since the last report, each since it was due */
  latenciesMs: number[]
  /** How long the oldest urgent message without an echo has been waiting */
  oldestMs: number
  cells: Cells
  lastWrites: Writes
}

export const REPORT_EVERY_MS = 50

export type FromContestant = { report: Report } | { failure: string }
