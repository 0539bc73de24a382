// Bulk and small messages over a link of fixed rates, in virtual time: how much arrives, and how long the small messages take.
import { quantile } from 'simple-statistics'
import { simulate } from './simulate.ts'
import type { CreateMuxer } from '../muxers.ts'
import type { LinkOptions } from './link.ts'
import type { Pace } from './pace.ts'
import type { Stream } from '@libp2p/interface'

export const MBIT_BYTES_PER_S = 125_000
const WINDOW_BYTES = 262_144
const BULK_MESSAGE_BYTES = 65_536
const MESSAGE_BYTES = 100
const EVERY_MS = 50
/** What a kernel takes, and where it takes more again */
interface Kernel {
  socketBufferBytes: number
  drainAtBytes: number
}

export const KERNEL: Kernel = { socketBufferBytes: 2_097_152, drainAtBytes: 1_900_000 }
/** Of what is queued when the measurement ends, nothing counts that comes later */
const LATEST_MS = 60_000

/** An end, and what it sends */
export interface End {
  createMuxer: CreateMuxer
  /** The rate at which the link carries what it sends */
  mbit: number
  /** That send all they can */
  streams: number
  /** How that rate changes */
  pace?: Pace
  /** Until when the streams send */
  untilMs?: number
}

export interface BulkWork {
  roundTripMs: number
  /** A read of the socket */
  segmentBytes?: number
  /** In addition to the time in which twice what the streams begin with arrives. 0: what arrives meanwhile counts as well. */
  settledMs?: number
  measuredMs?: number
  /** Of both ends */
  kernel?: Kernel
  /** Each way is longer from then on */
  longer?: LinkOptions['longer']
  /** Nothing passes, either way */
  stalls?: LinkOptions['stalls']
}

/** Of what an end has sent */
export interface Arrived {
  bulkBytes: number
  /** The part of what the link carries meanwhile */
  linkPart: number
  /** Of small messages, one way */
  p99Ms: number
}

interface Side extends Arrived {
  opened: number
  sentMs: number[]
  latenciesMs: number[]
}

export async function drain (stream: Stream): Promise<void> {
  return new Promise(resolve => { stream.addEventListener('drain', () => { resolve() }, { once: true }) })
}

/** What of each end has arrived at the other. Both send small messages, on a stream of their own. */
export async function measureBulk (dialler: End, listener: End, { roundTripMs, segmentBytes = 16_384, settledMs = 5000, measuredMs = 15_000, kernel = KERNEL, longer, stalls }: BulkWork): Promise<[Arrived, Arrived]> {
  return simulate({ endMs: 1e8 }, async sim => {
    const link = sim.connect({
      ...kernel,
      longer,
      stalls,
      segmentBytes,
      rateBytesPerS: Infinity,
      delayMs: roundTripMs / 2 + 0.1,
      toListener: { rateBytesPerS: dialler.mbit * MBIT_BYTES_PER_S, pace: dialler.pace },
      toDialler: { rateBytesPerS: listener.mbit * MBIT_BYTES_PER_S, pace: listener.pace }
    }, { dialler: dialler.createMuxer, listener: listener.createMuxer })
    const muxers = [link.dialler, link.listener]
    const ends = [dialler, listener]
    const sides = ends.map((): Side => ({ bulkBytes: 0, linkPart: 0, p99Ms: 0, opened: 0, sentMs: [], latenciesMs: [] }))
    const work = { isOver: false }

    muxers.forEach((muxer, index) => {
      const side = sides[1 - index]

      muxer.addEventListener('stream', ({ detail: stream }) => {
        const isBulk = side.opened++ > 0
        let receivedBytes = 0

        stream.addEventListener('message', ({ data }) => {
          if (isBulk) {
            side.bulkBytes += data.byteLength
            return
          }

          for (receivedBytes += data.byteLength; side.latenciesMs.length < Math.floor(receivedBytes / MESSAGE_BYTES);) {
            side.latenciesMs.push(sim.nowMs - side.sentMs[side.latenciesMs.length])
          }
        })
      })
    })

    const saturate = async (stream: Stream, untilMs: number): Promise<void> => {
      while (!work.isOver && sim.nowMs < untilMs) {
        if (!stream.send(new Uint8Array(BULK_MESSAGE_BYTES))) {
          await drain(stream)
        }
      }
    }

    const small = await Promise.all(muxers.map(async muxer => muxer.createStream()))
    await sim.sleep(3 * roundTripMs + 10)

    for (const [index, { streams, untilMs = Infinity }] of ends.entries()) {
      for (let stream = 0; stream < streams; stream++) {
        saturate(await muxers[index].createStream(), untilMs).catch(() => {})
      }
    }

    const firstWindowsMs = Math.max(...ends.map(({ streams, mbit }) => 2000 * streams * WINDOW_BYTES / (mbit * MBIT_BYTES_PER_S)))
    const fromMs = sim.nowMs + (settledMs > 0 ? firstWindowsMs + settledMs : 0)
    let before: Array<{ bulkBytes: number, messages: number }> | undefined

    while (sim.nowMs < fromMs + measuredMs) {
      if (before === undefined && sim.nowMs >= fromMs) {
        before = sides.map(({ bulkBytes, sentMs }) => ({ bulkBytes, messages: sentMs.length }))
      }

      sides.forEach(({ sentMs }, index) => {
        sentMs.push(sim.nowMs)
        small[index].send(new Uint8Array(MESSAGE_BYTES))
      })
      await sim.sleep(EVERY_MS)
    }

    const bulkBytes = sides.map((side, index) => side.bulkBytes - (before?.[index].bulkBytes ?? 0))
    const endMs = sim.nowMs + LATEST_MS
    await sim.until(() => sides.every(({ latenciesMs, sentMs }) => latenciesMs.length === sentMs.length) || sim.nowMs > endMs)
    work.isOver = true

    const [there, back] = sides.map(({ latenciesMs, sentMs }, index) => {
      const { messages = 0 } = before?.[index] ?? {}
      const tookMs = sentMs.slice(messages).map((atMs, message) => latenciesMs[messages + message] ?? sim.nowMs - atMs)

      return { bulkBytes: bulkBytes[index], linkPart: bulkBytes[index] / (ends[index].mbit * MBIT_BYTES_PER_S * measuredMs / 1000), p99Ms: quantile(tookMs, 0.99) }
    })

    return [there, back]
  })
}
