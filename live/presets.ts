/**
 * Setups worth seeing.
 */
import type { Setup } from './setup.ts'

export interface Preset {
  name: string
  /** What to look at */
  hint: string
  setup: Setup
}

const defaults = { messagesAhead: Infinity, urgentEveryMs: 100, isMarked: true, strategy: 'turn', maxQueueDelayMs: 10 } as const

export const presets: Preset[] = [
  {
    name: 'Home uplink',
    hint: 'Five transfers fill a link of 10 Mbit/s. An urgent message waits behind all that was handed down before it.',
    setup: { ...defaults, mbitPerS: 10, delayMs: 20, bufferBytes: 1_048_576, streams: 5, messageBytes: 65_536 }
  },
  {
    name: 'Small messages',
    hint: 'Ten streams send messages of 100 bytes over a link without a limit: how many can one busy thread of your machine send and receive?',
    setup: { ...defaults, mbitPerS: Infinity, delayMs: 0, bufferBytes: 4_194_304, streams: 10, messageBytes: 100 }
  },
  {
    name: '1,000 streams',
    hint: 'A thousand streams, each with twenty messages of 100 bytes in flight, over a link without a limit. A write holds one frame, or hundreds.',
    setup: { ...defaults, mbitPerS: Infinity, delayMs: 0, bufferBytes: 4_194_304, streams: 1000, messageBytes: 100, messagesAhead: 20 }
  }
]
