// What a new stream's window gets where credit takes long, and with which write the peer is told.
import { expect, test } from 'vitest'
import { ACK, data, DATA, FIN, pattern, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn, quietMicrotasks } from '../../testing/protocol/raw-peer.ts'
import { headers, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import type { RawPeer, RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { YamuxStream } from '../../src/index.ts'

const HEAD_START_BYTES = 851_968
const FAR_MS = 50

interface Opened {
  peer: RawPeer
  stream: YamuxStream
  clock: VirtualClock
}

/** One of ours, which is read */
async function open (init: RawPeerInit = {}): Promise<Opened> {
  const clock = new VirtualClock()
  const peer = createRawPeer({ clock, ...init })
  const stream = await peer.muxer.createStream()
  stream.addEventListener('message', () => {})
  await nextTurn()
  peer.takeWrites()

  return { peer, stream, clock }
}

/** The peer opens one, which is read */
async function accept (roundTripMs: number, clock = new VirtualClock()): Promise<RawPeer> {
  const peer = createRawPeer({ clock })
  peer.muxer.addEventListener('stream', ({ detail }) => { detail.addEventListener('message', () => {}) })
  peer.muxer.ping().catch(() => {})
  await nextTurn()
  clock.advance(roundTripMs)
  peer.deliver(ping(peer.takeFrames()[0].length, ACK))
  peer.deliver(data(2, pattern(28), SYN))
  await nextTurn()

  return peer
}

/** The program works so long behind a write */
async function workInTurn (peer: RawPeer, clock: VirtualClock, workMs: number): Promise<void> {
  peer.muxer.streams[0].send(pattern(10))
  await quietMicrotasks()
  clock.advance(workMs)
  await nextTurn()
  peer.takeWrites()
}

test('the peer is told with what the program writes next: no write more', async () => {
  const { peer, stream, clock } = await open()
  clock.advance(FAR_MS)
  peer.deliver(data(1, pattern(28), ACK))
  await quietMicrotasks()
  expect(peer.takeWrites()).toEqual([])

  stream.send(pattern(100))
  await quietMicrotasks()
  expect(peer.transport.writes).toHaveLength(1)
  expect(headers(peer.takeFrames())).toEqual([[WINDOW_UPDATE, 0, 1, HEAD_START_BYTES + 28], [DATA, 0, 1, 100]])
})

test('the peer is told a round of the event loop later, if nothing is written', async () => {
  const { peer, clock } = await open()
  clock.advance(FAR_MS)
  peer.deliver(data(1, pattern(28), ACK))
  await nextTurn()

  expect(headers(peer.takeFrames())).toEqual([[WINDOW_UPDATE, 0, 1, HEAD_START_BYTES + 28]])
})

test('a peer that answers soon is told nothing', async () => {
  const { peer, clock } = await open()
  clock.advance(4)
  peer.deliver(data(1, pattern(28), ACK))
  clock.advance(FAR_MS)
  peer.deliver(data(1, pattern(28)))
  await nextTurn()

  expect(peer.takeFrames()).toEqual([])
})

test('a stream has none while data of this side is held: the peer\'s pongs would wait behind it', async () => {
  const { peer, stream, clock } = await open({ coalesce: { maxQueueDelayMs: 10 } })
  peer.deliver(windowUpdate(1, 16_777_216, ACK))
  stream.send(pattern(1_000_000))
  await nextTurn()
  expect(stream.writableNeedsDrain).toBe(true)
  peer.takeWrites()
  clock.advance(FAR_MS)
  peer.deliver(data(1, pattern(28)))
  await nextTurn()

  expect(peer.takeFrames().filter(({ type }) => type === WINDOW_UPDATE)).toEqual([])
})

test('a stream of the peer\'s has a head start where pongs take long, told with the ACK', async () => {
  const peer = await accept(FAR_MS)

  expect(headers(peer.takeFrames())).toEqual([[WINDOW_UPDATE, ACK, 2, HEAD_START_BYTES + 28]])
})

test.each([
  ['none', 'slow', 20, 0],
  ['one too', 'fast', 1, HEAD_START_BYTES + 28]
])('of two streams at once the second has %s if data has come %sly since then: 20,000 bytes in %d ms', async (_, __, tookMs, deltaBytes) => {
  const clock = new VirtualClock()
  const peer = await accept(FAR_MS, clock)
  peer.takeWrites()
  clock.advance(tookMs)
  peer.deliver(data(2, pattern(20_000)))
  peer.deliver(data(4, pattern(28), SYN))
  await nextTurn()

  expect(headers(peer.takeFrames()).filter(([, , id]) => id === 4)).toEqual([[WINDOW_UPDATE, ACK, 4, deltaBytes]])
})

test.each(['has ended', 'began a second earlier'])('a stream has a head start, however little comes, if the one that had one before %s', async earlier => {
  const clock = new VirtualClock()
  const peer = await accept(FAR_MS, clock)
  peer.takeWrites()

  if (earlier === 'has ended') {
    peer.deliver(windowUpdate(2, 0, RST))
    clock.advance(10)
  } else {
    clock.advance(1000)
  }

  peer.deliver(data(4, pattern(28), SYN))
  await nextTurn()

  expect(headers(peer.takeFrames()).filter(([, , id]) => id === 4)).toEqual([[WINDOW_UPDATE, ACK, 4, HEAD_START_BYTES + 28]])
})

test('a stream of the peer\'s has none where pongs come soon', async () => {
  const peer = await accept(4)

  expect(headers(peer.takeFrames())).toEqual([[WINDOW_UPDATE, ACK, 2, 0]])
})

test('a stream of the peer\'s has a head start where this side\'s program works long in its turns, however soon pongs come', async () => {
  const clock = new VirtualClock()
  const { peer } = await open({ clock })
  peer.muxer.addEventListener('stream', ({ detail }) => { detail.addEventListener('message', () => {}) })
  await workInTurn(peer, clock, FAR_MS)
  peer.deliver(data(2, pattern(28), SYN))
  await nextTurn()

  expect(headers(peer.takeFrames())).toEqual([[WINDOW_UPDATE, ACK, 2, HEAD_START_BYTES + 28]])
})

test('there is none for a peer that has said all', async () => {
  const { peer, clock } = await open()
  clock.advance(FAR_MS)
  peer.deliver(data(1, pattern(28), ACK), data(1, pattern(28), FIN))
  await nextTurn()

  expect(peer.takeFrames()).toEqual([])
})

test('there is none for a stream that was reset before it was read', async () => {
  // an eighth of half of what is not kept is just one head start
  const { peer, stream, clock } = await open({ maxConnectionWindow: Math.ceil(16 * HEAD_START_BYTES * 8 / 7) })
  clock.advance(FAR_MS)
  stream.pause()
  peer.deliver(data(1, pattern(28), ACK), windowUpdate(1, 0, RST))
  stream.resume()
  await nextTurn()
  expect(peer.takeFrames()).toEqual([])

  // all of the budget is there for the next
  const next = await peer.muxer.createStream()
  next.addEventListener('message', () => {})
  await nextTurn()
  peer.takeFrames()
  clock.advance(FAR_MS)
  peer.deliver(data(3, pattern(28), ACK))
  await nextTurn()
  expect(headers(peer.takeFrames())).toEqual([[WINDOW_UPDATE, 0, 3, HEAD_START_BYTES + 28]])
})

test('in the middle of a long frame the peer is not told, but at its end', async () => {
  const { peer, clock } = await open()
  const frame = data(1, pattern(100_000), ACK)
  clock.advance(FAR_MS)
  peer.deliver(frame.subarray(0, 50_000))
  await nextTurn()
  expect(peer.takeFrames()).toEqual([])

  peer.deliver(frame.subarray(50_000))
  await nextTurn()
  expect(headers(peer.takeFrames())).toEqual([[WINDOW_UPDATE, 0, 1, HEAD_START_BYTES + 100_000]])
})

test('behind this side\'s FIN there is none, until the peer has used half of the protocol\'s window', async () => {
  const { peer, stream, clock } = await open()
  stream.close().catch(() => {})
  await nextTurn()
  peer.takeFrames()
  clock.advance(FAR_MS)
  peer.deliver(data(1, pattern(28), ACK))
  await nextTurn()

  expect(peer.takeFrames()).toEqual([])
})

test('with a head start a stream takes what it was told of, and no byte more', async () => {
  const { peer, stream, clock } = await open()
  clock.advance(FAR_MS)
  peer.deliver(data(1, pattern(28), ACK))
  await nextTurn()
  stream.pause()

  peer.deliver(data(1, pattern(WINDOW_BYTES)))
  peer.deliver(data(1, pattern(HEAD_START_BYTES)))

  expect(stream.readBufferLength).toBe(WINDOW_BYTES + HEAD_START_BYTES)
  expect(peer.muxer.status).toBe('open')

  peer.deliver(data(1, pattern(1)))
  expect(peer.muxer.status).toBe('closed')
})
