// What one connection does wrong stays its own: bytes that change while they wait, sinks of metrics that send, and transports that throw. No byte of it reaches the wire of another.
import { concat } from 'uint8arrays/concat'
import { equals } from 'uint8arrays/equals'
import { beforeEach, describe, expect, test } from 'vitest'
import { NodeBudget } from '../../src/core/window/node-budget.ts'
import { systemClock } from '../../src/host/clock.ts'
import { NodeMetrics } from '../../src/observe/metrics.ts'
import { ACK, data, DATA, parseFrames, pattern, PING, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { StrictPeer } from '../../testing/protocol/strict-peer.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import { createMeteredPeer } from '../muxer/fixtures/metered-peer.ts'
import { endings, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { Strategy } from '../../src/options/coalesce.ts'
import type { YamuxMuxerInit, YamuxStream } from '../../src/index.ts'
import type { Frame } from '../../testing/protocol/frames.ts'
import type { RawPeer } from '../../testing/protocol/raw-peer.ts'
import type { Metrics } from '@libp2p/interface'

forbidIncidents()

type Peer = Pick<RawPeer, 'muxer' | 'transport' | 'deliver' | 'takeFrames'>

/** A connection, of which every frame written is looked at as its peer would */
class Wire {
  readonly peer: Peer
  readonly clock: VirtualClock
  readonly #legal = new StrictPeer(true)
  readonly #frames: Frame[] = []
  readonly #sent = new Map<string, Uint8Array[]>()

  constructor (peer: Peer, clock: VirtualClock) {
    this.peer = peer
    this.clock = clock
  }

  hear (...frames: Uint8Array[]): void {
    frames.flatMap(frame => parseFrames(frame)).forEach(frame => { this.#legal.received(frame) })
    this.peer.deliver(...frames)
  }

  /** All that was ever written; throws where a frame is cut, or one that the writer may not write */
  frames (): Frame[] {
    for (const frame of this.peer.takeFrames()) {
      this.#legal.wrote(frame)
      this.#frames.push(frame)
    }

    return this.#frames
  }

  /** Keeps a copy of what a stream is given */
  send (stream: YamuxStream, bytes: Uint8Array): void {
    const sent = this.#sent.get(stream.id) ?? []
    this.#sent.set(stream.id, sent)
    sent.push(bytes.slice())
    stream.send(bytes)
  }

  /** To streams that may have ended within a send before */
  sendToOpen (streams: YamuxStream[], byteLength: number): void {
    streams.forEach((stream, i) => {
      if (stream.writeStatus === 'writable') {
        this.send(stream, pattern(byteLength, i))
      }
    })
  }

  sentBytes (id: string): Uint8Array {
    return concat(this.#sent.get(id) ?? [])
  }

  writtenBytes (id: string): Uint8Array {
    return concat(this.frames().filter(frame => frame.type === DATA && String(frame.id) === id).map(({ payload }) => payload))
  }

  /** Of these streams all was written, and of no stream anything that it was not given */
  expectOwnBytes (complete: YamuxStream[]): void {
    for (const { id, type } of this.frames()) {
      expect(type !== DATA || this.#sent.has(String(id))).toBe(true)
    }

    for (const id of this.#sent.keys()) {
      const written = this.writtenBytes(id)
      expect(equals(written, this.sentBytes(id).subarray(0, written.byteLength))).toBe(true)
    }

    for (const { id } of complete) {
      expect(this.writtenBytes(id).byteLength).toBe(this.sentBytes(id).byteLength)
    }
  }

  async open (): Promise<YamuxStream> {
    const stream = await this.peer.muxer.createStream()
    await this.settle()
    this.hear(windowUpdate(Number(stream.id), 1, ACK))

    return stream
  }

  /** All that is due has been written, whatever the strategy */
  async settle (): Promise<void> {
    for (let i = 0; i < 3; i++) {
      await nextTurn()
      this.clock.advance(5)
    }

    await nextTurn()
  }

  async expectAlive (): Promise<void> {
    this.hear(ping(0xa1b2c3d4, SYN))
    await this.settle()
    expect(this.frames().at(-1)).toMatchObject({ type: PING, flags: ACK, length: 0xa1b2c3d4 })
    expect(this.peer.muxer.status).toBe('open')
  }
}

function connect (strategy: Strategy, init: YamuxMuxerInit = {}): Wire {
  const clock = new VirtualClock()

  return new Wire(createRawPeer({ clock, coalesce: { strategy }, ...init }), clock)
}

interface Changing {
  bytes: Uint8Array
  change (): void
}

function resizable (byteLength: number): ArrayBuffer & { resize (byteLength: number): void } {
  return new (ArrayBuffer as any)(byteLength, { maxByteLength: 2 * byteLength })
}

/** Views that are other views a moment later */
const CHANGES: Record<string, (byteLength: number) => Changing> = {
  'a buffer that is transferred': byteLength => {
    const buffer = new ArrayBuffer(byteLength)

    return { bytes: new Uint8Array(buffer), change: () => { structuredClone(buffer, { transfer: [buffer] }) } }
  },
  'the memory of a WebAssembly module, which grows': byteLength => {
    const memory = new WebAssembly.Memory({ initial: 1 })

    return { bytes: new Uint8Array(memory.buffer, 1000, byteLength), change: () => { memory.grow(1) } }
  },
  'a resizable buffer that shrinks': byteLength => {
    const buffer = resizable(byteLength)

    return { bytes: new Uint8Array(buffer), change: () => { buffer.resize(byteLength - 10) } }
  },
  'a part that is cut off a resizable buffer': byteLength => {
    const buffer = resizable(byteLength + 100)

    return { bytes: new Uint8Array(buffer, 100, byteLength), change: () => { buffer.resize(byteLength + 99) } }
  }
}

/** What is shorter than 4 KiB is copied in `send()`. Below 8 KiB bytes are copied into the write, above they go by reference. */
const SIZES = [5000, 20_000]
/** What the stream is given before it, and behind it */
const PLACES: Record<string, [before: number, behind: number]> = { first: [0, 500], middle: [9000, 500], last: [700, 0] }

interface Victim {
  wire: Wire
  stream: YamuxStream
  bystander: YamuxStream
  /** Sends it all, changed while it waits; resolves when whatever it waited for has come */
  run (changing: Changing, place: [before: number, behind: number]): Promise<void>
}

/** What the bytes wait for when they change */
const WAITS: Record<string, (victim: Omit<Victim, 'run'>, sendAll: () => void, changing: Changing, beforeBytes: number) => Promise<void>> = {
  'the flush': async ({ wire }, sendAll, { change }) => {
    sendAll()
    change()
    await wire.settle()
  },
  'the transport': async ({ wire }, sendAll, { change }) => {
    const { transport } = wire.peer
    transport.isFull = true
    wire.hear(ping(1, SYN))
    await wire.settle()
    sendAll()
    await wire.settle()
    change()
    transport.drain()
    await wire.settle()
  },
  'credit, when half of them are gone': async ({ wire, stream }, sendAll, { bytes, change }, beforeBytes) => {
    wire.send(stream, pattern(WINDOW_BYTES + 1 - beforeBytes - bytes.byteLength / 2))
    await wire.settle()
    sendAll()
    await wire.settle()
    expect(wire.writtenBytes(stream.id).byteLength).toBe(WINDOW_BYTES + 1)
    change()
    wire.hear(windowUpdate(Number(stream.id), 1_000_000))
    await wire.settle()
  }
}

async function victim (strategy: Strategy, wait: string): Promise<Victim> {
  const wire = connect(strategy)
  const both = { wire, stream: await wire.open(), bystander: await wire.open() }

  return {
    ...both,
    run: async (changing, [before, behind]) => {
      const { stream, bystander } = both
      await WAITS[wait](both, () => {
        wire.send(bystander, pattern(5000, 7))
        wire.send(stream, pattern(before, 1))
        wire.send(stream, changing.bytes)
        wire.send(stream, pattern(behind, 2))
        wire.send(bystander, pattern(12_000, 8))
      }, changing, before)
    }
  }
}

const STRATEGIES: Strategy[] = ['turn', 'delay', 'off']
// with coalescing off nothing waits for a flush
const MOMENTS = STRATEGIES.flatMap(strategy => Object.keys(WAITS).filter(wait => strategy !== 'off' || wait !== 'the flush').map(wait => [strategy, wait] as const))
const SHAPES = SIZES.flatMap(size => Object.keys(PLACES).map(place => [size, place] as const))

describe.each(MOMENTS)('with \'%s\', bytes that wait for %s', (strategy, wait) => {
  describe.each(Object.keys(CHANGES))('in %s', change => {
    test.each(SHAPES)('end their stream alone when they change: %i bytes, %s in the queue', async (size, place) => {
      const other = connect(strategy)
      const otherStream = await other.open()
      const { wire, stream, bystander, run } = await victim(strategy, wait)
      const events = endings(stream)
      const changing = CHANGES[change](size)
      changing.bytes.set(pattern(size, 3))
      const running = run(changing, PLACES[place])
      other.send(otherStream, pattern(3000, 9))
      await running
      other.send(otherStream, pattern(30_000, 10))
      await other.settle()

      // its own connection: every frame legal, every byte of others there
      expect(stream.status).toBe('aborted')
      expect(events.map(({ error }) => error)).toEqual([expect.objectContaining({ name: 'SentBytesChangedError', code: 'ERR_SENT_BYTES_CHANGED' })])
      expect(events[0].error?.message).toMatch(new RegExp(`\\b${size}\\b`))
      expect(events[0].error?.message).toMatch(new RegExp(`\\b${changing.bytes.byteLength}\\b`))
      expect(wire.frames().filter(({ flags }) => (flags & RST) !== 0)).toMatchObject([{ type: WINDOW_UPDATE, id: Number(stream.id) }])
      expect(wire.peer.muxer.streams).toEqual([bystander])
      wire.expectOwnBytes([bystander])
      await wire.expectAlive()

      // and the one that it shares nothing with
      other.expectOwnBytes([otherStream])
      expect(other.frames()).toHaveLength(other.frames().filter(({ id }) => String(id) === otherStream.id).length)
      await other.expectAlive()
    })
  })
})

describe.each(STRATEGIES)('with \'%s\'', strategy => {
  test.each(Object.keys(CHANGES))('a stream that nobody has heard of ends without a word when its bytes change in %s', async change => {
    const wire = connect(strategy)
    const bystander = await wire.open()
    const other = connect(strategy)
    const otherStream = await other.open()
    wire.peer.transport.isFull = true
    wire.hear(ping(1, SYN))
    await wire.settle()
    const stream = await wire.peer.muxer.createStream()
    const events = endings(stream)
    const { bytes, change: apply } = CHANGES[change](5000)
    wire.send(stream, bytes)
    wire.send(bystander, pattern(5000, 7))
    await wire.settle()
    apply()
    wire.peer.transport.drain()
    other.send(otherStream, pattern(3000, 9))
    await wire.settle()
    await other.settle()

    expect(events).toMatchObject([{ error: { code: 'ERR_SENT_BYTES_CHANGED' } }])
    expect(stream.status).toBe('aborted')
    // or SYN and RST, if one of them stood alone
    const words = wire.frames().filter(({ id }) => String(id) === stream.id)
    expect(words.length === 0 || (words.at(-1)?.flags === RST && words.every(({ length }) => length === 0))).toBe(true)
    wire.expectOwnBytes([bystander])
    await wire.expectAlive()
    other.expectOwnBytes([otherStream])
    await other.expectAlive()
  })

  test.each([100, 5000, 20_000])('%i bytes of a buffer that grows while they wait are sent as they were', async byteLength => {
    const wire = connect(strategy)
    const stream = await wire.open()
    const buffer = resizable(byteLength)
    new Uint8Array(buffer).set(pattern(byteLength, 3))
    wire.peer.transport.isFull = true
    wire.hear(ping(1, SYN))
    await wire.settle()
    wire.send(stream, new Uint8Array(buffer))
    buffer.resize(byteLength + 10)
    wire.send(stream, pattern(700, 4))
    wire.peer.transport.drain()
    await wire.settle()

    expect(wire.writtenBytes(stream.id)).toEqual(new Uint8Array([...pattern(byteLength, 3), ...pattern(700, 4)]))
    await wire.expectAlive()
  })

  test.each(Object.keys(CHANGES))('a message of less than 4 KiB is sent as it was, whatever becomes of its memory: %s', async change => {
    const wire = connect(strategy)
    const stream = await wire.open()
    const changing = CHANGES[change](4095)
    changing.bytes.set(pattern(4095, 3))
    wire.peer.transport.isFull = true
    wire.hear(ping(1, SYN))
    await wire.settle()
    wire.send(stream, changing.bytes)
    changing.change()
    wire.peer.transport.drain()
    await wire.settle()

    expect(wire.writtenBytes(stream.id)).toEqual(new Uint8Array(pattern(4095, 3)))
    await wire.expectAlive()
  })

  test('what waits behind bytes that have changed is settled', async () => {
    const { wire, stream, run } = await victim(strategy, 'the transport')
    const changing = CHANGES['a buffer that is transferred'](400_000)
    const running = run(changing, PLACES.middle)
    await wire.settle()
    const settled = Promise.allSettled([stream.onDrain(), stream.close()])
    await running

    expect(await settled).toMatchObject([
      { status: 'rejected', reason: { code: 'ERR_SENT_BYTES_CHANGED' } },
      { status: 'rejected', reason: { code: 'ERR_SENT_BYTES_CHANGED' } }
    ])
  })
})

describe.each<Strategy>(['off', 'turn'])('with \'%s\', a sink of metrics that', strategy => {
  /** What the sink does with all that it is told */
  let onTold: () => void
  let own: Wire
  let other: Wire

  beforeEach(() => {
    onTold = () => {}
    const tell = (): void => { onTold() }
    const metric = { increment: tell, observe: tell }
    const register = (): typeof metric => metric
    const metrics = { registerCounter: register, registerCounterGroup: register, registerHistogram: register, registerHistogramGroup: register, registerMetric: register, registerMetricGroup: register }
    // each by itself: the sink has more chances to do harm
    const nodeMetrics = new NodeMetrics(metrics as unknown as Metrics, systemClock, new NodeBudget(Infinity), 1)
    const create = (): Wire => {
      const peer = createMeteredPeer({ nodeMetrics, coalesce: { strategy } })

      return new Wire(peer, peer.clock)
    }
    own = create()
    other = create()
  })

  /** Two streams of each connection; the sink does this from then on */
  async function streamsOfBoth (act: (own: YamuxStream[], other: YamuxStream[]) => void): Promise<{ own: YamuxStream[], other: YamuxStream[] }> {
    const streams = { own: [await own.open(), await own.open()], other: [await other.open(), await other.open()] }
    let isActing = false
    onTold = () => {
      if (!isActing) {
        isActing = true
        act(streams.own, streams.other)
        isActing = false
      }
    }

    return streams
  }

  async function settle (): Promise<void> {
    await own.settle()
    await other.settle()
    onTold = () => {}
    await own.settle()
    await other.settle()
  }

  /** Small and large, alone and together, with the transport full in between */
  async function sendMuch (wire: Wire, streams: YamuxStream[]): Promise<void> {
    for (const byteLength of [1, 100, 9000, 40_000]) {
      streams.forEach((stream, i) => { wire.send(stream, pattern(byteLength, i)) })
      await wire.settle()
    }

    wire.peer.transport.isFull = true
    streams.forEach((stream, i) => { wire.send(stream, pattern(500, i)) })
    await wire.settle()
    streams.forEach((stream, i) => { wire.send(stream, pattern(20_000, i)) })
    wire.peer.transport.drain()
    await wire.settle()
  }

  test.each([10, 2000, 10_000])('sends %i bytes on another connection mixes up nothing', async byteLength => {
    let sends = 0
    const streams = await streamsOfBoth((_, [stream]) => {
      if (sends++ < 20) {
        other.send(stream, pattern(byteLength, sends))
      }
    })
    await sendMuch(own, streams.own)
    await settle()

    expect(sends).toBeGreaterThan(10)
    own.expectOwnBytes(streams.own)
    other.expectOwnBytes(streams.other)
    await own.expectAlive()
    await other.expectAlive()
  })

  test.each<[string, () => Wire]>([['the connection that it is told of', () => own], ['another connection', () => other]])('sends for everything that it is told on %s never goes too deep', async (_, wireOf) => {
    const MAX_SENDS = 20_000
    const wire = wireOf()
    const first = await own.open()
    const stream = await wire.open()
    const errors: unknown[] = []
    let sends = 0
    onTold = () => {
      if (sends++ < MAX_SENDS) {
        try {
          wire.send(stream, Uint8Array.of(sends))
        } catch (err) {
          errors.push(err)
          throw err
        }
      }
    }
    own.send(first, pattern(10))

    for (let i = 0; i < 500; i++) {
      await nextTurn()

      if (sends >= MAX_SENDS) {
        break
      }
    }

    await settle()
    expect(errors).toEqual([])
    wire.expectOwnBytes([stream])
    own.expectOwnBytes([first])
    await own.expectAlive()
    await other.expectAlive()
  })

  test.each<[string, () => Wire, (wire: Wire) => void]>([
    ['aborts the connection that it is told of', () => own, ({ peer }) => { peer.muxer.abort(new Error('Enough')) }],
    ['aborts another connection', () => other, ({ peer }) => { peer.muxer.abort(new Error('Enough')) }],
    ['closes the connection that it is told of', () => own, ({ peer }) => { peer.muxer.close().catch(() => {}) }],
    ['closes another connection', () => other, ({ peer }) => { peer.muxer.close().catch(() => {}) }],
    ['loses the transport that it is told of', () => own, ({ peer }) => { peer.transport.end(new Error('Connection reset')) }],
    ['loses another transport', () => other, ({ peer }) => { peer.transport.end(new Error('Connection reset')) }]
  ])('%s leaves each wire legal', async (_, wireOf, end) => {
    const ended = wireOf()
    const streams = await streamsOfBoth(() => { end(ended) })
    const events = [...streams.own, ...streams.other].map(endings)
    other.sendToOpen(streams.other, 3000)
    own.sendToOpen(streams.own, 100_000)
    await settle()
    const living = ended === own ? other : own
    // one that is closed may wait for the answer to its last ping, which does not come here
    expect(ended.peer.muxer.status).not.toBe('open')
    expect(events.every(({ length }) => length <= 1)).toBe(true)
    ended.expectOwnBytes([])
    living.expectOwnBytes(ended === own ? streams.other : streams.own)
    await living.expectAlive()
  })
})

describe.each(STRATEGIES)('with \'%s\'', strategy => {
  test.each([1, 2, 3, 4, 5, 6])('a transport that throws at write %i ends its connection with the error, and no other', async count => {
    const wire = connect(strategy, { coalesce: { strategy, maxBytes: 4096 } })
    const other = connect(strategy)
    const streams = [await wire.open(), await wire.open()]
    const otherStream = await other.open()
    const events = streams.map(endings)
    const received = receive(otherStream)
    const { transport } = wire.peer
    const send = transport.send.bind(transport)
    const broken = new Error('The transport is broken')
    let writes = 0
    transport.send = bytes => {
      if (++writes === count) {
        throw broken
      }

      return send(bytes)
    }
    wire.sendToOpen(streams, 120_000)
    other.send(otherStream, pattern(20_000, 5))
    await wire.settle()
    other.send(otherStream, pattern(500, 6))
    other.hear(data(Number(otherStream.id), pattern(77)))
    await other.settle()

    expect(writes).toBe(count)
    expect(wire.peer.muxer.status).toBe('closed')
    expect(transport.abortedWith).toBe(broken)
    expect(events.map(([event]) => event?.error)).toEqual(streams.map(() => expect.objectContaining({ name: 'TransportClosedError', cause: broken })))
    wire.expectOwnBytes([])
    other.expectOwnBytes([otherStream])
    expect(received.byteLength).toBe(77)
    await other.expectAlive()
  })
})
