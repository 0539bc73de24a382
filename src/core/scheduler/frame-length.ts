/** How long the next frame of a stream is: a whole message, or what credit, the quantum and the batch allow. Hot: runs once per frame. */
import { HEADER_BYTES } from '../wire/frame.ts'
import type { StreamState } from '../stream-state.ts'
import type { Batch } from './batch.ts'

/**
 * The shortest frame that the end of a batch cuts. A shorter one would cost more, in its header and the receiver's work, than the space is
 * worth. The stream keeps its quantum for the next batch.
 */
const MIN_CUT_FRAME_BYTES = 1024

export interface FrameSizes {
  /** The usual length of a frame, and that of a stream which has the connection to itself */
  frameBytes: number
  loneFrameBytes: number
  /** How much each stream may send in a round */
  quantumBytes: number
  /** The most that a stream sends in one go: a quantum, or a frame if that is longer */
  burstBytes: number
}

/** Returns 0 if the batch has no room for a frame. `isLone`: no other stream has data. */
export function choosePayloadBytes (stream: StreamState, isLone: boolean, sizes: FrameSizes, batch: Batch, roomBytes: number): number {
  const wholeBytes = stream.sendQueue.wholeFrameBytes

  // the usual case: a whole message
  if (wholeBytes > 0 && wholeBytes <= roomBytes && wholeBytes <= stream.creditBytes) {
    return wholeBytes
  }

  if (wholeBytes > roomBytes && batch.dataFrameCount > 0) {
    return 0
  }

  // a batch without data has the most room there will ever be, so a message that must not be cut, or exceeds the quantum of a slow path, goes
  // now even if it does not fit
  const exceedsQuantum = sizes.quantumBytes < sizes.frameBytes && sizes.quantumBytes < wholeBytes + HEADER_BYTES

  if (wholeBytes > 0 && (stream.sendQueue.isNeverCut || exceedsQuantum)) {
    return Math.min(wholeBytes, stream.creditBytes)
  }

  const payloadBytes = chooseCutBytes(stream, isLone, sizes, wholeBytes)

  if (payloadBytes <= roomBytes) {
    return payloadBytes
  }

  // an empty batch takes what fits, as the next would have no more room
  return roomBytes < MIN_CUT_FRAME_BYTES && (batch.frameCount > 0 || roomBytes <= 0) ? 0 : roomBytes
}

/** As above, for data that may be cut: as much as credit and the quantum allow */
function chooseCutBytes ({ sendQueue, creditBytes, deficitBytes }: StreamState, isLone: boolean, { loneFrameBytes, quantumBytes, burstBytes }: FrameSizes, wholeBytes: number): number {
  const messageBytes = sendQueue.isMerging ? sendQueue.byteLength : wholeBytes || sendQueue.firstPieceBytes
  const mostBytes = isLone ? Math.max(loneFrameBytes, quantumBytes) : Math.min(deficitBytes, burstBytes)
  // the peer may grant more credit only after the frame, as this muxer does
  const usedCreditBytes = Math.max(Math.min(creditBytes, loneFrameBytes), Math.floor(creditBytes / 2))

  return Math.min(messageBytes, usedCreditBytes, mostBytes)
}

/** The smallest remaining quantum worth a frame. Less than that is carried over to the next quantum. */
export function leastPayloadBytes ({ sendQueue }: StreamState, { quantumBytes }: FrameSizes): number {
  return Math.min(quantumBytes, sendQueue.wholeFrameBytes || MIN_CUT_FRAME_BYTES)
}
