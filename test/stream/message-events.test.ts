// How many 'message' events what has come makes: each costs the receiver an event object and all its listeners.
import { StreamMessageEvent } from '@libp2p/interface'
import { expect, test } from 'vitest'
import { ACK, concat, data, FIN, pattern, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'

/** Three frames of stream 1 and two of stream 3, by turns, in one chunk; the bytes of each event, by stream */
function eventsOfOneChunk (init: YamuxMuxerInit): Record<string, number[]> {
  const peer = createRawPeer({ direction: 'inbound', ...init })
  const events: Record<string, number[]> = {}

  peer.muxer.addEventListener('stream', ({ detail: stream }) => {
    events[stream.id] = []
    stream.addEventListener('message', ({ data }) => { events[stream.id].push(data.byteLength) })
  })
  peer.deliver(concat(
    data(1, pattern(10), SYN), data(3, pattern(20), SYN), data(1, pattern(30)), data(3, pattern(40)), data(1, pattern(50))
  ))

  return events
}

test('with `mergeMessages: true` what one chunk brings a stream is one event, however many frames it is', () => {
  expect(eventsOfOneChunk({ coalesce: { mergeMessages: true } })).toEqual({ 1: [90], 3: [60] })
})

test.each(['backlog', false] as const)('with `mergeMessages: %s` each frame is one', mergeMessages => {
  expect(eventsOfOneChunk({ coalesce: { mergeMessages } })).toEqual({ 1: [10, 30, 50], 3: [20, 40] })
})

test('with `mergeMessages: false` that holds however much has waited', async () => {
  const peer = createRawPeer({ coalesce: { mergeMessages: false } })
  const stream = await peer.muxer.createStream()
  const events: number[] = []
  peer.deliver(windowUpdate(1, 0, ACK), ...Array.from({ length: 5 }, () => data(1, pattern(10_000))))
  stream.addEventListener('message', ({ data }) => { events.push(data.byteLength) })
  await nextTurn()

  expect(events).toEqual(Array(5).fill(10_000))
})

test('a listener that pauses and resumes at the last message does not bring the end before others have heard the message', async () => {
  const peer = createRawPeer()
  const stream = await peer.muxer.createStream()
  const seen: string[] = []
  stream.addEventListener('message', () => {
    stream.pause()
    stream.resume()
  })
  stream.addEventListener('message', ({ data }) => { seen.push(`${data.byteLength} bytes`) })
  stream.addEventListener('end', () => { seen.push('end') })
  stream.pause()
  peer.deliver(concat(data(1, pattern(10), ACK), windowUpdate(1, 0, FIN)))
  stream.resume()

  expect(seen).toEqual(['10 bytes', 'end'])
})

test('a message knows its stream, and a listener may keep it from those behind', async () => {
  const peer = createRawPeer()
  const stream = await peer.muxer.createStream()
  const seen: unknown[] = []
  let kept: Event | undefined
  stream.addEventListener('message', evt => {
    seen.push(evt.target, evt.srcElement, evt.currentTarget)
    evt.stopImmediatePropagation()
    kept = evt
  })
  stream.addEventListener('message', () => { seen.push('told') })
  peer.deliver(data(1, pattern(10), ACK))

  expect(seen).toEqual([stream, stream, stream])
  expect([kept?.target, kept?.currentTarget]).toEqual([stream, null])
})

test('a message that is looked through or printed shows what one that is not told shows, and no stream', async () => {
  const peer = createRawPeer()
  const stream = await peer.muxer.createStream()
  const shown: unknown[] = []
  stream.addEventListener('message', evt => {
    for (const each of [evt, new StreamMessageEvent(evt.data)]) {
      shown.push(Object.keys(each), JSON.stringify(each))
    }
  })
  peer.deliver(data(1, pattern(10), ACK))

  expect(shown.slice(0, 2)).toEqual(shown.slice(2))
  expect(shown).toHaveLength(4)
})
