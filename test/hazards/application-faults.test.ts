// What applications do in the wrong place: throw, send, close and abort from within listeners and sends. Other streams lose no byte, and nothing is left uncaught.
import { StreamMessageEvent } from '@libp2p/interface'
import { concat } from 'uint8arrays/concat'
import { equals } from 'uint8arrays/equals'
import { describe, expect, test } from 'vitest'
import { data, DATA, FIN, GO_AWAY, pattern, RST, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { endings, receive } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { connect } from './fixtures/connected.ts'
import { bytesOf, EVENTS, expectUndisturbed, neighbours } from './fixtures/neighbours.ts'
import type { YamuxMuxerInit, YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'
import type { Neighbours } from './fixtures/neighbours.ts'

forbidIncidents()

const FAULTS: Array<[how: string, fail: (err: Error) => void]> = [
  ['throws', err => { throw err }],
  ['is async and rejects', async err => { throw err }]
]

describe.each(FAULTS)('a listener that %s', (_, fail) => {
  test.each(Object.keys(EVENTS))('ends its stream and nothing else, for %s', async type => {
    const both = await neighbours()
    const { peer, stream, events } = both
    const cause = new Error('The handler is broken')
    stream.addEventListener(type as 'message', () => fail(cause))
    EVENTS[type](both)
    await nextTurn()

    expect(events).toHaveLength(1)
    expect(peer.muxer.streams).toEqual([both.bystander])

    if (type !== 'close') {
      expect(events[0].error).toBe(cause)
      expect(await peer.written()).toContainEqual([WINDOW_UPDATE, RST, 1, 0])
    }

    await expectUndisturbed(both)
  })

  test('loses no byte of others that came in the same chunk, before and behind', async () => {
    const both = await neighbours()
    const { peer, stream, received } = both
    stream.addEventListener('message', () => fail(new Error('The handler is broken')))
    peer.deliver(data(3, pattern(100)), data(1, pattern(10)), data(3, pattern(100, 100)), data(1, pattern(10)), data(3, pattern(100, 200)))
    await nextTurn()

    expect(equals(concat(received.chunks), concat([pattern(100), pattern(100, 100), pattern(100, 200)]))).toBe(true)
    await expectUndisturbed(both)
  })

  test('sends its error code to the peer', async () => {
    const { peer, stream } = await neighbours()
    stream.addEventListener('message', () => fail(Object.assign(new Error('Rate limited'), { errorCode: 0x1003 })))
    peer.deliver(data(1, pattern(10)))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, 1, 0x1003]])
  })
})

test('what is thrown and is no error becomes one', async () => {
  const { peer, stream, events } = await neighbours()
  // eslint-disable-next-line no-throw-literal
  stream.addEventListener('message', () => { throw 'a string' })
  peer.deliver(data(1, pattern(10)))

  expect(events[0].error).toEqual(expect.objectContaining({ message: 'A listener threw a string', cause: 'a string' }))
})

describe.each<YamuxMuxerInit['coalesce']>([{ strategy: 'turn' }, { strategy: 'delay' }, { strategy: 'off' }])('with %o', coalesce => {
  test('a send within drain goes on where the queue ended', async () => {
    const both = await neighbours({ coalesce })
    const { peer, stream, bystander } = both
    const bytes = pattern(900_000)
    let offset = 0
    const sendOn = (): void => {
      while (offset < bytes.byteLength) {
        const piece = bytes.subarray(offset, offset + 50_000)
        offset += piece.byteLength
        bystander.send(piece)

        if (!stream.send(piece)) {
          return
        }
      }
    }
    stream.addEventListener('drain', sendOn)
    sendOn()

    for (let i = 0; i < 20; i++) {
      await nextTurn()
    }

    await new Promise(resolve => { setTimeout(resolve, 10) })
    const frames = peer.takeFrames()
    expect(equals(bytesOf(frames, 1), bytes)).toBe(true)
    expect(equals(bytesOf(frames, 3), bytes)).toBe(true)
  })

  test('a close within message sends its FIN behind what was sent, and other streams get the rest of the chunk', async () => {
    const both = await neighbours({ coalesce })
    const { peer, stream, received } = both
    let closing: Promise<void> | undefined
    stream.addEventListener('message', () => {
      if (closing == null) {
        stream.send(pattern(10))
        closing = stream.close()
      }
    })
    peer.deliver(data(1, pattern(10)), data(3, pattern(50)), data(1, pattern(10)), data(3, pattern(50)))
    await closing
    const frames = (await peer.written()).filter(([, , id]) => id === 1)

    expect(frames.map(([type, flags, , length]) => [type, flags, length])).toEqual([[DATA, 0, 10], [WINDOW_UPDATE, FIN, 0]])
    expect(received.byteLength).toBe(100)
  })

  test('a close of the muxer within message lets other streams get the rest of the chunk, and ends', async () => {
    const { peer, stream, received } = await neighbours({ coalesce })
    let closing: Promise<void> | undefined
    stream.addEventListener('message', () => { closing ??= peer.muxer.close() })
    peer.deliver(data(1, pattern(10)), data(3, pattern(50)))
    await closing

    expect(received.byteLength).toBe(50)
    expect((await peer.written()).at(-1)).toEqual([GO_AWAY, 0, 0, 0])
  })

  test.each<[string, (both: Neighbours) => void]>([
    ['the muxer', ({ peer }) => { peer.muxer.abort(new Error('Enough')) }],
    ['the transport', ({ peer }) => { peer.transport.end(new Error('Connection reset')) }]
  ])('an abort of %s within send() settles all that waits, and GoAway is said at most once', async (_, abort) => {
    const both = await neighbours({ coalesce })
    const { peer, stream, bystander } = both
    const events = [stream, bystander].map(endings)
    const send = peer.transport.send.bind(peer.transport)
    let sends = 0
    peer.transport.send = bytes => {
      const result = send(bytes)

      if (++sends === 2) {
        abort(both)
      }

      return result
    }
    bystander.send(pattern(400_000))

    // with coalescing off the abort came within that call
    if (stream.writeStatus === 'writable') {
      stream.send(pattern(400_000))
    }

    const settled = Promise.allSettled([stream.onDrain(), bystander.onDrain(), stream.close(), peer.muxer.ping()])
    await nextTurn()

    if (coalesce?.strategy === 'delay') {
      await new Promise(resolve => { setTimeout(resolve, 10) })
    }

    expect(await settled).toHaveLength(4)
    expect(events.map(({ length }) => length)).toEqual([1, 1])
    expect(peer.muxer.streams).toEqual([])
    expect(peer.takeFrames().filter(({ type }) => type === GO_AWAY).length).toBeLessThanOrEqual(1)
    expect(() => stream.send(pattern(1))).toThrow()
    await expect(peer.muxer.createStream()).rejects.toThrow()
  })

  test('an abort of a stream within send() loses no byte of another', async () => {
    const both = await neighbours({ coalesce })
    const { peer, stream, bystander } = both
    const send = peer.transport.send.bind(peer.transport)
    peer.transport.send = bytes => {
      stream.abort(new Error('Enough'))

      return send(bytes)
    }
    const bytes = pattern(400_000)
    stream.send(pattern(100_000))
    bystander.send(bytes)

    for (let i = 0; i < 20; i++) {
      await nextTurn()
    }

    await new Promise(resolve => { setTimeout(resolve, 10) })
    expect(equals(bytesOf(peer.takeFrames(), 3), bytes)).toBe(true)
    expect(stream.status).toBe('aborted')
    expect(bystander.status).toBe('open')
  })
})

test('a close() that nobody waits for is no unhandled rejection when the peer resets the stream in the chunk that led to it', async () => {
  const { peer, stream } = await connect()
  stream.addEventListener('message', () => {
    stream.send(pattern(10))
    stream.close()
  })
  peer.deliver(data(1, pattern(10)), windowUpdate(1, 0, RST))
  await nextTurn()

  expect(stream.status).toBe('reset')
})

test('a listener that transfers the chunk in which bytes of another stream came ends that stream with an error, and no other', async () => {
  const { peer, stream } = await connect()
  const other = await peer.open()
  const events = endings(other)
  const received = receive(other)
  const chunk = new Uint8Array(concat([data(1, pattern(5)), data(3, pattern(10))]))
  stream.addEventListener('message', () => { structuredClone(chunk, { transfer: [chunk.buffer] }) })
  peer.transport.dispatchEvent(new StreamMessageEvent(chunk))
  await nextTurn()

  expect(received.byteLength).toBe(0)
  expect(events).toMatchObject([{ error: { code: 'ERR_RECEIVED_BYTES_CHANGED' } }])
  expect(await peer.written()).toContainEqual([WINDOW_UPDATE, RST, 3, 0])
  expect(peer.muxer.streams).toEqual([stream])
})

describe('a listener that transfers the chunk in which the beginning of another stream\'s frame came', () => {
  type Deed = (peer: Conversation, other: YamuxStream) => void

  test.each<[what: string, deed: Deed, error: object, status: string]>([
    ['does nothing else', () => {}, { code: 'ERR_RECEIVED_BYTES_CHANGED' }, 'open'],
    ['aborts that stream', (_, other) => { other.abort(new Error('enough')) }, { message: 'enough' }, 'open'],
    ['aborts the muxer', ({ muxer }) => { muxer.abort(new Error('enough')) }, { message: 'enough' }, 'closed'],
    ['closes the muxer', ({ muxer }) => { muxer.close() }, { code: 'ERR_RECEIVED_BYTES_CHANGED' }, 'closed'],
    ['ends the transport', ({ transport }) => { transport.end() }, { name: 'TransportClosedError' }, 'closed']
  ])('and %s: that stream ends, and all that was asked for happens', async (_, deed, error, status) => {
    const { peer, stream } = await connect()
    const other = await peer.open()
    const last = await peer.open()
    const events = endings(other)
    const chunk = new Uint8Array(concat([data(1, pattern(5)), data(3, pattern(20)).subarray(0, 22)]))
    stream.addEventListener('message', () => {
      structuredClone(chunk, { transfer: [chunk.buffer] })
      deed(peer, other)
    })
    peer.transport.dispatchEvent(new StreamMessageEvent(chunk))
    await nextTurn()

    expect(events).toMatchObject([{ error }])
    expect(peer.muxer.streams).not.toContain(other)
    expect(peer.muxer.status).toBe(status)

    if (status === 'open') {
      expect(await peer.written()).toContainEqual([WINDOW_UPDATE, RST, 3, 0])
      expect(peer.muxer.streams).toEqual([stream, last])
    }
  })
})
