// Peers that answer marks too early or too late: what they lie about is their own connection.
import { expect, test } from 'vitest'
import { FIRST_MARK_VALUE } from '../../src/core/wire/frame.ts'
import { ACK, DATA, pattern, ping, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { createMeteredPeer, openStreams } from '../muxer/fixtures/metered-peer.ts'
import { marksOf, payloadBytes, written } from '../muxer/fixtures/marks.ts'
import type { MeteredPeer } from '../muxer/fixtures/metered-peer.ts'
import type { YamuxStream } from '../../src/index.ts'

/** What is in flight of which nothing is known, at most */
const FIRST_BYTES = 65_536

async function connect (): Promise<{ peer: MeteredPeer, bulk: YamuxStream, urgent: YamuxStream }> {
  const peer = createMeteredPeer({ coalesce: { maxQueueDelayMs: 10 } })
  const [bulk, urgent] = await openStreams(peer, 2)
  urgent.priority = 'urgent'
  peer.deliver(windowUpdate(Number(bulk.id), 2 ** 30))
  peer.muxer.ping().catch(() => {})
  await nextTurn()
  peer.takeFrames()
  peer.clock.advance(10)
  peer.deliver(ping(0, ACK))

  return { peer, bulk, urgent }
}

test('a pong before its mark was sent acknowledges nothing', async () => {
  const { peer, bulk } = await connect()

  for (let mark = 0; mark < 100; mark++) {
    peer.deliver(ping(FIRST_MARK_VALUE + mark, ACK))
  }

  bulk.send(pattern(1_000_000))
  const sentBytes = payloadBytes(await written(peer))

  expect(sentBytes).toBeLessThan(FIRST_BYTES)
  expect(bulk.writeBufferLength).toBe(1_000_000 - sentBytes)
})

test('a pong in the moment of its mark takes away the bound of this connection, as if there were none, and nothing else', async () => {
  const { peer, bulk } = await connect()
  const other = await connect()
  bulk.send(pattern(3_000_000))
  other.bulk.send(pattern(3_000_000))
  let sentBytes = 0

  for (let round = 0; round < 200 && bulk.writeBufferLength > 0; round++) {
    const frames = await written(peer)
    sentBytes += payloadBytes(frames)
    marksOf(frames).forEach(value => { peer.deliver(ping(value, ACK)) })
  }

  expect(sentBytes + payloadBytes(await written(peer))).toBe(3_000_000)
  expect(payloadBytes(await written(other.peer))).toBeLessThan(FIRST_BYTES)
})

test('pongs that each come as late as they may slow down what they stand for, and neither urgent data nor other connections', async () => {
  const { peer, bulk, urgent } = await connect()
  bulk.send(pattern(3_000_000))
  let sentBytes = 0

  for (let round = 0; round < 60 && bulk.writeBufferLength > 0; round++) {
    const frames = await written(peer)
    sentBytes += payloadBytes(frames)
    peer.clock.advance(4900)
    marksOf(frames).forEach(value => { peer.deliver(ping(value, ACK)) })
    urgent.send(pattern(10))
    await nextTurn()
    const [first] = peer.takeFrames().filter(({ type, id }) => type === DATA && id === Number(urgent.id))
    expect(first).toMatchObject({ length: 10 })
  }

  expect(sentBytes).toBeGreaterThan(400_000)
  expect(peer.muxer.status).toBe('open')
})
