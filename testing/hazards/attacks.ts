/**
 * What a hostile peer may send: each attack is an endless row of frames. The muxer under attack has dialled: its
 * own stream is 1, the peer's ids are even.
 */
import { ACK, data, FIN, goAway, ping, RST, SYN, windowUpdate } from '../protocol/frames.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'

const BYTE = new Uint8Array(1)
const NOTHING = new Uint8Array(0)
const WINDOW_BYTES = 262_144
/** So that a window is soon used up, byte by byte: what is tolerated beyond it is 16 times as much */
const NOTHING_TOLERATED = { streamOptions: { maxReadBufferLength: WINDOW_BYTES } }
const HEADER_OF_A_WINDOW = data(1, new Uint8Array(WINDOW_BYTES)).slice(0, 12)

/** What the muxer's application does */
export interface Application {
  /** Sends so much on stream 1 at the start, and again whenever it may */
  sendsBytes?: number
  /** Answers each new stream with so much, and closes it */
  answersBytes?: number
  /** Aborts each new stream */
  refuses?: boolean
  /** Nobody reads */
  isPaused?: boolean
  /** Reads with `for await` */
  loops?: boolean
}

export interface Attack {
  name: string
  application?: Application
  options?: YamuxMuxerInit
  /** What well-behaved peers ask for too: it is there to compare, and costs what it costs */
  isService?: boolean
  /** For 1,000,000 frames, if it is known to cost more than others: SECURITY.md says how much */
  maxCpuS?: number
  /** The frames of step i, or parts of one */
  frames (i: number): Uint8Array[]
}

/** The peer's ids, from its second stream on */
const id = (i: number): number => 4 + 2 * i

/** With stream 1 and stream 2 as many as are allowed */
const MANY_STREAMS = 998
const IN_A_ROW = 5

/** Opens many streams, and then sends a few frames of a byte for each in turn */
function manyInTurn (i: number): Uint8Array[] {
  return i < MANY_STREAMS ? [windowUpdate(id(i), 0, SYN)] : Array.from({ length: IN_A_ROW }, () => data(id(i % MANY_STREAMS), BYTE))
}

export const ATTACKS: Attack[] = [
  { name: 'pings', frames: i => [ping(i, SYN)] },
  { name: 'pongs nobody asked for', frames: i => [ping(i, ACK)] },
  { name: 'go aways', frames: () => [goAway(0)] },
  { name: 'streams reset at once', frames: i => [windowUpdate(id(i), 0, SYN), windowUpdate(id(i), 0, RST)] },
  { name: 'streams reset at once, answered', application: { answersBytes: 100 }, frames: i => [data(id(i), new Uint8Array(10), SYN), windowUpdate(id(i), 0, RST)] },
  { name: 'no attack: short streams, answered', isService: true, application: { answersBytes: 100 }, frames: i => [data(id(i), new Uint8Array(10), SYN | FIN)] },
  { name: 'streams opened and left alone', frames: i => [windowUpdate(id(i), 0, SYN)] },
  { name: 'streams opened, each with a byte', application: { isPaused: true }, frames: i => [data(id(i), BYTE, SYN)] },
  { name: 'streams the application refuses', application: { refuses: true }, frames: i => [windowUpdate(id(i), 0, SYN)] },
  { name: 'streams in the worst order of ids', frames: i => [windowUpdate(i < 2000 ? 4 + 400 * (i + 1) : 4 + 2 * (i - 2000), 0, SYN)] },
  { name: 'DATA without data', frames: () => [data(1, NOTHING)] },
  { name: 'window updates of nothing', frames: () => [windowUpdate(1, 0)] },
  { name: 'window updates of one byte', frames: () => [windowUpdate(1, 1)] },
  { name: 'window updates of one byte to a sender that waits', application: { sendsBytes: 4_000_000 }, frames: () => [windowUpdate(1, 1)] },
  { name: 'DATA of one byte, read', frames: () => [data(1, BYTE)] },
  { name: 'DATA of one byte, read, messages kept apart', options: { coalesce: { mergeMessages: false } }, frames: () => [data(1, BYTE)] },
  { name: 'DATA of one byte, read by a loop', maxCpuS: 5, application: { loops: true }, frames: () => [data(1, BYTE)] },
  { name: 'DATA of one byte for many streams, read by loops', maxCpuS: 4, application: { loops: true }, frames: manyInTurn },
  { name: 'DATA of one byte, unread', application: { isPaused: true }, options: NOTHING_TOLERATED, frames: () => [data(1, BYTE)] },
  { name: 'DATA of one byte, unread, messages kept apart', application: { isPaused: true }, options: { ...NOTHING_TOLERATED, coalesce: { mergeMessages: false } }, frames: () => [data(1, BYTE)] },
  { name: 'one frame of a whole window, byte by byte', application: { isPaused: true }, options: NOTHING_TOLERATED, frames: i => [i % (WINDOW_BYTES + 1) === 0 ? HEADER_OF_A_WINDOW : BYTE] },
  { name: 'one frame of a whole window, byte by byte, messages kept apart', application: { isPaused: true }, options: { ...NOTHING_TOLERATED, coalesce: { mergeMessages: false } }, frames: i => [i % (WINDOW_BYTES + 1) === 0 ? HEADER_OF_A_WINDOW : BYTE] },
  { name: 'DATA for streams that are not open', frames: i => [data(id(i), BYTE)] },
  { name: 'credit for streams that are not open', frames: i => [windowUpdate(id(i), 1)] }
]
