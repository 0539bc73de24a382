// How many 'message' events what has come makes: each costs the receiver an event object and all its listeners.
import { expect, test } from 'vitest'
import { concat, data, pattern, SYN } from '../fixtures/frames.ts'
import { createRawPeer } from '../fixtures/raw-peer.ts'
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
