// What a muxer holds of writers that never stop: bounded by their marks, however slow the transport is.
import { expect, test } from 'vitest'
import { ACK, pattern, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn, turnsUntil } from '../../testing/protocol/raw-peer.ts'
import { CROWDED_FROM_BYTES, CROWDED_WATERMARK_BYTES } from '../../src/core/scheduler/watermarks.ts'
import type { YamuxStream } from '../../src/index.ts'

const STREAMS = 1000
const MESSAGE_BYTES = 4096
const BATCH_BYTES = 65_519
/** What a stream sends in a round without a bound */
const QUANTUM_BYTES = 65_519

test('1,000 writers that go on as soon as they may make it hold no more than their marks and one batch', async () => {
  const peer = createRawPeer({ maxOutboundStreams: STREAMS })
  const message = pattern(MESSAGE_BYTES)
  const streams: YamuxStream[] = []
  let drains = 0

  for (let i = 0; i < STREAMS; i++) {
    const stream = await peer.muxer.createStream()
    peer.deliver(windowUpdate(1 + 2 * i, 2 ** 30, ACK))
    streams.push(stream)
  }

  await nextTurn()
  peer.transport.isFull = true

  for (const stream of streams) {
    const sendMore = (): void => {
      while (stream.send(message)) {
        // until it is told to wait
      }
    }

    stream.addEventListener('drain', () => {
      drains++
      sendMore()
    })
    sendMore()
  }

  await nextTurn()
  const heldBytes = (): number => streams.reduce((sum, { writeBufferLength }) => sum + writeBufferLength, 0)
  const boundBytes = CROWDED_FROM_BYTES + STREAMS * (CROWDED_WATERMARK_BYTES + QUANTUM_BYTES + MESSAGE_BYTES) + BATCH_BYTES
  let largestBytes = heldBytes()

  // the transport takes a batch, and is full again
  for (let round = 0; round < 5000; round++) {
    peer.transport.safeDispatchEvent('drain')
    largestBytes = Math.max(largestBytes, heldBytes() + peer.takeWrites().reduce((sum, { byteLength }) => sum + byteLength, 0))
  }

  expect(largestBytes).toBeLessThanOrEqual(boundBytes)
  // they did go on: each that fell below its low mark was told
  expect(drains).toBeGreaterThan(STREAMS)
  expect(streams.every(({ writeBufferLength }) => writeBufferLength > CROWDED_WATERMARK_BYTES / 2 - BATCH_BYTES)).toBe(true)
})

test('200 writers that wait for a peer without credit make it hold 64 KiB each beside the first 4 MiB', async () => {
  const peer = createRawPeer({ maxOutboundStreams: 200 })
  const message = pattern(65_536)
  const streams: YamuxStream[] = []

  for (let i = 0; i < 200; i++) {
    const stream = await peer.muxer.createStream()
    peer.deliver(windowUpdate(1 + 2 * i, 0, ACK))
    stream.send(pattern(262_144))
    streams.push(stream)
  }

  const areAllWritten = (): boolean => streams.every(({ writeBufferLength }) => writeBufferLength === 0)
  await turnsUntil(areAllWritten)
  expect(areAllWritten()).toBe(true)
  peer.takeWrites()

  for (const stream of streams) {
    while (stream.send(message)) {
      // until it is told to wait
    }
  }

  const heldBytes = streams.reduce((sum, { writeBufferLength }) => sum + writeBufferLength, 0)
  expect(heldBytes).toBeLessThanOrEqual(CROWDED_FROM_BYTES + 200 * CROWDED_WATERMARK_BYTES)

  // each is told to go on when the peer gives credit
  const told = Promise.all(streams.map(async stream => stream.onDrain()))
  streams.forEach((_, i) => { peer.deliver(windowUpdate(1 + 2 * i, 262_144)) })
  await told
  await turnsUntil(areAllWritten)
  expect(areAllWritten()).toBe(true)
})
