// Ours and stock at the two ends of a connection: what is sent is what arrives, in order and to the last byte.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MUXER_PAIRS } from '../libp2p/fixtures/muxers.ts'
import { pattern, patternBytes } from '../libp2p/fixtures/pattern.ts'
import { patternDigest } from '../libp2p/fixtures/pattern-digest.ts'
import { closeOf, firstMessage, readAll, readDigest, sendAndClose } from '../libp2p/fixtures/streams.ts'
import { connect, handle, openBoth } from './fixtures/connected-pair.ts'
import type { ConnectedPair } from './fixtures/connected-pair.ts'

const MEBIBYTE = 2 ** 20

describe.each(MUXER_PAIRS)('$dialler that dials $listener', names => {
  let pair: ConnectedPair

  beforeEach(async () => {
    pair = await connect(names)
  })

  afterEach(() => {
    pair.disconnect()
  })

  test('delivers a single message', async () => {
    const [opened, accepted] = await openBoth(pair)
    const message = firstMessage(accepted)
    opened.send(Uint8Array.of(1, 2, 3))

    expect(await message).toEqual(Uint8Array.of(1, 2, 3))
  })

  test('delivers a message from the acceptor that speaks first', async () => {
    handle(pair.listener, stream => { stream.send(Uint8Array.of(4, 5)) })
    const opened = await pair.dialler.createStream()

    expect(await firstMessage(opened)).toEqual(Uint8Array.of(4, 5))
  })

  test('delivers 100 messages in order', async () => {
    const [opened, accepted] = await openBoth(pair)
    const received = readAll(accepted)
    const messages = Array.from({ length: 100 }, (_, seed) => patternBytes(seed, 1 + seed * 7))

    for (const message of messages) {
      opened.send(message)
      // some go out together, some alone
      if (message.byteLength % 3 === 0) {
        await new Promise(resolve => setImmediate(resolve))
      }
    }

    await opened.close()

    expect(Buffer.compare(await received, Buffer.concat(messages))).toBe(0)
  })

  test('delivers 8 MiB that were sent before close(), and then the end', async () => {
    const [opened, accepted] = await openBoth(pair)
    const received = readDigest(accepted)
    const byteLength = 8 * MEBIBYTE
    await sendAndClose(opened, pattern(1, byteLength))

    expect(await received).toBe(patternDigest(1, byteLength))
    expect(accepted.readableEnded).toBe(true)
    expect(opened.writeStatus).toBe('closed')
  })

  test('delivers 8 MiB of one single send() that close() follows at once', async () => {
    const [opened, accepted] = await openBoth(pair)
    const received = readDigest(accepted)
    const byteLength = 8 * MEBIBYTE
    opened.send(patternBytes(2, byteLength))
    await opened.close()

    expect(await received).toBe(patternDigest(2, byteLength))
  })

  test('delivers 4 MiB in both directions at once', async () => {
    const [opened, accepted] = await openBoth(pair)
    const byteLength = 4 * MEBIBYTE
    const digests = await Promise.all([
      readDigest(opened),
      readDigest(accepted),
      sendAndClose(opened, pattern(3, byteLength)),
      sendAndClose(accepted, pattern(4, byteLength))
    ])

    expect(digests.slice(0, 2)).toEqual([patternDigest(4, byteLength), patternDigest(3, byteLength)])
  })

  test('answers after the opener has closed its side', async () => {
    const [opened, accepted] = await openBoth(pair)
    const answer = readAll(opened)
    const closes = Promise.all([closeOf(opened), closeOf(accepted)])
    const request = readAll(accepted)
    opened.send(patternBytes(5, 300_000))
    await opened.close()
    expect(Buffer.compare(await request, patternBytes(5, 300_000))).toBe(0)
    await sendAndClose(accepted, pattern(6, 600_000))

    expect(Buffer.compare(await answer, Buffer.concat([...pattern(6, 600_000)]))).toBe(0)
    expect((await closes).map(evt => evt.error)).toEqual([undefined, undefined])
  })

  test('sends after the acceptor has closed its side', async () => {
    const [opened, accepted] = await openBoth(pair)
    const received = readDigest(accepted)
    await accepted.close()
    expect(await readAll(opened)).toHaveLength(0)
    await sendAndClose(opened, pattern(7, 600_000))

    expect(await received).toBe(patternDigest(7, 600_000))
  })

  test('delivers what was sent before anybody read to the first who does', async () => {
    const [opened, accepted] = await openBoth(pair)
    const sent = sendAndClose(opened, pattern(8, MEBIBYTE))
    await new Promise(resolve => setTimeout(resolve, 20))

    expect(await readDigest(accepted)).toBe(patternDigest(8, MEBIBYTE))
    await sent
  })
})
