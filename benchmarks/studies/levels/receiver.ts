// The side that receives: verifies all that comes, and notes when urgent messages and everybody's share come.
import { onVerified } from '../../../testing/verified/stream-index.ts'
import { closeWhenRemoteDoes } from '../../../testing/verified/streams.ts'
import { BULK_STREAMS, MEASURED_MS, URGENT_INDEX, URGENT_MESSAGE_BYTES, WARM_UP_MS } from './workload.ts'
import type { Stream } from '@libp2p/interface'

/** What had come in at an instant, since the connection began */
export interface Arrival {
  atMs: number
  cameInBytes: number
}

/** How the streams that saturate the connection fared in the measured time */
export interface Shares {
  bytesOfStream: number[]
  /** The longest time in which a stream got nothing */
  longestGapMs: number
}

export interface Receiver {
  /** One entry for each urgent message, which is among what had come in */
  urgent: Arrival[]
  /** Some instants, in their order */
  progress: Arrival[]
  onStream(stream: Stream): void
  /** Resolves when the measured time is over, which begins some time after the first byte */
  watch(): Promise<Shares>
  /** Resolves when so many bytes of each stream are there and verified */
  arrived(bytesOfStream: number[]): Promise<void>
}

/** Close enough to interpolate */
const PROGRESS_INTERVAL_MS = 5

export function createReceiver (now: () => Arrival): Receiver {
  const verifiedBytes = Array.from({ length: BULK_STREAMS + 1 }, () => 0)
  const urgent: Arrival[] = []
  const progress: Arrival[] = []
  let onBytesOf: ((index: number, byteLength: number) => void) | undefined

  function onRight (index: number, byteLength: number): void {
    const arrival = now()
    verifiedBytes[index] += byteLength

    while (urgent.length < Math.floor(verifiedBytes[URGENT_INDEX] / URGENT_MESSAGE_BYTES)) {
      urgent.push(arrival)
    }

    if (arrival.atMs - (progress.at(-1)?.atMs ?? -Infinity) >= PROGRESS_INTERVAL_MS) {
      progress.push(arrival)
    }

    onBytesOf?.(index, byteLength)
  }

  return {
    urgent,
    progress,

    onStream (stream) {
      closeWhenRemoteDoes(stream)
      onVerified(stream, onRight, err => { throw err })
    },

    async watch () {
      const measured = Promise.withResolvers<Shares>()
      onBytesOf = shareCounter(() => now().atMs, measured.resolve)

      return measured.promise
    },

    async arrived (bytesOfStream) {
      const complete = Promise.withResolvers<void>()

      onBytesOf = () => {
        if (bytesOfStream.every((expected, index) => verifiedBytes[index] >= expected)) {
          complete.resolve()
        }
      }
      onBytesOf(0, 0)

      return complete.promise
    }
  }
}

function shareCounter (nowMs: () => number, onMeasured: (shares: Shares) => void): (index: number, byteLength: number) => void {
  const bytesOfStream = Array.from({ length: BULK_STREAMS }, () => 0)
  let fromMs: number | undefined
  let longestGapMs = 0
  let lastAtMs: number[] = []

  return (index, byteLength) => {
    if (index === URGENT_INDEX) {
      return
    }

    const atMs = nowMs()

    if (fromMs === undefined) {
      fromMs = atMs + WARM_UP_MS
      lastAtMs = Array.from({ length: BULK_STREAMS }, () => atMs + WARM_UP_MS)
    }

    const endMs = fromMs + MEASURED_MS

    if (atMs >= endMs) {
      // who got nothing up to the end has waited as well
      longestGapMs = Math.max(longestGapMs, ...lastAtMs.map(lastMs => endMs - lastMs))
      onMeasured({ bytesOfStream, longestGapMs })
    } else if (atMs >= fromMs) {
      longestGapMs = Math.max(longestGapMs, atMs - lastAtMs[index])
      lastAtMs[index] = atMs
      bytesOfStream[index] += byteLength
    }
  }
}
