/**
 * What a capture shows, in words and numbers: frames, the longest waits, and how much each row has in a window.
 */
import { FLAG_SYN, TYPE_DATA, TYPE_WINDOW_UPDATE } from '../../src/core/wire/frame.ts'
import { describeFrame } from '../../src/observe/frame-trace.ts'
import { toBytes, toTime } from '../page/text.ts'
import { firstFrom, lengthUs, overlapUs } from './window.ts'
import type { Capture, Connection, Frame, Stream } from './timeline.ts'
import type { TimeWindow } from './window.ts'

const US_PER_MS = 1000
const US_PER_S = 1e6

export type Row = Connection | Stream

/** A span of time in which something could not be sent, or was under way */
export interface Wait extends TimeWindow {
  row: Row
  what: string
}

/** Of one row in a window */
export interface Summary {
  row: Row
  sentFrames: number
  sentBytes: number
  receivedFrames: number
  receivedBytes: number
  updates: number
  /** Of the two sides together */
  withoutCreditUs: number
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 })

export function isStream (row: Row): row is Stream {
  return 'id' in row
}

export function nameOf (row: Row): string {
  if (!isStream(row)) {
    return 'connection'
  }

  return [`stream ${row.id}`, row.protocol, row.isOutbound == null ? 'opened before' : row.isOutbound ? 'outbound' : 'inbound'].filter(part => part != null).join(' ')
}

/** `DATA 5 ACK 100 bytes` as in the trace, with its time, and what is known beside it */
export function textOf (frame: Frame, startUs: number): string {
  const { atUs, isSent, type, flags, streamId, length, creditBytes, roundTrip } = frame
  const parts = [`${isSent ? '->' : '<-'} ${describeFrame(type, flags, streamId, length)}`, toOffset(atUs - startUs), toClock(atUs)]

  if (creditBytes != null && (type === TYPE_DATA || type === TYPE_WINDOW_UPDATE)) {
    parts.push(`${isSent === (type === TYPE_DATA) ? 'credit' : 'the peer’s credit'} ${toBytes(creditBytes)}`)
  }

  if (roundTrip != null) {
    parts.push(roundTrip.toUs === Infinity ? 'no pong yet' : `round trip ${toTime(lengthUs(roundTrip) / US_PER_MS)}`)
  }

  return parts.join(' · ')
}

export function toClock (atUs: number): string {
  return clock.format(atUs / US_PER_MS)
}

/** Since the capture began */
export function toOffset (us: number, decimals = 6): string {
  return `${us < 0 ? '−' : '+'}${(Math.abs(us) / US_PER_S).toFixed(decimals)} s`
}

/** The longest first. Of those of one row that overlap, the longest stands for all. */
export function longestWaits (capture: Capture, connection: Connection, most: number): Wait[] {
  const endUs = capture.endUs(connection)
  const waits = [...waitsOf(connection)].map(wait => ({ ...wait, toUs: Math.min(wait.toUs, endUs) })).sort((a, b) => lengthUs(b) - lengthUs(a))
  const longest: Wait[] = []

  for (let i = 0; i < waits.length && longest.length < most; i++) {
    if (!longest.some(({ row, fromUs, toUs }) => row === waits[i].row && fromUs < waits[i].toUs && toUs > waits[i].fromUs)) {
      longest.push(waits[i])
    }
  }

  return longest
}

function * waitsOf (connection: Connection): Generator<Wait> {
  for (const { fromUs, toUs, isMark } of connection.roundTrips) {
    const name = isMark ? 'mark' : 'ping'
    yield { row: connection, what: toUs === Infinity ? `${name} without a pong` : `round trip of a ${name}`, fromUs, toUs }
  }

  for (const stream of connection.streams) {
    yield * stream.sent.waits.map(span => ({ row: stream, what: 'no credit left', ...span }))
    yield * stream.received.waits.map(span => ({ row: stream, what: 'the peer had no credit left', ...span }))
  }
}

/** Those with a frame in the window, or without credit there */
export function summarise (capture: Capture, connection: Connection, window: TimeWindow): Summary[] {
  const endUs = capture.endUs(connection)

  return [connection, ...connection.streams].map(row => summariseRow(row, window, endUs)).filter(({ sentFrames, receivedFrames, withoutCreditUs }) =>
    sentFrames + receivedFrames + withoutCreditUs > 0)
}

function summariseRow (row: Row, window: TimeWindow, endUs: number): Summary {
  const summary: Summary = { row, sentFrames: 0, sentBytes: 0, receivedFrames: 0, receivedBytes: 0, updates: 0, withoutCreditUs: 0 }
  const { frames } = row

  for (let i = firstFrom(frames, window.fromUs); i < frames.length && frames[i].atUs < window.toUs; i++) {
    const { type, isSent, flags, length } = frames[i]
    const bytes = type === TYPE_DATA ? length : 0

    if (isSent) {
      summary.sentFrames++
      summary.sentBytes += bytes
    } else {
      summary.receivedFrames++
      summary.receivedBytes += bytes
    }

    if (type === TYPE_WINDOW_UPDATE && (flags & FLAG_SYN) === 0 && length > 0) {
      summary.updates++
    }
  }

  if (isStream(row)) {
    for (const span of [...row.sent.waits, ...row.received.waits]) {
      summary.withoutCreditUs += overlapUs(span, window, endUs)
    }
  }

  return summary
}
