// What a peer had in flight, or answers as stock yamux does, when a stream ends here: no limit takes it for an attack, and none lets more through than that.
import { describe, expect, test } from 'vitest'
import { ACK, concat, data, FIN, frame, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import { converse, endings, expectAlive, expectEnded, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { LimitOptions, YamuxStream } from '../../src/index.ts'
import type { RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { Conversation, Received } from '../../testing/protocol/conversation.ts'

forbidIncidents()

/** The same frame so often, in one piece */
function repeat (bytes: Uint8Array, count: number): Uint8Array {
  const all = new Uint8Array(bytes.byteLength * count)

  for (let i = 0; i < count; i++) {
    all.set(bytes, i * bytes.byteLength)
  }

  return all
}

/** As a transport brings it, a record at a time */
function deliverInChunks (peer: Conversation, bytes: Uint8Array): void {
  const CHUNK_BYTES = 65_519

  for (let offset = 0; offset < bytes.byteLength; offset += CHUNK_BYTES) {
    peer.deliver(bytes.subarray(offset, offset + CHUNK_BYTES))
  }
}

/** Time stands still, so that what a second allows does not come on top */
function connect (init: RawPeerInit = {}): Conversation {
  return converse({ clock: new VirtualClock(), ...init })
}

const LIMITS: Array<[what: string, limits: LimitOptions]> = [
  ['the usual limits', {}],
  ['a small limit', { unknownStreamFrames: { burst: 10, perSecond: 0 } }],
  ['a limit of none at all', { unknownStreamFrames: { burst: 0, perSecond: 0 } }]
]

interface Bystander {
  stream: YamuxStream
  received: Received
}

async function bystanderOf (peer: Conversation): Promise<Bystander> {
  const stream = await peer.open()
  peer.deliver(windowUpdate(Number(stream.id), 1, ACK))

  return { stream, received: receive(stream) }
}

/** It gets what it is sent, and the connection goes on */
async function expectUndisturbed (peer: Conversation, { stream, received }: Bystander): Promise<void> {
  const before = received.byteLength
  peer.deliver(data(Number(stream.id), pattern(1000)))
  await nextTurn()
  expect(received.byteLength - before).toBe(1000)
  expect(stream.status).toBe('open')
  await expectAlive(peer)
}

describe.each(LIMITS)('with %s', (_, limits) => {
  test.each([[131_072, 2], [WINDOW_BYTES, 1], [1000, 1], [16, 16_384]])('%i DATA frames of %i bytes in flight to a stream that is aborted end nothing', async (count, byteLength) => {
    const peer = connect({ limits })
    const bystander = await bystanderOf(peer)
    const stream = await peer.open()
    peer.deliver(windowUpdate(Number(stream.id), 0, ACK))
    const events = endings(stream)
    stream.abort(new Error('Enough'))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, Number(stream.id), 0]])
    deliverInChunks(peer, repeat(data(Number(stream.id), pattern(byteLength)), count))

    expect(events).toHaveLength(1)
    await expectUndisturbed(peer, bystander)
  })

  test('neither do those of three streams that are aborted together, their frames in turn', async () => {
    const peer = connect({ limits })
    const bystander = await bystanderOf(peer)
    const streams = [await peer.open(), await peer.open(), await peer.open()]
    streams.forEach(({ id }) => { peer.deliver(windowUpdate(Number(id), 0, ACK)) })
    streams.forEach(stream => { stream.abort(new Error('Enough')) })
    await peer.written()
    deliverInChunks(peer, repeat(concat(...streams.map(({ id }) => data(Number(id), pattern(1)))), WINDOW_BYTES))

    await expectUndisturbed(peer, bystander)
  })

  test('neither do those of three streams of the peer\'s that are aborted one after the other, a second between them', async () => {
    const clock = new VirtualClock()
    const peer = connect({ limits, clock })
    const bystander = await bystanderOf(peer)

    for (const id of [2, 4, 6]) {
      const stream = await peer.accept(id)
      clock.advance(1000)
      stream.abort(new Error('Enough'))
      await peer.written()
      deliverInChunks(peer, repeat(data(id, pattern(1)), WINDOW_BYTES))
      await expectUndisturbed(peer, bystander)
    }
  })

  test('neither does what is left of a window when some of it has been read and some has not', async () => {
    const peer = connect({ limits })
    const bystander = await bystanderOf(peer)
    const stream = await peer.open()
    const received = receive(stream)
    peer.deliver(windowUpdate(Number(stream.id), 0, ACK))
    // more than half is read, so that credit goes back
    peer.deliver(data(Number(stream.id), pattern(200_000)))
    const granted = (await peer.written()).reduce((sum, [, , id, length]) => id === Number(stream.id) ? sum + length : sum, 0)
    expect(granted).toBe(200_000)
    stream.pause()
    peer.deliver(data(Number(stream.id), pattern(1000)))
    stream.abort(new Error('Enough'))
    await peer.written()
    deliverInChunks(peer, repeat(data(Number(stream.id), pattern(1)), WINDOW_BYTES - 1000))

    expect(received.byteLength).toBe(200_000)
    await expectUndisturbed(peer, bystander)
  })

  test('neither does a window that was raised beyond the first', async () => {
    const peer = connect({ limits, streamOptions: { initialStreamWindowSize: 500_000 } })
    const bystander = await bystanderOf(peer)
    const stream = await peer.accept(2)
    stream.abort(new Error('Enough'))
    await peer.written()
    deliverInChunks(peer, repeat(data(2, pattern(1)), 500_000))

    await expectUndisturbed(peer, bystander)
  })

  test.each(['aborted', 'refused'])('neither does one long frame that an open stream tolerates, of a stock peer with a larger window, on a stream that is %s', async end => {
    const peer = connect({ limits, maxInboundStreams: end === 'refused' ? 1 : 2, streamOptions: { maxStreamWindowSize: 500_000 }, maxToleratedBytes: 4_000_000 })
    const bystander = await bystanderOf(peer)
    const open = await peer.accept(2)
    peer.deliver(data(2, new Uint8Array(900_000)))

    if (end === 'refused') {
      peer.deliver(windowUpdate(4, 0, SYN))
    } else {
      (await peer.accept(4)).abort(new Error('Enough'))
    }

    await peer.written()
    peer.deliver(data(4, new Uint8Array(900_000)))
    expect(open.status).toBe('open')
    await expectUndisturbed(peer, bystander)
  })

  test.each<[string, (id: number) => Uint8Array]>([
    ['with its SYN', id => data(id, pattern(1), SYN)],
    ['behind its SYN', id => concat(windowUpdate(id, 0, SYN), data(id, pattern(1)))]
  ])('neither does a whole window in frames of one byte of a stream that is refused, its first %s', async (_, open) => {
    const peer = connect({ maxInboundStreams: 1, limits })
    const bystander = await bystanderOf(peer)
    await peer.accept(2)
    deliverInChunks(peer, concat(open(4), repeat(data(4, pattern(1)), WINDOW_BYTES - 1)))

    expect(peer.inbound).toHaveLength(1)
    expect((await peer.written()).filter(([, , id]) => id === 4)).toEqual([[WINDOW_UPDATE, RST, 4, 0]])
    await expectUndisturbed(peer, bystander)
  })

  test('neither does a whole window of a stream that the application refuses', async () => {
    const peer = connect({ limits })
    const bystander = await bystanderOf(peer)
    peer.muxer.addEventListener('stream', evt => { evt.detail.abort(new Error('Not served here')) })
    deliverInChunks(peer, concat(windowUpdate(2, 0, SYN), repeat(data(2, pattern(1)), WINDOW_BYTES)))

    await expectUndisturbed(peer, bystander)
  })

  test('neither does a whole window of a stream that ends by a timeout', async () => {
    const clock = new VirtualClock()
    const peer = connect({ limits: { ...limits, openTimeoutMs: 1000 }, clock })
    const bystander = await bystanderOf(peer)
    const stream = await peer.open()
    clock.advance(2000)
    await peer.written()
    expect(stream.status).toBe('aborted')
    deliverInChunks(peer, repeat(data(Number(stream.id), pattern(1)), WINDOW_BYTES))

    await expectUndisturbed(peer, bystander)
  })
})

describe.each(LIMITS.slice(0, 2))('with %s', (_, limits) => {
  test.each([100_000, 150_000])('the window updates for each of %i frames that were sent on a stream that is aborted end nothing', async count => {
    const peer = connect({ coalesce: { mergeMessages: false }, limits })
    const bystander = await bystanderOf(peer)
    const stream = await peer.open()
    const id = Number(stream.id)
    peer.deliver(windowUpdate(id, 1_000_000, ACK))

    for (let i = 0; i < count; i++) {
      stream.send(Uint8Array.of(i))
    }

    for (let i = 0; i < 100 && stream.writeBufferLength > 0; i++) {
      await nextTurn()
    }

    const frames = (await peer.written()).filter(([type, , frameId]) => type === 0 && frameId === id)
    expect(frames).toHaveLength(count)
    stream.abort(new Error('Enough'))
    await peer.written()
    deliverInChunks(peer, repeat(windowUpdate(id, 1), count))

    await expectUndisturbed(peer, bystander)
  })

  test('neither do the window updates for each frame that was sent on a stream that both sides have closed', async () => {
    const COUNT = 5000
    const peer = connect({ coalesce: { mergeMessages: false }, limits })
    const bystander = await bystanderOf(peer)
    const stream = await peer.open()
    const id = Number(stream.id)
    peer.deliver(windowUpdate(id, 0, ACK))

    for (let i = 0; i < COUNT; i++) {
      stream.send(Uint8Array.of(i))
    }

    peer.deliver(windowUpdate(id, 0, FIN))
    await stream.close()
    expect(stream.status).toBe('closed')
    await peer.written()
    deliverInChunks(peer, repeat(windowUpdate(id, 1), COUNT))

    await expectUndisturbed(peer, bystander)
  })

  test('neither does the peer\'s own end of a stream that was aborted here: FIN, then RST', async () => {
    const peer = connect({ limits })
    const bystander = await bystanderOf(peer)

    for (let i = 0; i < 20; i++) {
      const stream = await peer.open()
      const id = Number(stream.id)
      peer.deliver(windowUpdate(id, 0, ACK))
      stream.abort(new Error('Enough'))
      await peer.written()
      peer.deliver(windowUpdate(id, 0, FIN), windowUpdate(id, 0, RST))
    }

    await expectUndisturbed(peer, bystander)
  })
})

describe('beyond what the windows allowed, with a limit of 10', () => {
  const limits: LimitOptions = { unknownStreamFrames: { burst: 10, perSecond: 0 } }
  /** Far more than any stream may have been answered by in frames that carry no payload */
  const MANY = 10_000

  async function aborted (init: RawPeerInit = {}): Promise<{ peer: Conversation, bystander: Bystander, events: unknown[] }> {
    const peer = connect({ limits, ...init })
    const bystander = await bystanderOf(peer)
    const events = endings(bystander.stream)
    const stream = await peer.open()
    peer.deliver(windowUpdate(Number(stream.id), 0, ACK))
    stream.abort(new Error('Enough'))
    await peer.written()

    return { peer, bystander, events }
  }

  async function expectTooMany (peer: Conversation, events: unknown[]): Promise<void> {
    expect(events).toEqual([expect.objectContaining({ error: expect.objectContaining({ name: 'ProtocolError', code: 'ERR_TOO_MANY_UNKNOWN_STREAM_FRAMES' }) })])
    await expectEnded(peer, 1)
  }

  test.each<[string, Uint8Array]>([
    ['DATA frames of one byte', data(3, pattern(1))],
    ['window updates', windowUpdate(3, 1)],
    ['DATA frames without data', frame(0, 0, 3, 0)],
    ['FINs', windowUpdate(3, 0, FIN)]
  ])('%s behind a window that is used up end the connection', async (_, bytes) => {
    const { peer, bystander, events } = await aborted()
    deliverInChunks(peer, repeat(data(3, pattern(1)), WINDOW_BYTES))
    await expectUndisturbed(peer, bystander)
    deliverInChunks(peer, repeat(bytes, MANY))
    await expectTooMany(peer, events)
  })

  test('one large frame uses up the window as many small ones do', async () => {
    const { peer, bystander, events } = await aborted()
    peer.deliver(data(3, pattern(WINDOW_BYTES)))
    await expectUndisturbed(peer, bystander)
    deliverInChunks(peer, repeat(data(3, pattern(1)), MANY))
    await expectTooMany(peer, events)
  })

  test('window updates alone end the connection', async () => {
    const { peer, events } = await aborted()
    deliverInChunks(peer, repeat(windowUpdate(3, 1), WINDOW_BYTES + MANY))
    await expectTooMany(peer, events)
  })

  test('frames of a stream that was refused end the connection behind its first window', async () => {
    const peer = connect({ limits, maxInboundStreams: 0 })
    const bystander = await bystanderOf(peer)
    const events = endings(bystander.stream)
    deliverInChunks(peer, concat(windowUpdate(2, 0, SYN), repeat(data(2, pattern(1)), WINDOW_BYTES)))
    await expectUndisturbed(peer, bystander)
    deliverInChunks(peer, repeat(data(2, pattern(1)), MANY))
    await expectTooMany(peer, events)
  })

  test('frames of a stream that the peer has finished, and that is over, end the connection', async () => {
    const peer = connect({ limits })
    const bystander = await bystanderOf(peer)
    const events = endings(bystander.stream)
    const stream = await peer.open()
    peer.deliver(windowUpdate(3, 0, FIN))
    await stream.close()
    await peer.written()
    deliverInChunks(peer, repeat(data(3, pattern(1)), WINDOW_BYTES + MANY))
    await expectTooMany(peer, events)
  })

  test('frames of a stream that the peer has reset end the connection', async () => {
    const peer = connect({ limits })
    const bystander = await bystanderOf(peer)
    const events = endings(bystander.stream)
    await peer.open()
    peer.deliver(windowUpdate(3, 0, RST))
    deliverInChunks(peer, repeat(data(3, pattern(1)), MANY))
    await expectTooMany(peer, events)
  })

  test('frames of streams that never were end the connection', async () => {
    const { peer, events } = await aborted()
    deliverInChunks(peer, repeat(data(99, pattern(1)), WINDOW_BYTES + MANY))
    await expectTooMany(peer, events)
  })
})
