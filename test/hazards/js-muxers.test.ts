// Faults that js muxers were reported for, in what they hold, grant and send. Each test is named after the report.
import { concat } from 'uint8arrays/concat'
import { equals } from 'uint8arrays/equals'
import { describe, expect, test } from 'vitest'
import { ACK, data, DATA, pattern, ping, windowUpdate } from '../../testing/protocol/frames.ts'
import { converse, expectAlive, pingValues, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import { Sender } from './fixtures/sender.ts'
import type { Header } from '../../testing/protocol/conversation.ts'

forbidIncidents()

const MEBIBYTE = 2 ** 20

describe('what a stream holds', () => {
  test('a slow for await loop let the peer send 100 MiB: the sender stops within the window while the loop does not ask', async () => {
    const peer = converse()
    const stream = await peer.open()
    const sender = new Sender(peer)
    const loop = stream[Symbol.asyncIterator]()
    const first = loop.next()
    await sender.sendUntil(5 * MEBIBYTE)
    await first

    expect(sender.sentBytes).toBe(WINDOW_BYTES)
    expect(stream.readBufferLength).toBeLessThanOrEqual(WINDOW_BYTES)

    // the loop has taken the rest, and has read it when it asks for more
    await loop.next()
    await sender.sendUntil(5 * MEBIBYTE)
    expect(sender.sentBytes).toBe(WINDOW_BYTES)

    const third = loop.next()
    await sender.sendUntil(5 * MEBIBYTE)
    await third
    expect(sender.sentBytes).toBe(2 * WINDOW_BYTES)
    await expectAlive(peer)
  })

  test('a stream without a listener was aborted at 4 MiB: the peer is held at its window, a late listener gets every byte', async () => {
    const peer = converse()
    const stream = await peer.open()
    const sender = new Sender(peer)
    await sender.sendUntil(5 * MEBIBYTE)
    expect(sender.sentBytes).toBe(WINDOW_BYTES)
    expect(stream.status).toBe('open')

    const received = receive(stream)
    await sender.sendUntil(5 * MEBIBYTE)
    expect(received.byteLength).toBe(5 * MEBIBYTE)
    expect(equals(concat(received.chunks), Sender.bytes(0, 5 * MEBIBYTE))).toBe(true)
  })
})

describe('what is granted', () => {
  test('100 frames of ten bytes gave 100 window updates: none is due before half the window is read', async () => {
    const peer = converse()
    receive(await peer.open())
    const updates: Header[] = []

    for (let i = 0; i < 100; i++) {
      peer.deliver(data(1, pattern(10)))
      updates.push(...await peer.written())
    }

    expect(updates).toEqual([])

    for (let i = 0; i < 300; i++) {
      peer.deliver(...Array.from({ length: 100 }, () => data(1, pattern(10))))
      updates.push(...await peer.written())
    }

    expect(updates).toHaveLength(Math.floor(301_000 / (WINDOW_BYTES / 2)))
  })

  test('a round trip of 0 ms grew the window to 16 MiB after 80 bytes: 80 bytes grant nothing', async () => {
    const peer = converse({ clock: new VirtualClock() })
    receive(await peer.open())

    for (let i = 0; i < 8; i++) {
      const measured = peer.muxer.ping()
      const [value] = await pingValues(peer)
      peer.deliver(ping(value, ACK), data(1, pattern(10)))
      expect(await measured).toBe(0)
      expect(await peer.written()).toEqual([])
    }
  })

  test('a larger window of one\'s own was used as send credit: 256 KiB go out until the peer grants more', async () => {
    const peer = converse({ streamOptions: { initialStreamWindowSize: 4 * MEBIBYTE } })
    const stream = await peer.open()
    stream.send(pattern(MEBIBYTE))

    expect(sentBytes(await peer.written())).toBe(WINDOW_BYTES)
  })
})

describe('what is sent', () => {
  test.each([1, 2])('a send of 4 MiB went out as one frame: with %d of them none is longer than a record', async streams => {
    const peer = converse()

    for (let i = 0; i < streams; i++) {
      await peer.open()
      peer.deliver(windowUpdate(1 + 2 * i, 4 * MEBIBYTE))
    }

    peer.muxer.streams.forEach(stream => { stream.send(pattern(4 * MEBIBYTE)) })
    // a turn writes 4 MiB
    const frames = [...await peer.written(), ...await peer.written()]
    expect(sentBytes(frames)).toBe(streams * 4 * MEBIBYTE)
    expect(Math.max(...frames.map(([, , , length]) => length))).toBeLessThanOrEqual(65_519)
  })
})

function sentBytes (frames: Header[]): number {
  return frames.reduce((sum, [type, , , length]) => type === DATA ? sum + length : sum, 0)
}
