// What libp2p finds on the factory and on a fresh muxer, beside what it calls.
import { serviceCapabilities } from '@libp2p/interface'
import { expect, test } from 'vitest'
import { RST, windowUpdate } from '../fixtures/frames.ts'
import { createRawPeer } from '../fixtures/raw-peer.ts'
import { yamux } from '../../src/index.ts'

test('the factory says what it is, what it offers and what it speaks', () => {
  const factory = yamux()()

  expect(Object.prototype.toString.call(factory)).toBe('[object libp2p-coalescing-yamux]')
  expect(Reflect.get(factory, serviceCapabilities)).toEqual(['@libp2p/stream-multiplexing'])
  expect(factory.protocol).toBe('/yamux/1.0.0')
})

test('options are checked before there is a connection', () => {
  expect(() => yamux({ maxInboundStreams: -1 })).toThrow('maxInboundStreams is -1')
})

test('a fresh muxer is open, without streams, and knows no round trip', () => {
  const { muxer } = createRawPeer()

  expect(muxer).toMatchObject({ protocol: '/yamux/1.0.0', status: 'open', streams: [] })
  expect(muxer.getRTT()).toBe(-1)
})

test('the list of streams has those that are open now, and is the same until that changes', async () => {
  const { muxer, deliver } = createRawPeer()
  const [first, second] = await Promise.all([muxer.createStream(), muxer.createStream()])
  const both = muxer.streams
  expect(both).toEqual([first, second])
  expect(muxer.streams).toBe(both)

  deliver(windowUpdate(1, 0, RST))
  expect(muxer.streams).toEqual([second])
  second.abort(new Error('over'))
  expect(muxer.streams).toEqual([])
  expect(both).toHaveLength(2)
})

test('a stream says when it was opened, and when it ended', async () => {
  const { muxer } = createRawPeer()
  const stream = await muxer.createStream()
  expect(stream).toMatchObject({ id: '1', direction: 'outbound', protocol: '', timeline: { open: expect.any(Number) } })
  expect(stream.timeline.close).toBe(undefined)

  stream.abort(new Error('over'))
  expect(stream.timeline.close).toBeGreaterThanOrEqual(stream.timeline.open)
})
