// The side that receives: verifies all that comes, and notes when urgent messages and everybody's share come.
import { isAt, startOfStream } from '../../scenarios/pattern.ts'
import { onIndexed } from '../../scenarios/stream-index.ts'
import { closeWhenRemoteDoes } from '../../scenarios/streams.ts'
import { BULK_STREAMS, URGENT_INDEX, URGENT_MESSAGE_BYTES } from './workload.ts'
import type { Probe } from './sender.ts'
import type { Phases } from './workload.ts'
import type { Stream } from '@libp2p/interface'

/** How the streams that saturate the connection fared in the measured time */
export interface Shares {
  bytesOfStream: number[]
  /** The longest time in which a stream got nothing */
  longestGapMs: number
  measuredMs: number
}

/** One entry for each urgent message */
export interface Arrived {
  arrivedAtMs: Float64Array
  /** What had come in by then, the message included */
  cameInBytes: Float64Array
  /** What had come in at some instants, in their order */
  progress: Progress
}

export interface Progress {
  atMs: number[]
  cameInBytes: number[]
}

/** Close enough to interpolate, far enough apart not to cost anything */
const PROGRESS_INTERVAL_MS = 5

export interface Receiver {
  onStream(stream: Stream): void
  /** The measured time begins so long after the first byte. Resolves when it is over. */
  watch(phases: Phases): Promise<Shares>
  /** Resolves when so many bytes of each stream are there and verified */
  arrived(bytesOfStream: number[]): Promise<Arrived>
}

export function createReceiver (probe: Probe): Receiver {
  const { nowMs, passedBytes } = probe
  const verifiedBytes = Array.from({ length: BULK_STREAMS + 1 }, () => 0)
  const arrivedAtMs: number[] = []
  const cameInBytes: number[] = []
  const progress: Progress = { atMs: [], cameInBytes: [] }
  const failed = Promise.withResolvers<never>()
  let expectedBytes: number[] | undefined
  let complete = Promise.withResolvers<void>()
  let onBulk: ((index: number, byteLength: number) => void) | undefined

  // those who wait learn of it
  failed.promise.catch(() => {})

  function checkComplete (): void {
    if (expectedBytes?.every((expected, index) => verifiedBytes[index] >= expected) === true) {
      complete.resolve()
    }
  }

  function onBytes (index: number, bytes: Uint8Array): void {
    if (!isAt(startOfStream(index) + verifiedBytes[index], bytes)) {
      failed.reject(new Error(`Stream ${index} got wrong bytes after ${verifiedBytes[index]} right ones`))
      return
    }

    verifiedBytes[index] += bytes.byteLength

    if (index === URGENT_INDEX) {
      while (arrivedAtMs.length < Math.floor(verifiedBytes[index] / URGENT_MESSAGE_BYTES)) {
        arrivedAtMs.push(nowMs())
        cameInBytes.push(passedBytes())
      }
    } else {
      onBulk?.(index, bytes.byteLength)
    }

    noteProgress(progress, probe)
    checkComplete()
  }

  return {
    onStream (stream) {
      closeWhenRemoteDoes(stream)
      onIndexed(stream, index => bytes => { onBytes(index, bytes) })
    },

    async watch (phases) {
      const measured = Promise.withResolvers<Shares>()
      onBulk = shareCounter(phases, nowMs, measured.resolve)

      return Promise.race([measured.promise, failed.promise])
    },

    async arrived (bytesOfStream) {
      onBulk = undefined
      expectedBytes = bytesOfStream
      complete = Promise.withResolvers()
      checkComplete()
      await Promise.race([complete.promise, failed.promise])

      return { arrivedAtMs: Float64Array.from(arrivedAtMs), cameInBytes: Float64Array.from(cameInBytes), progress }
    }
  }
}

function noteProgress (progress: Progress, { nowMs, passedBytes }: Probe): void {
  const atMs = nowMs()

  if (atMs - (progress.atMs.at(-1) ?? -Infinity) >= PROGRESS_INTERVAL_MS) {
    progress.atMs.push(atMs)
    progress.cameInBytes.push(passedBytes())
  }
}

function shareCounter (phases: Phases, nowMs: () => number, onMeasured: (shares: Shares) => void): (index: number, byteLength: number) => void {
  const bytesOfStream = Array.from({ length: BULK_STREAMS }, () => 0)
  let fromMs: number | undefined
  let longestGapMs = 0
  let lastAtMs: number[] = []

  return (index, byteLength) => {
    const atMs = nowMs()

    if (fromMs === undefined) {
      fromMs = atMs + phases.warmUpMs
      const startMs = fromMs
      lastAtMs = bytesOfStream.map(() => startMs)
    }

    const endMs = fromMs + phases.measuredMs

    if (atMs >= endMs) {
      // who got nothing up to the end has waited as well
      longestGapMs = Math.max(longestGapMs, ...lastAtMs.map(lastMs => endMs - lastMs))
      onMeasured({ bytesOfStream, longestGapMs, measuredMs: phases.measuredMs })
    } else if (atMs >= fromMs) {
      longestGapMs = Math.max(longestGapMs, atMs - lastAtMs[index])
      lastAtMs[index] = atMs
      bytesOfStream[index] += byteLength
    }
  }
}
