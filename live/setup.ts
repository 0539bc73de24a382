/**
 * What is contested: the link, the application and the options of our muxer. The page chooses it, the workers run it.
 */
import type { Strategy } from '../src/index.ts'

export type ContestantName = 'ours' | 'stock'

export interface LinkSetup {
  /** In each direction; Infinity is a link that takes everything at once */
  mbitPerS: number
  /** From one end to the other */
  delayMs: number
  /** What may wait at the ends of the link, as in a kernel's socket buffers, before the transport says "wait" */
  bufferBytes: number
}

export interface Setup extends LinkSetup {
  /** Streams that send as much as they may */
  streams: number
  messageBytes: number
  /** How many of its messages each of them has on their way at most; Infinity: as many as fit */
  messagesAhead: number
  /** Between two messages of 100 bytes on one more stream, which the peer sends back */
  urgentEveryMs: number
  /** Whether that stream is marked urgent, which only our muxer knows how to do */
  isMarked: boolean
  strategy: Strategy
  maxQueueDelayMs: number
}

export const URGENT_MESSAGE_BYTES = 100

const choices = {
  mbitPerS: [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, Infinity],
  delayMs: [0, 1, 2, 5, 10, 20, 50, 100, 200],
  bufferBytes: [65_536, 131_072, 262_144, 524_288, 1_048_576, 2_097_152, 4_194_304, 8_388_608],
  streams: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  messageBytes: [20, 50, 100, 200, 500, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576],
  messagesAhead: [1, 2, 5, 10, 20, 50, Infinity],
  urgentEveryMs: [10, 20, 50, 100, 200, 500],
  isMarked: [true, false],
  strategy: ['turn', 'delay', 'adaptive', 'off'],
  maxQueueDelayMs: [1, 2, 5, 10, 20, 50, 100, 200, Infinity]
} satisfies { [Name in keyof Setup]: Array<Setup[Name]> }

/** What each setting may be: sliders move from one to the next */
export const CHOICES: { [Name in keyof Setup]: ReadonlyArray<Setup[Name]> } = choices

export const SETTINGS = Object.keys(choices) as Array<keyof Setup>

/** These change while the link is in use; the others begin anew */
export const LINE_SETTINGS: ReadonlyArray<keyof Setup> = ['mbitPerS', 'delayMs', 'bufferBytes'] satisfies Array<keyof LinkSetup>
