// Loops that stop asking without a word: who begins to read later gets all that comes, and one that comes back what it has missed.
import { concat } from 'uint8arrays/concat'
import { equals } from 'uint8arrays/equals'
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, test } from 'vitest'
import { data, FIN, pattern, RST, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { expectAlive, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { connect, readLoop, within } from './fixtures/connected.ts'
import { Sender } from './fixtures/sender.ts'
import type { YamuxMuxerInit, YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

type Iterator = AsyncGenerator<Uint8Array | Uint8ArrayList>

/** What an iterator is given until that is so much, or until it is given nothing more */
async function takeBytes (iterator: Iterator, byteLength: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []

  for (let bytes = 0; bytes < byteLength;) {
    const result = await within(iterator.next())

    if (result === 'nothing' || result.done === true) {
      break
    }

    chunks.push(result.value.subarray())
    bytes += result.value.byteLength
  }

  return concat(chunks)
}

/** Returns what tells how much was read, by a loop up to the end of the stream */
function readBeside (stream: YamuxStream, beside: string): () => Promise<number> {
  const reading = beside === 'loop' ? readLoop(stream) : undefined
  const received = beside === 'loop' ? undefined : receive(stream)

  return async () => received?.byteLength ?? (await reading)?.byteLength ?? 0
}

describe('an iterator that took a chunk and was dropped without return()', () => {
  const FIRST_BYTES = 1000
  const ALL_BYTES = 1_500_000

  async function dropped (init: YamuxMuxerInit = {}): Promise<{ peer: Conversation, stream: YamuxStream, sender: Sender, iterator: Iterator }> {
    // the application's own backlog is bounded, and windows stay what they are
    const { peer, stream } = await connect({ streamOptions: { maxStreamWindowSize: WINDOW_BYTES }, ...init })
    const sender = new Sender(peer, init.streamOptions?.initialStreamWindowSize)
    const iterator = stream[Symbol.asyncIterator]()
    const taking = iterator.next()
    await sender.sendUntil(FIRST_BYTES)
    expect((await taking).value?.byteLength).toBe(FIRST_BYTES)

    return { peer, stream, sender, iterator }
  }

  test('leaves every later byte, and credit, to a listener', async () => {
    const { peer, stream, sender } = await dropped()
    const received = receive(stream)
    await sender.sendUntil(ALL_BYTES)

    expect(sender.sentBytes).toBe(ALL_BYTES)
    expect(equals(concat(received.chunks), Sender.bytes(FIRST_BYTES, ALL_BYTES))).toBe(true)
    await expectAlive(peer)
  })

  test('gives credit for the chunk that it took, when a listener takes over', async () => {
    const { peer, stream } = await connect({ streamOptions: { maxStreamWindowSize: WINDOW_BYTES } })
    const taking = stream[Symbol.asyncIterator]().next()
    const sender = new Sender(peer)
    await nextTurn()
    peer.deliver(data(1, Sender.bytes(0, WINDOW_BYTES)))
    expect((await taking).value?.byteLength).toBe(WINDOW_BYTES)
    sender.spend(WINDOW_BYTES)
    receive(stream)
    await sender.sendUntil(2 * WINDOW_BYTES)

    expect(sender.sentBytes).toBe(2 * WINDOW_BYTES)
  })

  test('leaves what had arrived since to a listener', async () => {
    const { stream, sender } = await dropped()
    await sender.sendUntil(100_000)
    expect(sender.sentBytes).toBe(100_000)
    const received = receive(stream)
    await sender.sendUntil(ALL_BYTES)

    expect(sender.sentBytes).toBe(ALL_BYTES)
    expect(equals(concat(received.chunks), Sender.bytes(FIRST_BYTES, ALL_BYTES))).toBe(true)
  })

  test('leaves every later byte, and credit, to a second loop', async () => {
    const { peer, stream, sender } = await dropped()
    const reading = readLoop(stream)
    await sender.sendUntil(ALL_BYTES)
    expect(sender.sentBytes).toBe(ALL_BYTES)
    peer.deliver(windowUpdate(1, 0, FIN))
    const read = await within(reading)

    expect(read !== 'nothing' && equals(read, Sender.bytes(FIRST_BYTES, ALL_BYTES))).toBe(true)
    expect(stream.readableEnded).toBe(true)
  })

  test.each(['listener', 'loop'])('gets what it missed, in order, when it asks again, beside a %s', async beside => {
    const { peer, stream, sender, iterator } = await dropped()
    const readBytes = readBeside(stream, beside)
    await sender.sendUntil(ALL_BYTES)
    expect(sender.sentBytes).toBe(ALL_BYTES)
    expect(equals(await takeBytes(iterator, ALL_BYTES - FIRST_BYTES), Sender.bytes(FIRST_BYTES, ALL_BYTES))).toBe(true)

    // from here on it keeps up
    const next = iterator.next()
    peer.deliver(data(1, pattern(77)), windowUpdate(1, 0, FIN))
    const result = await within(next)
    expect(result !== 'nothing' && result.value?.byteLength).toBe(77)
    expect(await within(iterator.next())).toEqual({ done: true, value: undefined })
    expect(await readBytes()).toBe(ALL_BYTES - FIRST_BYTES + 77)
  })

  test.each(['listener', 'loop'])('is told with a StreamBufferError when it missed more than maxReadBufferLength, beside a %s that misses nothing', async beside => {
    const { peer, stream, sender, iterator } = await dropped({ streamOptions: { maxStreamWindowSize: WINDOW_BYTES, maxReadBufferLength: 500_000 } })
    const readBytes = readBeside(stream, beside)
    await sender.sendUntil(ALL_BYTES)
    expect(sender.sentBytes).toBe(ALL_BYTES)
    const outcome = await within(iterator.next().then(() => 'a chunk', (err: Error) => err.name))

    expect(outcome).toBe('StreamBufferError')
    expect(stream.status).toBe('open')
    peer.deliver(windowUpdate(1, 0, FIN))
    expect(await readBytes()).toBe(ALL_BYTES - FIRST_BYTES)
    expect(await within(iterator.next())).toEqual({ done: true, value: undefined })
  })

  test('gets the end, and what came before it, when it asks again', async () => {
    const { peer, stream, sender, iterator } = await dropped()
    const received = receive(stream)
    await sender.sendUntil(50_000)
    peer.deliver(windowUpdate(1, 0, FIN))
    await stream.close()
    expect(stream.status).toBe('closed')
    expect(received.byteLength).toBe(50_000 - FIRST_BYTES)

    expect(equals(await takeBytes(iterator, 50_000 - FIRST_BYTES), Sender.bytes(FIRST_BYTES, 50_000))).toBe(true)
    expect(await within(iterator.next())).toEqual({ done: true, value: undefined })
  })

  test.each(['listener', 'loop'])('holds little of what comes when it is one of hundreds, beside a %s', async beside => {
    const { peer, stream, sender } = await dropped()
    const received = beside === 'listener' ? receive(stream) : undefined
    const asked: number[] = []

    for (let i = 0; i < 500; i++) {
      const next = stream[Symbol.asyncIterator]().next()
      await sender.sendUntil(sender.sentBytes + 1)
      const result = await within(next)
      asked.push(result === 'nothing' ? 0 : result.value?.byteLength ?? 0)
    }

    expect(asked).toEqual(Array(500).fill(1))
    expect(received?.byteLength ?? 500).toBe(500)
    await expectAlive(peer)
  })

  test('is given up where 16 others were dropped behind it, and others are not', async () => {
    const { stream, sender, iterator } = await dropped()
    const received = receive(stream)
    const later: Iterator[] = []

    for (let i = 0; i < 17; i++) {
      later.push(stream[Symbol.asyncIterator]())
      const next = later[i].next()
      await sender.sendUntil(sender.sentBytes + 1)
      await within(next)
    }

    // the last one is not behind until there is more
    await sender.sendUntil(sender.sentBytes + 1)
    const outcomes = await Promise.all([iterator, ...later].map(async one => within(one.next().then(() => 'a chunk', (err: Error) => err.name))))
    expect(outcomes).toEqual(['StreamBufferError', 'StreamBufferError', ...Array(16).fill('a chunk')])
    expect(received.byteLength).toBe(18)
  })

  test('holds up no listener that was there before', async () => {
    const { peer, stream } = await connect()
    const received = receive(stream)
    const iterator = stream[Symbol.asyncIterator]()
    const first = iterator.next()
    const sender = new Sender(peer)
    await sender.sendUntil(2_000_000)

    expect((await first).value?.byteLength).toBeGreaterThan(0)
    expect([sender.sentBytes, received.byteLength]).toEqual([2_000_000, 2_000_000])
    expect(equals(concat(received.chunks), Sender.bytes(0, 2_000_000))).toBe(true)
  })

  test('alone holds its sender back, and loses nothing', async () => {
    const { sender, iterator } = await dropped()
    await sender.sendUntil(ALL_BYTES)
    // what it has not taken, and the chunk that it may still be busy with
    expect(sender.sentBytes).toBe(WINDOW_BYTES)
    const sending = sender.sendUntil(ALL_BYTES)
    const taken = await takeBytes(iterator, ALL_BYTES - FIRST_BYTES)
    await sending

    expect(equals(taken, Sender.bytes(FIRST_BYTES, ALL_BYTES))).toBe(true)
  })

  test('twice, with nobody else, holds its sender back', async () => {
    const { stream, sender } = await dropped()
    const second = stream[Symbol.asyncIterator]()
    const taking = second.next()
    await sender.sendUntil(2 * FIRST_BYTES)
    expect((await within(taking))).toMatchObject({ done: false })
    await sender.sendUntil(ALL_BYTES)

    expect(sender.sentBytes).toBeLessThanOrEqual(WINDOW_BYTES + FIRST_BYTES)
  })
})

test('a loop that works holds up no other, and gets what it has missed', async () => {
  const { peer, stream } = await connect()
  const [slow, quick] = [stream[Symbol.asyncIterator](), stream[Symbol.asyncIterator]()]
  const first = [slow.next(), quick.next()]
  peer.deliver(data(1, pattern(10)))
  await Promise.all(first)
  const second = quick.next()
  peer.deliver(data(1, pattern(20)))

  expect((await second).value?.byteLength).toBe(20)
  expect((await slow.next()).value?.byteLength).toBe(20)
})

describe('an iterator that was dropped while it asked, as a read with a timeout does', () => {
  test.each(['peer ends the stream', 'transport ends', 'stream is reset'])('gives a second loop all that comes, and its end when the %s', async ending => {
    const { peer, stream } = await connect()
    stream[Symbol.asyncIterator]().next().catch(() => {})
    const chunks: Uint8Array[] = []
    const reading = (async () => {
      for await (const chunk of stream) {
        chunks.push(chunk.subarray())
      }
    })().then(() => 'ended', () => 'failed')
    await nextTurn()

    for (let offset = 0; offset < 20_000; offset += 1000) {
      peer.deliver(data(1, Sender.bytes(offset, offset + 1000)))
      await nextTurn()
    }

    expect(equals(concat(chunks), Sender.bytes(0, 20_000))).toBe(true)

    if (ending === 'peer ends the stream') {
      peer.deliver(windowUpdate(1, 0, FIN))
    } else if (ending === 'transport ends') {
      peer.transport.end()
    } else {
      peer.deliver(windowUpdate(1, 0, RST))
    }

    expect(await within(reading)).toBe(ending === 'peer ends the stream' ? 'ended' : 'failed')
  })
})

test('slow loops get all that waits at the FIN, however much that is', async () => {
  const { peer, stream } = await connect({ streamOptions: { maxReadBufferLength: WINDOW_BYTES } })
  const chunks: Uint8Array[][] = [[], [], []]
  const reading = Promise.all(chunks.map(async (chunks, index) => {
    for await (const chunk of stream) {
      chunks.push(chunk.subarray())

      for (let turn = 0; turn < 3 * index; turn++) {
        await nextTurn()
      }

      if (index > 0) {
        stream.pause()
        stream.resume()
      }
    }

    return 'ended'
  }))
  await nextTurn()

  for (let offset = 0; offset < 200_000; offset += 10_000) {
    peer.deliver(data(1, Sender.bytes(offset, offset + 10_000)))
  }

  peer.deliver(windowUpdate(1, 0, FIN))
  expect(await within(reading, 200)).toEqual(['ended', 'ended', 'ended'])
  chunks.forEach(chunks => { expect(equals(concat(chunks), Sender.bytes(0, 200_000))).toBe(true) })
})
