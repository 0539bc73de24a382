// Faults that js muxers were reported for, in how writers wait for a full transport. Each test is named after the report.
import { concat } from 'uint8arrays/concat'
import { equals } from 'uint8arrays/equals'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { DATA, pattern, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

const MEBIBYTE = 2 ** 20

test('the second onDrain() resolved at once: each wait ends with a real drain', async () => {
  const peer = converse()
  const stream = await peer.open()
  const order: string[] = []
  stream.addEventListener('drain', () => { order.push('drain') })

  for (let round = 0; round < 3; round++) {
    peer.transport.isFull = true
    stream.send(pattern(1))
    expect(stream.send(pattern(WINDOW_BYTES))).toBe(false)
    const waiting = stream.onDrain().then(() => { order.push('onDrain') })
    await nextTurn()
    expect(order.splice(0)).toEqual([])

    peer.transport.drain()
    peer.deliver(windowUpdate(1, 2 * WINDOW_BYTES))
    await waiting
    expect(order.splice(0)).toEqual(['drain', 'onDrain'])
    expect(stream.writableNeedsDrain).toBe(false)
    await peer.written()
  }
})

/** Two streams with so much queued that each waits for drain, and a naive listener that sends on */
async function twoWaiting (): Promise<{ peer: Conversation, streams: YamuxStream[] }> {
  const peer = converse()
  const streams = [await peer.open(), await peer.open()]
  peer.transport.isFull = true

  for (const stream of streams) {
    stream.send(pattern(WINDOW_BYTES + 1000))
    stream.addEventListener('drain', () => { stream.send(pattern(1000)) })
  }

  await peer.written()

  return { peer, streams }
}

const endOfTransport: Array<[string, (peer: Conversation) => void]> = [
  ['drain, then close', peer => { peer.transport.drain(); peer.transport.end(new Error('Connection reset')) }],
  ['close, then drain', peer => { peer.transport.end(new Error('Connection reset')); peer.transport.drain() }],
  ['drain, then abort of the muxer', peer => { peer.transport.drain(); peer.muxer.abort(new Error('Enough')) }],
  ['close during the writes that follow a drain', peer => {
    const send = peer.transport.send.bind(peer.transport)
    let writes = 0
    peer.transport.send = bytes => {
      if (++writes > 6) {
        peer.transport.end(new Error('Connection reset'))
      }

      return send(bytes)
    }
    peer.transport.drain()
  }]
]

test.each(endOfTransport)('a drain handler that throws crashed the process: drain and the transport\'s close in one tick leave no uncaught exception: %s', async (_, end) => {
  const { peer, streams } = await twoWaiting()
  const events = streams.map(endings)
  const waiting = streams.map(async stream => stream.onDrain())
  const settled = Promise.allSettled(waiting)
  end(peer)

  expect(await settled).toHaveLength(2)
  await nextTurn()
  expect(events.map(({ length }) => length)).toEqual([1, 1])
})

test('a drain handler that throws crashed the process: a stream that was aborted by another\'s drain handler gets no drain', async () => {
  const { peer, streams: [first, second] } = await twoWaiting()
  first.addEventListener('drain', () => { second.abort(new Error('Enough')) })
  const drains: Event[] = []
  second.addEventListener('drain', evt => { drains.push(evt) })
  peer.transport.drain()
  await nextTurn()

  expect(second.status).toBe('aborted')
  expect(drains).toHaveLength(0)
})

test('a transport that said false once stalled at 4 MB: the transfer finishes', async () => {
  const peer = converse()
  const stream = await peer.open()
  peer.deliver(windowUpdate(1, 8 * MEBIBYTE))
  const send = peer.transport.send.bind(peer.transport)
  let writes = 0
  peer.transport.send = bytes => {
    const mayResume = send(bytes)

    if (++writes === 3) {
      systemClock.nextTurn(() => { peer.transport.drain() })
      return false
    }

    return mayResume
  }
  const bytes = pattern(8 * MEBIBYTE)

  for (let offset = 0; offset < bytes.byteLength; offset += 100_000) {
    if (!stream.send(bytes.subarray(offset, offset + 100_000))) {
      await stream.onDrain()
    }
  }

  await stream.close()
  const sent = peer.takeFrames().filter(({ type }) => type === DATA).map(({ payload }) => payload)
  expect(equals(concat(sent), bytes)).toBe(true)
})
