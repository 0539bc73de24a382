// The workload and the link of the go-yamux study of write coalescing.
import type { ConstantLink } from '../../../testing/relay/link.ts'

export const STREAMS = 1000
export const MESSAGE_BYTES = 4096
/** Each stream sends one message in this time */
export const INTERVAL_MS = 100

const LINK_BYTES_PER_MS = 125_000
/** Half of the round trip of 100 ms */
export const LINK_DELAY_MS = 50

/** 1 Gbit/s, with room for what fits into a round trip: twice of what is on its way at the full rate */
export const LINK: ConstantLink = { bytesPerMs: LINK_BYTES_PER_MS, delayMs: LINK_DELAY_MS, bufferBytes: LINK_BYTES_PER_MS * LINK_DELAY_MS * 2 }

export const WARM_UP_MS = 2000
