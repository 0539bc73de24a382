// When bytes that wait for a link pass it: at a constant rate, or at recorded opportunities. Pure: the time is an argument.

/** Bytes that pass together, and when the last of them has */
export interface Turn {
  byteLength: number
  atMs: number
}

/** The next turn for bytes that wait at `nowMs`; those ahead of them have had theirs */
export type Schedule = (waitingBytes: number, nowMs: number) => Turn

/** What one recorded opportunity carries, as Mahimahi has it */
export const PACKET_BYTES = 1500

export function atRate (bytesPerMs: number, segmentBytes = Infinity): Schedule {
  let wireFreeMs = 0

  return (waitingBytes, nowMs) => {
    const byteLength = Math.min(waitingBytes, segmentBytes)
    wireFreeMs = Math.max(wireFreeMs, nowMs) + byteLength / bytesPerMs

    return { byteLength, atMs: wireFreeMs }
  }
}

/**
 * Each opportunity carries a packet or less. What passes with nothing waiting is lost. The replay begins anew with the
 * last opportunity, whose time is later than 0.
 */
export function atOpportunities (opportunitiesMs: Float64Array, startMs: number): Schedule {
  const periodMs = opportunitiesMs[opportunitiesMs.length - 1]
  let replayMs = startMs
  let next = 0
  let atMs = -Infinity
  let roomBytes = 0

  return (waitingBytes, nowMs) => {
    while (roomBytes === 0 || atMs < nowMs) {
      atMs = replayMs + opportunitiesMs[next++]
      roomBytes = PACKET_BYTES

      if (next === opportunitiesMs.length) {
        next = 0
        replayMs += periodMs
      }
    }

    const byteLength = Math.min(waitingBytes, roomBytes)
    roomBytes -= byteLength

    return { byteLength, atMs }
  }
}
