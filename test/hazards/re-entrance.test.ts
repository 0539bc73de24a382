// Listeners and transports that call back into what has called them: nothing is delivered out of order, and however many there are, no call goes deeper for it.
import { concat } from 'uint8arrays/concat'
import { equals } from 'uint8arrays/equals'
import { describe, expect, test, vi } from 'vitest'
import { StreamMessageEvent } from '@libp2p/interface'
import { ACK, concat as join, data, DATA, FIN, frame, GO_AWAY, pattern, PING, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { NO_LIMITS } from '../../testing/protocol/limits.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectAlive, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { oneByteFrames } from './fixtures/connected.ts'
import { GuardedEmitter } from '../../src/foreign/emitter.ts'
import type { YamuxMuxerInit, YamuxStream } from '../../src/index.ts'
import type { RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

const APART: YamuxMuxerInit = { coalesce: { mergeMessages: false } }
const STREAMS = 2000

/** The bytes of each message event in the order a listener sees them */
function watch (stream: YamuxStream, onMessage: (count: number) => void = () => {}): number[] {
  const seen: number[] = []
  stream.addEventListener('message', evt => {
    for (const byte of evt.data.subarray()) {
      seen.push(byte)
    }

    onMessage(seen.length)
  })

  return seen
}

function expectSame (seen: number[], expected: Uint8Array): void {
  expect(seen.length).toBe(expected.byteLength)
  expect(equals(Uint8Array.from(seen), expected)).toBe(true)
}

async function connect (init: RawPeerInit = {}): Promise<{ peer: Conversation, stream: YamuxStream }> {
  const peer = converse({ ...APART, limits: NO_LIMITS, ...init })
  const stream = await peer.open()
  peer.deliver(windowUpdate(1, 1_000_000, ACK))

  return { peer, stream }
}

async function turns (count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await nextTurn()
  }
}

describe.each([3, 2000, 100_000])('%i frames in one chunk', count => {
  test('are all delivered in order to a listener that pauses and resumes, and to the listener behind it', async () => {
    const { peer, stream } = await connect()
    const first = watch(stream, () => {
      stream.pause()
      stream.resume()
    })
    const second = watch(stream)
    peer.deliver(oneByteFrames(pattern(count)))
    await nextTurn()

    expectSame(first, pattern(count))
    expectSame(second, pattern(count))
    expect(stream.status).toBe('open')
    await expectAlive(peer)
  })

  test('are all delivered in order to a listener that resumes with each drain', async () => {
    const { peer, stream } = await connect()
    const first = watch(stream, () => {
      stream.pause()
      stream.resume()
    })
    const second = watch(stream)
    stream.pause()
    peer.deliver(oneByteFrames(pattern(count)))
    peer.transport.isFull = true
    stream.send(pattern(1))
    await nextTurn()
    expect(stream.send(pattern(WINDOW_BYTES))).toBe(false)
    stream.addEventListener('drain', () => { stream.resume() })
    expect(first).toEqual([])
    peer.transport.drain()
    await nextTurn()

    expectSame(first, pattern(count))
    expectSame(second, pattern(count))
  })

  test.each<[string, (stream: YamuxStream, peer: Conversation) => void]>([
    ['aborts the stream', stream => { stream.abort(new Error('Enough')) }],
    ['aborts the muxer', (_, { muxer }) => { muxer.abort(new Error('Enough')) }],
    ['closes the stream for reading', stream => { stream.closeRead().catch(() => {}) }]
  ])('are not delivered behind a listener that %s', async (_, end) => {
    const { peer, stream } = await connect()
    const first = watch(stream, length => {
      if (length === 2) {
        stream.pause()
        end(stream, peer)
      }
    })
    const second = watch(stream)
    peer.deliver(oneByteFrames(pattern(count)))
    await nextTurn()

    expect(first).toEqual([...pattern(2)])
    expect(second).toEqual([...pattern(2)])
    expect(stream.readBufferLength).toBe(0)
  })

  test('are delivered in front of what a listener pushes meanwhile, and behind what it puts back', async () => {
    const { peer, stream } = await connect()
    const first = watch(stream, length => {
      if (length === 1) {
        stream.push(Uint8Array.of(201))
        stream.push(Uint8Array.of(202))
        stream.unshift(Uint8Array.of(203))
        stream.unshift(Uint8Array.of(204))
      }

      stream.pause()
      stream.resume()
    })
    const second = watch(stream)
    peer.deliver(oneByteFrames(pattern(count)))
    await vi.waitFor(() => { expect(second.length).toBe(count + 4) })

    const expected = concat([pattern(count).subarray(0, 1), Uint8Array.of(204, 203), pattern(count).subarray(1), Uint8Array.of(201, 202)])
    expectSame(first, expected)
    expectSame(second, expected)
  })
})

/** Not more: a generator looks through all that wait for it whenever another asks */
const ASKS = 2000

test('frames are all delivered in order to a listener that reads on with an iterator', async () => {
  const { peer, stream } = await connect()
  const iterator = stream[Symbol.asyncIterator]()
  const asked: Array<Promise<Uint8Array>> = []
  const first = watch(stream, () => {
    asked.push(iterator.next().then(({ value }) => value?.subarray() ?? new Uint8Array(0)))
  })
  const second = watch(stream)
  peer.deliver(oneByteFrames(pattern(ASKS)), windowUpdate(1, 0, FIN))

  // each may wait for the loop to have taken the one before
  for (let i = 0; i < 1000 && second.length < ASKS; i++) {
    await nextTurn()
  }

  expectSame(first, pattern(ASKS))
  expectSame(second, pattern(ASKS))
  // it began to read while the first was delivered
  expect(equals(concat(await Promise.all(asked)), pattern(ASKS).subarray(1))).toBe(true)
})

test.each([true, false])('a listener that puts back what it got, and resumes, is given it again and again, each time when the event loop has come round, with mergeMessages: %s', async mergeMessages => {
  const { peer, stream } = await connect({ coalesce: { mergeMessages } })
  let left = 50
  const second: number[] = []
  const first: number[] = []
  stream.addEventListener('message', ({ data }) => {
    first.push(data.byteLength)

    if (left-- > 0) {
      stream.pause()
      stream.unshift(data)
      stream.resume()
    }
  })
  stream.addEventListener('message', ({ data }) => { second.push(data.byteLength) })
  peer.deliver(data(1, pattern(10)))
  await vi.waitFor(() => { expect(second).toHaveLength(51) })

  expect(first).toEqual(new Array(51).fill(10))
  expect(second).toEqual(first)
  expect(stream.readBufferLength).toBe(0)
})

/** Acknowledged; `windowBytes` of credit beyond the first window */
async function openMany (count: number, init: RawPeerInit = {}, windowBytes = 1_000_000): Promise<{ peer: Conversation, streams: YamuxStream[] }> {
  const peer = converse({ maxOutboundStreams: Infinity, limits: NO_LIMITS, ...init })
  const streams: YamuxStream[] = []

  while (streams.length < count) {
    const opened = await Promise.all(Array.from({ length: Math.min(250, count - streams.length) }, async () => peer.muxer.createStream()))
    streams.push(...opened)
    await nextTurn()
    peer.deliver(...opened.map(({ id }) => windowUpdate(Number(id), windowBytes, ACK)))
  }

  await peer.written()

  return { peer, streams }
}

test.each([[1000, true], [1000, false], [10_000, true], [10_000, false]])('listeners that each resume the next of %i streams deliver on all of them, with mergeMessages: %s', async (count, mergeMessages) => {
  const { peer, streams } = await openMany(count, { coalesce: { mergeMessages } })
  const seen = streams.map((stream, i) => watch(stream, () => {
    const next = streams[i + 1]

    if (next?.readStatus === 'paused') {
      next.resume()
    }
  }))
  streams.slice(1).forEach(stream => { stream.pause() })
  peer.deliver(...streams.slice(1).map(({ id }) => data(Number(id), pattern(3))))
  expect(seen.flat()).toEqual([])
  peer.deliver(data(1, pattern(3)))
  await nextTurn()

  expect(seen.map(({ length }) => length)).toEqual(streams.map(() => 3))
  await expectAlive(peer)
})

describe(`${STREAMS} streams`, () => {
  /** What each listener does as its stream comes to an end */
  const ENDINGS: Array<[what: string, event: 'close' | 'end', act: (peer: Conversation, next: YamuxStream | undefined) => void]> = [
    ['whose \'close\' listeners abort the next', 'close', (_, next) => { next?.abort(new Error('One after the other')) }],
    ['whose \'end\' listeners abort the next', 'end', (_, next) => { next?.abort(new Error('One after the other')) }],
    ['whose \'close\' listeners abort the muxer', 'close', ({ muxer }) => { muxer.abort(new Error('All of them')) }],
    ['whose \'close\' listeners abort the transport', 'close', ({ transport }) => { transport.abort(new Error('All of them')) }],
    ['whose \'close\' listeners close the transport', 'close', ({ transport }) => { transport.close().catch(() => {}) }],
    ['whose \'close\' listeners close the muxer, and abort the next', 'close', ({ muxer }, next) => {
      muxer.close().catch(() => {})
      next?.abort(new Error('One after the other'))
    }]
  ]

  describe.each(ENDINGS)('%s', (_, event, act) => {
    test.each<[string, (peer: Conversation, streams: YamuxStream[]) => void]>([
      ['an abort of the first', (_, [first]) => { first.abort(new Error('Enough')) }],
      ['a reset by the peer', peer => { peer.deliver(windowUpdate(1, 0, RST)) }]
    ])('all end with %s', async (_, begin) => {
      const { peer, streams } = await openMany(STREAMS)
      const events = streams.map(endings)
      streams.forEach((stream, i) => { stream.addEventListener(event, () => { act(peer, streams[i + 1]) }) })
      begin(peer, streams)
      await turns(3)

      expect(events.filter(({ length }) => length !== 1)).toEqual([])
      expect(peer.muxer.streams).toEqual([])
      expect(streams.filter(({ status }) => status === 'open' || status === 'closing')).toEqual([])
    })

    test('all end with the muxer', async () => {
      const { peer, streams } = await openMany(STREAMS)
      const events = streams.map(endings)
      streams.forEach((stream, i) => { stream.addEventListener(event, () => { act(peer, streams[i + 1]) }) })
      peer.muxer.abort(new Error('Enough'))
      await turns(3)

      expect(events.filter(({ length }) => length !== 1)).toEqual([])
      expect(peer.muxer.streams).toEqual([])
    })
  })

  test.each(['off', 'turn'] as const)('whose \'drain\' listeners send on the next and on themselves send all of it, with \'%s\'', async strategy => {
    const { peer, streams } = await openMany(STREAMS, { coalesce: { strategy } })
    const bytes = pattern(WINDOW_BYTES)
    peer.transport.isFull = true
    peer.deliver(ping(1, SYN))
    await peer.written()
    streams.forEach((stream, i) => {
      stream.addEventListener('drain', () => {
        streams[i + 1]?.send(bytes.subarray(0, 1))
        stream.send(bytes.subarray(0, 2))
      })
      expect(stream.send(bytes)).toBe(false)
    })
    peer.transport.drain()
    const sentBytes = new Map<string, number>()
    const expected = streams.length * WINDOW_BYTES
    let sum = 0

    for (let i = 0; i < 2000 && sum < expected + 3 * streams.length - 1; i++) {
      await nextTurn()

      // large payload is written by reference: a copy of it all would be half a gigabyte
      for (const { id, length } of headersOf(peer)) {
        sentBytes.set(id, (sentBytes.get(id) ?? 0) + length)
        sum += length
      }
    }

    await turns(2)
    expect(streams.map(({ id }) => sentBytes.get(id))).toEqual(streams.map((_, i) => WINDOW_BYTES + (i === 0 ? 2 : 3)))
  })
})

/** Of what was written since the last call, without a copy of large payload */
function headersOf (peer: Conversation): Array<{ id: string, length: number }> {
  const found: Array<{ id: string, length: number }> = []

  for (const write of peer.takeWrites()) {
    let offset = 0

    while (offset < write.byteLength) {
      const type = write.get(offset + 1)
      const length = type === DATA ? write.getUint32(offset + 8) : 0

      if (type === DATA) {
        found.push({ id: String(write.getUint32(offset + 4)), length })
      }

      offset += 12 + length
    }
  }

  return found
}

describe('a transport that brings more while it is written to', () => {
  /** So many pings that their answers are written before the chunk is dealt with */
  const PINGS = 1025
  const pings = join(...Array.from({ length: PINGS }, (_, i) => ping(i, SYN)))

  /** Brings `nested` within the first write */
  function answer (peer: Conversation, ...nested: Uint8Array[]): () => number {
    const send = peer.transport.send.bind(peer.transport)
    let writes = 0
    peer.transport.send = bytes => {
      const result = send(bytes)
      const chunk = nested[writes++]

      if (chunk != null) {
        peer.transport.dispatchEvent(new StreamMessageEvent(chunk))
      }

      return result
    }

    return () => writes
  }

  test.each([true, false])('is read behind the chunk that led to the write, with mergeMessages: %s', async mergeMessages => {
    const { peer, stream } = await connect({ coalesce: { mergeMessages } })
    const received = receive(stream)
    const writes = answer(peer, join(data(1, pattern(100, 2)), data(1, pattern(50, 3))))
    peer.deliver(data(1, pattern(100, 0)), pings, data(1, pattern(100, 1)))
    await nextTurn()

    expect(writes()).toBeGreaterThan(0)
    expect(equals(concat(received.chunks), concat([pattern(100, 0), pattern(100, 1), pattern(100, 2), pattern(50, 3)]))).toBe(true)
    expect(peer.takeFrames().filter(({ type }) => type === PING).map(({ length }) => length)).toEqual(Array.from({ length: PINGS }, (_, i) => i))
    await expectAlive(peer)
  })

  const rest = join(data(1, pattern(100, 1)), data(1, pattern(30, 2)))

  test.each([1, 5, 11, 12, 13, 60, 111, 112, 113])('continues the frame that the chunk ends in, cut at byte %i', async cut => {
    const { peer, stream } = await connect()
    const received = receive(stream)
    answer(peer, rest.subarray(cut))
    peer.deliver(data(1, pattern(100, 0)), pings, rest.subarray(0, cut))
    await nextTurn()

    expect(stream.status).toBe('open')
    expect(equals(concat(received.chunks), concat([pattern(100, 0), pattern(100, 1), pattern(30, 2)]))).toBe(true)
    await expectAlive(peer)
  })

  test('may bring as many pings as a peer may send, and each is answered', async () => {
    const { peer } = await connect()
    answer(peer, join(...Array.from({ length: 2000 }, (_, i) => ping(i, SYN))))
    peer.deliver(ping(2000, SYN))
    await nextTurn()

    expect(peer.takeFrames().map(({ length }) => length)).toEqual([2000, ...Array.from({ length: 2000 }, (_, i) => i)])
  })

  test.each(['off', 'turn'] as const)('brings one chunk within each of 5,000 writes, and each is read, with \'%s\'', async strategy => {
    const { peer, stream } = await connect({ coalesce: { strategy } })
    const received = receive(stream)
    stream.addEventListener('message', () => { stream.send(pattern(1)) })
    const writes = answer(peer, ...Array.from({ length: 5000 }, () => data(1, pattern(1))))
    stream.send(pattern(1))

    for (let turn = 0; turn < 5000 && received.byteLength < 5000; turn++) {
      await nextTurn()
    }

    await nextTurn()
    expect(received.byteLength).toBe(5000)
    expect(writes()).toBe(5001)
  })

  test('brings a violation that is acted on when the chunk has been dealt with', async () => {
    const { peer, stream } = await connect()
    const received = receive(stream)
    const events = endings(stream)
    answer(peer, Uint8Array.of(1, ...new Uint8Array(11)))
    peer.deliver(data(1, pattern(100, 0)), pings, data(1, pattern(100, 1)))
    await nextTurn()

    expect(received.byteLength).toBe(200)
    expect(events).toMatchObject([{ error: { code: 'ERR_INVALID_FRAME' } }])
    expect(peer.muxer.status).toBe('closed')
  })

  test.each(['off', 'turn'] as const)('brings nothing behind a violation, whatever listeners write then, with \'%s\'', async strategy => {
    const { peer, stream } = await connect({ coalesce: { strategy } })
    const received = receive(stream)
    stream.addEventListener('message', () => { stream.send(pattern(1)) })
    stream.addEventListener('close', () => { answer(peer, data(2, pattern(5), SYN), data(1, pattern(100, 2))) })
    answer(peer, data(2, pattern(5), SYN), data(1, pattern(100, 2)))
    peer.deliver(data(1, pattern(100, 0)), Uint8Array.of(1, ...new Uint8Array(11)), data(1, pattern(100, 1)))
    await nextTurn()

    expect(received.byteLength).toBe(100)
    expect(peer.inbound).toEqual([])
    expect(peer.muxer.status).toBe('closed')
  })

  test('ends within the write, and what came before that can be read', async () => {
    const { peer, stream } = await connect()
    const received = receive(stream)
    const events = endings(stream)
    const send = peer.transport.send.bind(peer.transport)
    peer.transport.send = bytes => {
      const result = send(bytes)
      peer.transport.end(new Error('Connection reset'))

      return result
    }
    peer.deliver(data(1, pattern(100, 0)), pings, data(1, pattern(100, 1)))
    await nextTurn()

    expect(events).toMatchObject([{ error: { name: 'TransportClosedError' } }])
    expect(equals(concat(received.chunks), concat([pattern(100, 0), pattern(100, 1)]).subarray(0, received.byteLength))).toBe(true)
    expect(received.byteLength).toBeGreaterThanOrEqual(100)
    expect(peer.muxer.status).toBe('closed')
  })
})

test.each(Array.from({ length: 40 }, (_, i) => 1 + i))('closeRead() within %i listeners ends the loop, as anywhere', async depth => {
  const { stream } = await connect()
  const loop = (async () => {
    for await (const chunk of stream) {
      expect(chunk.byteLength).toBe(0)
    }

    return 'over'
  })()
  const nest = (left: number): void => {
    const target = new Emitter()
    target.addEventListener('nested', () => {
      if (left > 1) {
        nest(left - 1)
      } else {
        stream.closeRead().catch(() => {})
      }
    })
    target.dispatchEvent(new Event('nested'))
  }
  nest(depth)

  expect(await loop).toBe('over')
  expect(stream.readableEnded).toBe(true)
})

class Emitter extends GuardedEmitter<Record<string, Event>> {
  onListenerError (err: Error): void {
    throw err
  }
}

test('a runaway call within a listener ends its stream at most, and the others are told all', async () => {
  const { peer, stream } = await connect({ coalesce: { strategy: 'off' } })
  peer.deliver(windowUpdate(1, 1_000_000))

  for (let round = 0; round < 10; round++) {
    const bystander = await peer.open()
    const id = Number(bystander.id)
    const received = receive(bystander)
    const recurse = (): void => {
      stream.send(Uint8Array.of(1))
      recurse()
    }
    const listener = (): void => {
      try {
        recurse()
      } catch {
        // the stack was full
      }
    }
    stream.addEventListener('idle', listener, { once: true })

    if (stream.writeStatus === 'writable') {
      listener()
    }

    peer.deliver(data(id, pattern(50)), windowUpdate(id, 0, FIN))
    await nextTurn()
    expect(received.byteLength).toBe(50)
    await bystander.close()
    expect(bystander.status).toBe('closed')
  }

  await expectAlive(peer)
})

test('a muxer that is aborted while a stream of it hands down its last bytes says GoAway last, and what the transport does not take is discarded', async () => {
  const peer = createRawPeer()
  const stream = await peer.muxer.createStream()
  peer.deliver(windowUpdate(1, 2_000_000, ACK))
  await nextTurn()
  peer.takeFrames()
  const send = peer.transport.send.bind(peer.transport)
  peer.transport.isFull = true
  peer.transport.send = bytes => {
    peer.transport.send = send
    const mayResume = send(bytes)
    peer.muxer.abort(new Error('All of it'))

    return mayResume
  }
  stream.send(pattern(2_000_000))
  stream.abort(new Error('This one'))
  await nextTurn()
  const frames = peer.takeFrames()

  expect(frames.slice(-2).map(({ type, flags, id }) => [type, flags, id])).toEqual([[WINDOW_UPDATE, RST, 1], [GO_AWAY, 0, 0]])
  expect(frames.reduce((bytes, { payload }) => bytes + payload.byteLength, 0)).toBeLessThan(262_144)
})

test('a listener that closes and aborts the muxer while it is being aborted does not begin its end anew', async () => {
  const peer = createRawPeer()
  const streams = [await peer.muxer.createStream(), await peer.muxer.createStream(), await peer.muxer.createStream()]
  await nextTurn()
  peer.takeFrames()
  const errors: unknown[] = []
  let depth = 0
  let mostDepth = 0

  for (const stream of streams) {
    stream.addEventListener('close', ({ error }) => {
      errors.push(error)
      mostDepth = Math.max(mostDepth, ++depth)
      peer.muxer.close().catch(() => {})
      peer.muxer.abort(new Error('again'))
      depth--
    })
  }

  peer.deliver(frame(9, 0, 0))
  await nextTurn()

  expect(errors).toEqual(streams.map(() => expect.objectContaining({ code: 'ERR_INVALID_FRAME' })))
  expect(mostDepth).toBe(1)
  expect(peer.takeFrames().map(({ type, length }) => [type, length])).toEqual([...streams.map(() => [WINDOW_UPDATE, 0]), [GO_AWAY, 1]])
  expect(peer.muxer.status).toBe('closed')
})

describe('a chunk that comes while streams are told of a flush', () => {
  test('is read when they have been told', async () => {
    const { peer, stream } = await connect()
    const seen = watch(stream)
    stream.addEventListener('idle', () => { peer.deliver(data(1, pattern(100))) }, { once: true })
    stream.send(pattern(10))
    await turns(3)

    expectSame(seen, pattern(100))
    await expectAlive(peer)
  })

  test('is read before the end of the transport that comes behind it', async () => {
    const { peer, stream } = await connect()
    const seen = watch(stream)
    stream.addEventListener('idle', () => {
      peer.deliver(data(1, pattern(100)))
      peer.transport.end()
    }, { once: true })
    stream.send(pattern(10))
    await turns(3)

    expectSame(seen, pattern(100))
    expect(stream.status).toBe('reset')
  })
})
