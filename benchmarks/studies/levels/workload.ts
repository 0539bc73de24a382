// What is sent, and for how long: streams that saturate the connection, and one that must not wait for them.
export const BULK_STREAMS = 20
export const BULK_MESSAGE_BYTES = 65_536
/** Opened behind the others */
export const URGENT_INDEX = BULK_STREAMS
export const URGENT_MESSAGE_BYTES = 100
export const URGENT_INTERVAL_MS = 10

/** How long urgent messages are sent; those of the warm-up do not count. Nobody waits for these, so that p99 is over 600 messages. */
export const WARM_UP_MS = 1000
export const MEASURED_MS = 6000

export interface Saturated {
  megabitsPerS: number
  roundTripMs: number
  /** What the sender's socket takes before it says to wait */
  socketBufferBytes: number
}

/** As much as kernels take */
const KERNEL_BUFFER_BYTES = 2_097_152

/** 65,518 is 65,536 without what Noise would add to a write, which makes a full write, 65,519 bytes, fill it */
export const SATURATED: Saturated[] = [
  ...[65_536, 65_518, 16_384, 262_144, KERNEL_BUFFER_BYTES].map(socketBufferBytes => ({ megabitsPerS: 10, roundTripMs: 40, socketBufferBytes })),
  { megabitsPerS: 2, roundTripMs: 50, socketBufferBytes: KERNEL_BUFFER_BYTES },
  { megabitsPerS: 100, roundTripMs: 20, socketBufferBytes: KERNEL_BUFFER_BYTES }
]

/** 1 Gbit/s, for what shows only while there is nothing else to send */
export const FAST_LINK = { rateBytesPerS: 125_000_000, segmentBytes: 1460 }
export const IDLE_DELAYS_MS = [0.5, 20]
/** Not a whole number of milliseconds, as timers are */
export const IDLE_INTERVAL_MS = 17.3
export const IDLE_MESSAGES = 50
/** Above the watermark, which is 0.8 of a write, and below a whole write */
export const NEARLY_A_WRITE_BYTES = 57_344
