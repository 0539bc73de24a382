// What libp2p finds on the factory and on a fresh muxer, beside what it calls.
import { serviceCapabilities } from '@libp2p/interface'
import { describe, expect, test } from 'vitest'
import { createRawPeer, nextTurn, RawTransport } from '../../testing/protocol/raw-peer.ts'
import { yamux } from '../../src/index.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'
import type { ComponentLogger, MessageStream } from '@libp2p/interface'

test('the factory says what it is, what it offers and what it speaks', () => {
  const factory = yamux()()

  expect(Object.prototype.toString.call(factory)).toBe('[object libp2p-coalescing-yamux]')
  expect(Reflect.get(factory, serviceCapabilities)).toEqual(['@libp2p/stream-multiplexing'])
  expect(factory.protocol).toBe('/yamux/1.0.0')
})

test.each([
  ['nothing', undefined],
  ['the options of libp2p 2', { direction: 'outbound', onIncomingStream: () => {}, onStreamEnd: () => {} }]
])('a muxer of %s is refused with what to do about it', (_, given) => {
  expect(() => yamux()().createStreamMuxer(given as unknown as MessageStream)).toThrow(expect.objectContaining({
    name: 'InvalidParametersError',
    code: 'ERR_UNSUPPORTED_LIBP2P',
    message: 'libp2p-coalescing-yamux needs libp2p 3: update libp2p, or use @chainsafe/libp2p-yamux 7 with libp2p 2'
  }))
})

test('no options may be said as null', () => {
  expect(yamux(null)().protocol).toBe('/yamux/1.0.0')
})

describe('options that there are not', () => {
  const init = { maxInboundStream: 5, connectionManager: {} } as YamuxMuxerInit

  test('are reported to the log of each node, not of each connection', () => {
    const errors: string[] = []
    const logger = { forComponent: (name: string) => ({ error: (text: string) => { errors.push(`${name} ${text}`) } }) } as unknown as ComponentLogger
    const components = yamux(init)
    const factory = components({ logger })
    factory.createStreamMuxer(new RawTransport('inbound') as unknown as MessageStream)
    expect(errors).toEqual([
      expect.stringMatching(/^libp2p:yamux maxInboundStream is not an option, use one of: .*maxInboundStreams/),
      expect.stringMatching(/^libp2p:yamux connectionManager is not an option, use one of: /)
    ])

    components({ logger })
    expect(errors).toHaveLength(4)
  })

  test('do no harm to a single stream, which libp2p opens with its own and the application\'s', async () => {
    const { muxer } = createRawPeer()
    const options = { protocol: '/app/1.0.0', runOnLimitedConnection: true, maxReadBufferLenght: 5, maxReadBufferLength: 1000 }

    expect(await muxer.createStream(options)).toMatchObject({ maxReadBufferLength: 1000 })
  })

  test('need no log', () => {
    expect(() => yamux(init)()).not.toThrow()
  })
})

test('an endless keep-alive interval means no pings', async () => {
  const { takeFrames } = createRawPeer({ enableKeepAlive: true, keepAliveInterval: Infinity })
  await nextTurn()

  expect(takeFrames()).toEqual([])
})

test('a fresh muxer is open, without streams, and knows no round trip', () => {
  const { muxer } = createRawPeer()

  expect(muxer).toMatchObject({ protocol: '/yamux/1.0.0', status: 'open', streams: [] })
  expect(muxer.getRTT()).toBe(-1)
})

test('a stream says when it was opened, and when it ended', async () => {
  const { muxer } = createRawPeer()
  const stream = await muxer.createStream()
  expect(stream).toMatchObject({ id: '1', direction: 'outbound', protocol: '', timeline: { open: expect.any(Number) } })
  expect(stream.timeline.close).toBe(undefined)

  stream.abort(new Error('over'))
  expect(stream.timeline.close).toBeGreaterThanOrEqual(stream.timeline.open)
})
