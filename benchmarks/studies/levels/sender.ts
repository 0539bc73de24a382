// The side that sends: streams that always have more to send, and one with a small message now and then.
import { pEvent } from 'p-event'
import { eachInterval } from '../../clock.ts'
import { bytesAt, startOfStream } from '../../scenarios/pattern.ts'
import { sendIndex } from '../../scenarios/stream-index.ts'
import { closeFully, openStreams } from '../../scenarios/streams.ts'
import { BULK_MESSAGE_BYTES, BULK_STREAMS, URGENT_INDEX, URGENT_INTERVAL_MS, URGENT_MESSAGE_BYTES } from './workload.ts'
import type { Lane, YamuxStream } from '../../../src/index.ts'
import type { Lanes } from './variants.ts'
import type { OpenStream } from '../../scenarios/scenario.ts'
import type { Stream } from '@libp2p/interface'

/** What this side can see of the connection */
export interface Probe {
  nowMs(): number
  /** That the muxer has handed down, or that have come in, since the connection began */
  passedBytes(): number
}

/** One entry for each urgent message */
export interface UrgentSent {
  sentAtMs: Float64Array
  /** What was out of the muxer's hands by then */
  handedDownBytes: Float64Array
  /** Behind the schedule: the process was busy */
  lateMs: Float64Array
}

export interface Sender {
  startBulk(): void
  sendUrgent(forMs: number): Promise<UrgentSent>
  /** Resolves with the bytes that each stream was given, the urgent one included, when writers may rest */
  stopBulk(): Promise<number[]>
  close(): Promise<void>
}

/** Of a stream of this project's muxer, as applications do it */
export function setLane (stream: Stream, lane: Lane): void {
  (stream as YamuxStream).priority = lane
}

export async function createSender (openStream: OpenStream, lanes: Lanes | undefined, { nowMs, passedBytes }: Probe): Promise<Sender> {
  const streams = await openStreams(openStream, BULK_STREAMS + 1)
  const sentBytes = streams.map(() => 0)
  const bulk = { isOn: false }
  let writers: Array<Promise<void>> = []

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

  return {
    startBulk () {
      bulk.isOn = true
      writers = streams.slice(0, BULK_STREAMS).map(async (_, index) => saturate(index))
      // reported by stopBulk()
      writers.forEach(writer => { writer.catch(() => {}) })
    },

    /** Does not ask whether it should wait: it sends far less than its share, and would hide how long it waits */
    async sendUrgent (forMs) {
      const count = Math.floor(forMs / URGENT_INTERVAL_MS)
      const sent = { sentAtMs: new Float64Array(count), handedDownBytes: new Float64Array(count), lateMs: new Float64Array(count) }

      await eachInterval(count, URGENT_INTERVAL_MS, nowMs, (message, dueMs) => {
        sent.sentAtMs[message] = nowMs()
        sent.lateMs[message] = sent.sentAtMs[message] - dueMs
        sent.handedDownBytes[message] = passedBytes()
        sendNext(URGENT_INDEX, URGENT_MESSAGE_BYTES)
      })

      return sent
    },

    async stopBulk () {
      bulk.isOn = false
      await Promise.all(writers)

      return sentBytes
    },

    async close () {
      await Promise.all(streams.map(closeFully))
    }
  }
}
