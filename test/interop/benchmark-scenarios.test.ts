// The benchmarks' scenarios in Go and Rust: each peer with itself, and with the JavaScript halves of the same scenarios.
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { messages } from '../../benchmarks/pair/scenarios/messages.ts'
import { bytesAt, isAt, startOfStream } from '../../testing/verified/pattern.ts'
import { requests } from '../../benchmarks/pair/scenarios/requests.ts'
import { onIndexed, sendIndex } from '../../testing/verified/stream-index.ts'
import { PEERS } from '../../peers/list.ts'
import { PeerProcess } from '../../peers/process.ts'
import { createEndpoint } from '../../testing/interop/create-endpoint.ts'
import { MUXERS } from '../../testing/interop/windows.ts'
import { StreamReader } from '../../testing/interop/stream-reader.ts'
import type { Row } from '../../benchmarks/rows.ts'
import type { Endpoint, Session } from '../../testing/interop/endpoint.ts'
import type { Stream } from '@libp2p/interface'

const KIB = 1024
const REPLY_BYTES = 8
const REQUEST_BYTES = 100
const REQUESTS_PER_UNIT = 5
/** More than the 256 that a side may leave unacknowledged */
const MANY_STREAMS = 300

/** The JavaScript sender opens all before it sends on any, and rust acknowledges a stream with what it sends on it */
const UNACKNOWLEDGED_STREAMS = 250

const URGENT_INDEX = 0
const URGENT_BYTES = 100
const URGENT_INTERVAL_MS = 5
const BULK_BYTES = 64 * KIB
const BULK_STREAMS = 3
/** More than all windows that a stream begins with */
const MUCH_BULK_BYTES = KIB * KIB
/** Longer than any echo takes */
const LONG_MS = 50_000

const oneStream = messagesRow(1, 100, 200)
const manyStreams = messagesRow(MANY_STREAMS, 4 * KIB, 3)
/** A unit is more than a window */
const largeMessages = messagesRow(3, KIB * KIB, 2)

function messagesRow (streams: number, messageBytes: number, messagesPerUnit: number): Row {
  return { id: '', label: '', scenario: 'messages', streams, messageBytes, unitBytesPerStream: messageBytes * messagesPerUnit }
}

function requestsRow (scenario: 'requests' | 'requests-on-one-stream'): Row {
  return { id: '', label: '', scenario, streams: 1, messageBytes: REQUEST_BYTES, unitBytesPerStream: REQUESTS_PER_UNIT * REQUEST_BYTES }
}

for (const kind of PEERS.filter(({ toolchain }) => toolchain === 'go' || toolchain === 'rust')) {
  describe.runIf(inject('presentPeers').includes(kind.name))(`${kind.name}, in benchmarks`, () => {
    let sender: PeerProcess
    let receiver: PeerProcess
    let endpoint: Endpoint
    let onStream: (stream: Stream) => void

    beforeEach(async () => {
      const createMuxer = await MUXERS.ours()
      endpoint = await createEndpoint(kind.over, { createMuxer, onStream: stream => { onStream(stream) } })
      sender = new PeerProcess(kind)
      receiver = new PeerProcess(kind)
    })

    afterEach(async () => {
      await Promise.all([endpoint.stop(), sender.kill(), receiver.kill()])
    })

    async function dialReceiver (): Promise<Session> {
      await endpoint.dial(await receiver.call('listen'))

      return endpoint.session
    }

    async function connectBoth (): Promise<void> {
      await sender.call('dial', await receiver.call('listen'))
    }

    async function openMessages ({ streams, messageBytes, unitBytesPerStream }: Row): Promise<void> {
      await sender.call('open-messages', streams, messageBytes, unitBytesPerStream)
    }

    async function receiveMessages ({ streams, unitBytesPerStream }: Row): Promise<void> {
      await receiver.call('verify-messages', streams, unitBytesPerStream)
    }

    test('sends messages that its receiver verifies, row after row', async () => {
      await connectBoth()

      for (const row of [oneStream, manyStreams, largeMessages]) {
        await receiveMessages(row)
        await receiver.call('count')
        await openMessages(row)
        const sent = JSON.parse(await sender.call('work', 20))

        expect(sent).toEqual({
          units: expect.toSatisfy(units => Number.isInteger(units) && units >= 1),
          durationMs: expect.toSatisfy(durationMs => durationMs > 0),
          latenciesMs: [],
          spent: expect.objectContaining({ cpuMs: expect.any(Number) })
        })
        // libp2p opens its sockets itself
        expect(sent.spent.socketWrites > 0).toBe(kind.over === 'plain')
        expect(JSON.parse(await receiver.call('spent')).cpuMs).toBeGreaterThan(0)

        await sender.call('finish')
        await receiver.call('finish')
      }
    })

    test('makes requests that its receiver answers', async () => {
      await connectBoth()

      for (const { scenario, unitBytesPerStream } of [requestsRow('requests'), requestsRow('requests-on-one-stream')]) {
        await receiver.call('answer-requests', REQUEST_BYTES)
        await sender.call(`open-${scenario}`, REQUEST_BYTES, unitBytesPerStream)
        const { units, latenciesMs } = JSON.parse(await sender.call('work', 5))

        expect(latenciesMs).toHaveLength(units * REQUESTS_PER_UNIT)

        await sender.call('finish')
        await receiver.call('finish')
      }
    })

    test('verifies and answers what a JavaScript sender sends', async () => {
      const session = await dialReceiver()

      for (const row of [{ ...manyStreams, streams: UNACKNOWLEDGED_STREAMS }, largeMessages]) {
        await receiveMessages(row)
        const half = await messages.send(session.openStream, row)
        await half.work(3)
        await half.close()
      }

      for (const row of [requestsRow('requests'), requestsRow('requests-on-one-stream')]) {
        await receiver.call('answer-requests', REQUEST_BYTES)
        const half = await requests.send(session.openStream, row)
        await half.work(2)
        await half.close()
      }
    })

    test('sends what a JavaScript receiver verifies and answers', async () => {
      await sender.call('dial', await endpoint.listen())

      for (const row of [manyStreams, largeMessages]) {
        onStream = messages.receive(row).onStream
        await openMessages(row)
        await sender.call('work', 20)
        await sender.call('finish')
      }

      for (const row of [requestsRow('requests'), requestsRow('requests-on-one-stream')]) {
        const half = requests.receive(row)
        onStream = half.onStream
        await sender.call(`open-${row.scenario}`, REQUEST_BYTES, row.unitBytesPerStream)
        await sender.call('work', 5)
        await sender.call('finish')
        half.close()
      }
    })

    test('tells on the first stream when a unit has come on all, and of a wrong byte on any', async () => {
      const session = await dialReceiver()
      await receiveMessages({ ...oneStream, streams: 2 })
      const streams = [await session.openStream(), await session.openStream()]
      const readers = streams.map(stream => new StreamReader(stream))
      streams.forEach(sendIndex)
      await Promise.all(readers.map(async reader => reader.exactly(REPLY_BYTES)))

      const [first, second] = streams
      const { unitBytesPerStream } = oneStream
      second.send(bytesAt(startOfStream(1), unitBytesPerStream))
      first.send(bytesAt(startOfStream(0), unitBytesPerStream))
      expect(Buffer.from(await readers[0].exactly(REPLY_BYTES)).readDoubleBE()).toBe(unitBytesPerStream)

      const wrong = Uint8Array.from(bytesAt(startOfStream(1) + unitBytesPerStream, REQUEST_BYTES))
      wrong[wrong.length - 1] ^= 1
      second.send(wrong)
      expect(Buffer.from(await readers[0].exactly(REPLY_BYTES)).readDoubleBE()).toBe(-1 - unitBytesPerStream)
    })

    test('fails when its receiver got a wrong byte, or too few', async () => {
      await sender.call('dial', await endpoint.listen())

      for (const [verifiedBytes, message] of [[-51, 'wrong bytes after 50 right ones'], [100, 'got 100 bytes instead of']] as const) {
        onStream = stream => {
          const reply = Buffer.alloc(REPLY_BYTES)
          stream.send(Uint8Array.from(reply))
          reply.writeDoubleBE(verifiedBytes)
          stream.send(reply)
        }
        await openMessages(oneStream)

        await expect(sender.call('work', 0)).rejects.toThrow(message)
      }
    })

    async function openBulkAndUrgent (): Promise<void> {
      await sender.call('dial', await endpoint.listen())
      await sender.call('open-bulk-and-urgent', BULK_STREAMS)
    }

    async function sendUrgent (fromMs: number, toMs: number, giveUpMs: number): Promise<{ latenciesMs: number[], lateMs: number[], spent: { cpuMs: number } }> {
      return JSON.parse(await sender.call('send-urgent', URGENT_BYTES, URGENT_INTERVAL_MS, fromMs, toMs, giveUpMs))
    }

    test('sends bulk that is verified, and urgent messages beside it that come back', async () => {
      const verifiedBytes = Array.from({ length: 1 + BULK_STREAMS }, () => 0)
      const wrong: number[] = []

      onStream = stream => {
        onIndexed(stream, index => bytes => {
          if (!isAt(startOfStream(index) + verifiedBytes[index], bytes)) {
            wrong.push(index)
          }

          verifiedBytes[index] += bytes.byteLength

          if (index === URGENT_INDEX) {
            stream.send(bytes)
          }
        })
      }
      await openBulkAndUrgent()
      await sender.call('send-bulk', BULK_BYTES)
      const { latenciesMs, lateMs, spent } = await sendUrgent(100, 300, LONG_MS)

      expect(verifiedBytes[URGENT_INDEX]).toBe(300 / URGENT_INTERVAL_MS * URGENT_BYTES)
      expect(latenciesMs).toHaveLength(200 / URGENT_INTERVAL_MS)
      expect(Math.min(...latenciesMs)).toBeGreaterThan(0)
      expect(Math.max(...latenciesMs)).toBeLessThan(LONG_MS - 300)
      expect(lateMs).toHaveLength(latenciesMs.length)
      expect(Math.min(...lateMs)).toBeGreaterThanOrEqual(0)
      expect(spent.cpuMs).toBeGreaterThan(0)

      const bulk = (): number[] => verifiedBytes.toSpliced(URGENT_INDEX, 1)
      await expect.poll(() => Math.min(...bulk()), { timeout: LONG_MS }).toBeGreaterThan(MUCH_BULK_BYTES)
      expect(wrong).toEqual([])
    })

    test('takes urgent messages without an echo as coming back when it gives up', async () => {
      onStream = () => {}
      await openBulkAndUrgent()
      await sender.call('send-bulk', BULK_BYTES)
      const { latenciesMs } = await sendUrgent(10, 20, 100)

      expect(latenciesMs).toHaveLength(2)
      expect(latenciesMs[0]).toBeGreaterThanOrEqual(90)
      expect(latenciesMs[1]).toBeGreaterThanOrEqual(85)
    })

    test('fails when an echo is wrong, or a stream of bulk ends', async () => {
      onStream = stream => {
        onIndexed(stream, () => bytes => { stream.send(bytes.map(byte => byte ^ 1)) })
      }
      await openBulkAndUrgent()
      await sender.call('send-bulk', BULK_BYTES)
      await expect(sendUrgent(0, 20, LONG_MS)).rejects.toThrow('an echo differs from its message')

      onStream = stream => {
        onIndexed(stream, index => {
          if (index === 2) {
            stream.abort(new Error('it ends'))
          }

          return () => {}
        })
      }
      await sender.call('open-bulk-and-urgent', BULK_STREAMS)
      await sender.call('send-bulk', BULK_BYTES)
      await expect(sendUrgent(0, 20, LONG_MS)).rejects.toThrow('stream 2')
    })

    test('answers a command that it does not know with an error', async () => {
      await expect(sender.call('juggle')).rejects.toThrow('juggle')
    })

    test('ends when its input does', async () => {
      await connectBoth()

      expect(await sender.end()).toBe(0)
      expect(await receiver.end()).toBe(0)
    })
  })
}
