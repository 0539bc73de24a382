// Streams that send a message each at a fixed interval, and the time each message was sent and arrived.
import { setTimeout as sleep } from 'node:timers/promises'
import { pEvent } from 'p-event'
import { bytesAt, startOfStream } from '../../../testing/verified/pattern.ts'
import { onVerified, sendIndex } from '../../../testing/verified/stream-index.ts'
import { closeFully, closeWhenRemoteDoes, openStreams } from '../../../testing/verified/streams.ts'
import { nowMs } from '../../../testing/programs/clock.ts'
import { INTERVAL_MS, MESSAGE_BYTES, STREAMS } from './workload.ts'
import type { OpenStream } from '../../pair/scenarios/scenario.ts'
import type { Stream } from '@libp2p/interface'

/** In both, the entry of message m of stream s is at s * messagesPerStream + m */
export interface SendTimes {
  sentAtMs: Float64Array
  /** Behind the schedule: the process was busy, or the stream full */
  lateMs: Float64Array
}

export interface PacedSender {
  send(messagesPerStream: number): Promise<SendTimes>
  close(): Promise<void>
}

export interface PacedReceiver {
  onStream(stream: Stream): void
  expect(messagesPerStream: number): void
  /** Resolves with the time of each message that was expected, when all are there and verified */
  arrived(): Promise<Float64Array>
}

/**
 * Each stream has a timer of its own, and the streams are spread evenly over the interval, so that no
 * two of them send because they share a callback.
 */
export async function pacedSender (openStream: OpenStream): Promise<PacedSender> {
  const streams = await openStreams(openStream, STREAMS)
  const positions = streams.map((_, index) => startOfStream(index))

  streams.forEach(sendIndex)

  async function sendOn (index: number, startMs: number, messagesPerStream: number, times: SendTimes): Promise<void> {
    for (let message = 0; message < messagesPerStream; message++) {
      const dueMs = startMs + (index / STREAMS + message) * INTERVAL_MS
      const missingMs = Math.ceil(dueMs - nowMs())

      if (missingMs > 0) {
        await sleep(missingMs)
      }

      const entry = index * messagesPerStream + message
      const bytes = bytesAt(positions[index], MESSAGE_BYTES)

      positions[index] += MESSAGE_BYTES
      times.sentAtMs[entry] = nowMs()
      times.lateMs[entry] = times.sentAtMs[entry] - dueMs

      if (!streams[index].send(bytes)) {
        await pEvent(streams[index], 'drain', { rejectionEvents: ['close'] })
      }
    }
  }

  return {
    async send (messagesPerStream) {
      const startMs = nowMs()
      const times = {
        sentAtMs: new Float64Array(STREAMS * messagesPerStream),
        lateMs: new Float64Array(STREAMS * messagesPerStream)
      }

      await Promise.all(streams.map(async (_, index) => sendOn(index, startMs, messagesPerStream, times)))

      return times
    },

    async close () {
      await Promise.all(streams.map(closeFully))
    }
  }
}

export function pacedReceiver (): PacedReceiver {
  let arrivedAtMs = new Float64Array()
  let messagesPerStream = 0
  /** How many messages of each stream came before those that are expected now */
  let messagesBefore = 0
  let missing = 0
  let received = Promise.withResolvers<Float64Array>()

  function onMessage (index: number, message: number): void {
    arrivedAtMs[index * messagesPerStream + message - messagesBefore] = nowMs()
    missing--

    if (missing === 0) {
      messagesBefore += messagesPerStream
      received.resolve(arrivedAtMs)
    }
  }

  return {
    onStream (stream) {
      closeWhenRemoteDoes(stream)
      let verifiedBytes = 0
      let messages = 0

      onVerified(stream, (index, byteLength) => {
        verifiedBytes += byteLength

        while (verifiedBytes >= (messages + 1) * MESSAGE_BYTES) {
          onMessage(index, messages++)
        }
      }, err => { received.reject(err) })
    },

    expect (count) {
      messagesPerStream = count
      missing = STREAMS * count
      arrivedAtMs = new Float64Array(missing)
      received = Promise.withResolvers()
    },

    async arrived () {
      return received.promise
    }
  }
}
