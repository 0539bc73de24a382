// A small message now and then beside streams that always have more to send, in virtual time: exact figures, the same in every run.
import { pEvent } from 'p-event'
import { max, median, min, quantile, sum } from 'simple-statistics'
import { simulate } from '../../../testing/simulation/simulate.ts'
import { eachInterval } from '../../../testing/programs/clock.ts'
import { bytesAt, startOfStream } from '../../../testing/verified/pattern.ts'
import { sendIndex } from '../../../testing/verified/stream-index.ts'
import { closeFully, openStreams } from '../../../testing/verified/streams.ts'
import { createReceiver } from './receiver.ts'
import { setLane } from './variants.ts'
import { BULK_MESSAGE_BYTES, BULK_STREAMS, MEASURED_MS, URGENT_INDEX, URGENT_INTERVAL_MS, URGENT_MESSAGE_BYTES, WARM_UP_MS } from './workload.ts'
import type { Arrival, Receiver, Shares } from './receiver.ts'
import type { Variant } from './variants.ts'
import type { Saturated } from './workload.ts'

export interface Metrics {
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** What the muxer handed down between send() and the message, and the message */
  aheadP99Bytes: number
  /** What it had handed down before send(), and had not come in by then; missing if it is not known */
  belowP50Bytes?: number
  bulkMegabytesPerS: number
  /** Of the streams that saturate the connection: the largest share by the smallest */
  mostByLeast: number
  longestGapMs: number
}

interface Sent {
  atMs: number
  /** What was out of the muxer's hands by then */
  handedDownBytes: number
}

const BYTES_PER_MEGABIT = 125_000
const SEGMENT_BYTES = 1460
const URGENT_MESSAGES = (WARM_UP_MS + MEASURED_MS) / URGENT_INTERVAL_MS

/** Between the instants at which it was noted it grows evenly: the connection is busy */
function cameInBytesAt (instantMs: number, progress: Arrival[]): number | undefined {
  const next = progress.findIndex(({ atMs }) => atMs > instantMs)

  if (next < 1) {
    return undefined
  }

  const [before, after] = [progress[next - 1], progress[next]]
  const part = (instantMs - before.atMs) / (after.atMs - before.atMs)

  return before.cameInBytes + (after.cameInBytes - before.cameInBytes) * part
}

function toMetrics (allSent: Sent[], { urgent, progress }: Receiver, { bytesOfStream, longestGapMs }: Shares): Metrics {
  const messages = allSent.map((sent, index) => ({ sent, arrived: urgent[index] })).slice(WARM_UP_MS / URGENT_INTERVAL_MS)
  const latenciesMs = messages.map(({ sent, arrived }) => arrived.atMs - sent.atMs)
  const belowBytes = messages.flatMap(({ sent }) => {
    const inBytes = cameInBytesAt(sent.atMs, progress)

    return inBytes == null ? [] : [sent.handedDownBytes - inBytes]
  })

  return {
    p50Ms: median(latenciesMs),
    p99Ms: quantile(latenciesMs, 0.99),
    maxMs: max(latenciesMs),
    aheadP99Bytes: quantile(messages.map(({ sent, arrived }) => arrived.cameInBytes - sent.handedDownBytes), 0.99),
    belowP50Bytes: belowBytes.length > 0 ? median(belowBytes) : undefined,
    bulkMegabytesPerS: sum(bytesOfStream) / 1000 / MEASURED_MS,
    mostByLeast: max(bytesOfStream) / min(bytesOfStream),
    longestGapMs
  }
}

export async function simulateSaturated ({ createMuxer, lanes }: Variant, { megabitsPerS, roundTripMs, socketBufferBytes }: Saturated): Promise<Metrics> {
  const link = { rateBytesPerS: megabitsPerS * BYTES_PER_MEGABIT, delayMs: roundTripMs / 2, segmentBytes: SEGMENT_BYTES, socketBufferBytes }

  return simulate({}, async sim => {
    const { dialler, listener, toListener } = sim.connect(link, { dialler: createMuxer, listener: createMuxer })
    const receiver = createReceiver(() => ({ atMs: sim.nowMs, cameInBytes: toListener.bytesArrived }))
    listener.addEventListener('stream', evt => { receiver.onStream(evt.detail) })

    const streams = await openStreams(async () => dialler.createStream(), BULK_STREAMS + 1)
    const sentBytes = streams.map(() => 0)
    const sent: Sent[] = []
    const bulk = { isOn: true }

    streams.forEach((stream, index) => {
      if (lanes != null) {
        setLane(stream, index === URGENT_INDEX ? lanes.urgent : lanes.others)
      }

      sendIndex(stream, index)
    })

    function sendNext (index: number, byteLength: number): boolean {
      const bytes = bytesAt(startOfStream(index) + sentBytes[index], byteLength)
      sentBytes[index] += byteLength

      return streams[index].send(bytes)
    }

    async function saturate (index: number): Promise<void> {
      while (bulk.isOn) {
        if (!sendNext(index, BULK_MESSAGE_BYTES)) {
          // onDrain() of @libp2p/yamux resolves at once after its first use
          await pEvent(streams[index], 'drain', { rejectionEvents: ['close'] })
        }
      }
    }

    const watched = receiver.watch()
    const writers = Promise.all(streams.slice(0, BULK_STREAMS).map(async (_, index) => saturate(index)))

    // does not ask whether it should wait: it sends far less than its share, and would hide how long it waits
    const [shares] = await Promise.all([watched, eachInterval(URGENT_MESSAGES, URGENT_INTERVAL_MS, () => sim.nowMs, () => {
      sent.push({ atMs: sim.nowMs, handedDownBytes: toListener.bytesHandedDown })
      sendNext(URGENT_INDEX, URGENT_MESSAGE_BYTES)
    })])

    bulk.isOn = false
    await writers
    await receiver.arrived(sentBytes)
    await Promise.all(streams.map(closeFully))

    return toMetrics(sent, receiver, shares)
  })
}
