/**
 * A row's frames in the columns of its picture: however many share one, the picture costs the same. Runs for each frame that is in view.
 */
import { FLAG_FIN, FLAG_RST, FLAG_SYN, FIRST_MARK_VALUE, INITIAL_WINDOW_BYTES, TYPE_DATA, TYPE_GO_AWAY, TYPE_PING, TYPE_WINDOW_UPDATE } from '../../src/core/wire/frame.ts'
import { firstFrom, lengthUs } from './window.ts'
import type { Frame, RoundTrip, Span } from './timeline.ts'
import type { TimeWindow } from './window.ts'

/** What a column has, as bits */
export const Kind = {
  Data: 1,
  Update: 2,
  Syn: 4,
  Fin: 8,
  Rst: 16,
  Ping: 32,
  Mark: 64,
  GoAway: 128
} as const

/** One direction of a row */
export interface Bins {
  kinds: Uint8Array
  /** Of payload */
  bytes: Float64Array
  /** Whether the credit of the side that sends in this direction changes in a column. If so, its least and its most there, and the last. NaN is not known. */
  hasCredit: Uint8Array
  leastCredit: Float64Array
  mostCredit: Float64Array
  lastCredit: Float64Array
  /** At the left edge */
  firstCredit: number
  dataBytes: number
}

export interface RowBins {
  sent: Bins
  received: Bins
}

function createBins (columns: number): Bins {
  const credit = (): Float64Array => new Float64Array(columns).fill(NaN)

  return {
    kinds: new Uint8Array(columns),
    bytes: new Float64Array(columns),
    hasCredit: new Uint8Array(columns),
    leastCredit: credit(),
    mostCredit: credit(),
    lastCredit: credit(),
    firstCredit: NaN,
    dataBytes: 0
  }
}

export function binFrames (frames: readonly Frame[], window: TimeWindow, columns: number): RowBins {
  const bins = { sent: createBins(columns), received: createBins(columns) }
  const columnsPerUs = columns / lengthUs(window)
  const start = firstFrom(frames, window.fromUs)
  bins.sent.firstCredit = creditBefore(frames, start, true)
  bins.received.firstCredit = creditBefore(frames, start, false)

  for (let i = start; i < frames.length && frames[i].atUs < window.toUs; i++) {
    const frame = frames[i]
    const { atUs, isSent, type, length } = frame
    const column = Math.min(columns - 1, Math.floor((atUs - window.fromUs) * columnsPerUs))
    const direction = isSent ? bins.sent : bins.received
    direction.kinds[column] |= kindsOf(frame)

    if (begins(frames, i)) {
      setCredit(bins.sent, column, INITIAL_WINDOW_BYTES)
      setCredit(bins.received, column, INITIAL_WINDOW_BYTES)
    }

    if (type === TYPE_DATA) {
      direction.bytes[column] += length
      direction.dataBytes += length
    }

    for (const side of [true, false]) {
      const credit = creditAfter(frame, side)

      if (credit !== undefined) {
        setCredit(side ? bins.sent : bins.received, column, credit)
      }
    }
  }

  return bins
}

function setCredit ({ hasCredit, leastCredit, mostCredit, lastCredit }: Bins, column: number, credit: number): void {
  hasCredit[column] = 1
  lastCredit[column] = credit

  // not Math.min, of which NaN would make NaN
  if (leastCredit[column] > credit || Number.isNaN(leastCredit[column])) {
    leastCredit[column] = credit
  }

  if (mostCredit[column] < credit || Number.isNaN(mostCredit[column])) {
    mostCredit[column] = credit
  }
}

/** A stream's first frame, if the capture has it */
function begins (frames: readonly Frame[], index: number): boolean {
  return index === 0 && (frames[0].flags & FLAG_SYN) !== 0
}

/** What this side, or the peer, may still send after a frame. NaN if that is not known or nothing more comes; undefined if the frame does not change it. */
function creditAfter ({ type, flags, isSent, creditBytes }: Frame, ofThisSide: boolean): number | undefined {
  if ((flags & FLAG_RST) !== 0 || ((flags & FLAG_FIN) !== 0 && isSent === ofThisSide)) {
    return NaN
  }

  const isChanged = (type === TYPE_DATA || type === TYPE_WINDOW_UPDATE) && ofThisSide === (isSent === (type === TYPE_DATA))

  return isChanged ? creditBytes ?? NaN : undefined
}

function creditBefore (frames: readonly Frame[], index: number, ofThisSide: boolean): number {
  for (let i = index - 1; i >= 0; i--) {
    const credit = creditAfter(frames[i], ofThisSide)

    if (credit !== undefined) {
      return credit
    }

    if (begins(frames, i)) {
      return INITIAL_WINDOW_BYTES
    }
  }

  return NaN
}

function kindsOf ({ type, flags, length }: Frame): number {
  switch (type) {
    case TYPE_PING:
      return length < FIRST_MARK_VALUE ? Kind.Ping : Kind.Mark
    case TYPE_GO_AWAY:
      return Kind.GoAway
    default:
      return (type === TYPE_DATA && length > 0 ? Kind.Data : 0) |
        (type === TYPE_WINDOW_UPDATE && length > 0 && (flags & FLAG_RST) === 0 ? Kind.Update : 0) |
        ((flags & FLAG_SYN) !== 0 ? Kind.Syn : 0) |
        ((flags & FLAG_FIN) !== 0 ? Kind.Fin : 0) |
        ((flags & FLAG_RST) !== 0 ? Kind.Rst : 0)
  }
}

/** Which part of each column's time is in one of the spans. `endUs` is when those that go on are to end. */
export function binSpans (spans: readonly Span[], window: TimeWindow, columns: number, endUs: number): Float32Array {
  const parts = new Float32Array(columns)

  eachSpan(spans, window, columns, endUs, (from, to) => {
    for (let column = Math.floor(from); column < Math.min(columns, to); column++) {
      parts[column] += Math.min(column + 1, to) - Math.max(column, from)
    }
  })

  return parts
}

/** The longest of the round trips that are under way in each column, in microseconds */
export function binRoundTrips (roundTrips: readonly RoundTrip[], window: TimeWindow, columns: number, endUs: number): Float64Array {
  const longest = new Float64Array(columns)

  eachSpan(roundTrips, window, columns, endUs, (from, to, span) => {
    const spanUs = Math.min(span.toUs, endUs) - span.fromUs

    for (let column = Math.floor(from); column < Math.min(columns, to); column++) {
      longest[column] = Math.max(longest[column], spanUs)
    }
  })

  return longest
}

/** Those in the window, from where to where in columns */
function eachSpan (spans: readonly Span[], window: TimeWindow, columns: number, endUs: number, visit: (from: number, to: number, span: Span) => void): void {
  const columnsPerUs = columns / lengthUs(window)

  for (const span of spans) {
    const toUs = Math.min(span.toUs, endUs)

    if (toUs > window.fromUs && span.fromUs < window.toUs) {
      visit(Math.max(0, (span.fromUs - window.fromUs) * columnsPerUs), Math.min(columns, (toUs - window.fromUs) * columnsPerUs), span)
    }
  }
}
