// Ours and stock at the two ends of a connection: aborts, closing muxers, and broken connections.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MUXER_PAIRS } from '../libp2p/fixtures/muxers.ts'
import { pattern, patternBytes } from '../libp2p/fixtures/pattern.ts'
import { patternDigest } from '../libp2p/fixtures/pattern-digest.ts'
import { closeOf, firstMessage, readAll, readDigest, sendAll, sendAndClose } from '../libp2p/fixtures/streams.ts'
import { connect, openBoth } from './fixtures/connected-pair.ts'
import type { ConnectedPair } from './fixtures/connected-pair.ts'

const MEBIBYTE = 2 ** 20
/** More than anybody takes before the test is over */
const ENDLESS_BYTES = 2 ** 40
const RESET_ERROR = 'StreamResetError'

describe.each(MUXER_PAIRS)('$dialler that dials $listener', names => {
  let pair: ConnectedPair

  beforeEach(async () => {
    pair = await connect(names)
  })

  afterEach(() => {
    pair.disconnect()
  })

  test.each(['opener', 'acceptor'])('resets a stream for both sides when the %s aborts it', async aborter => {
    const [opened, accepted] = await openBoth(pair)
    const [aborting, other] = aborter === 'opener' ? [opened, accepted] : [accepted, opened]
    const closes = Promise.all([closeOf(aborting), closeOf(other)])
    const read = readAll(other)
    const message = firstMessage(other)
    aborting.send(patternBytes(1, 10))
    await message
    aborting.abort(new Error('Enough'))

    await expect(read).rejects.toThrow(expect.objectContaining({ name: RESET_ERROR }))
    expect((await closes).map(evt => [evt.error?.name, evt.local])).toEqual([['Error', true], [RESET_ERROR, false]])
    expect([aborting.status, other.status]).toEqual(['aborted', 'reset'])
    await vi.waitFor(() => {
      expect([pair.dialler.streams, pair.listener.streams]).toEqual([[], []])
    })
  })

  test('lets other streams live when one is aborted', async () => {
    const [opened, accepted] = await openBoth(pair)
    const [otherOpened, otherAccepted] = await openBoth(pair)
    const closed = closeOf(accepted)
    const digest = readDigest(otherAccepted)
    const sent = sendAndClose(otherOpened, pattern(2, 2 * MEBIBYTE))
    opened.abort(new Error('Enough'))

    expect((await closed).error?.name).toBe(RESET_ERROR)
    expect(await digest).toBe(patternDigest(2, 2 * MEBIBYTE))
    await sent
  })

  test('ends the wait of a writer whose stream the other side resets', async () => {
    const [opened, accepted] = await openBoth(pair)
    const message = firstMessage(accepted)
    const closed = closeOf(opened)
    const writing = sendAll(opened, pattern(3, ENDLESS_BYTES))
    await message
    accepted.abort(new Error('Enough'))

    await expect(writing).rejects.toThrow()
    expect((await closed).error?.name).toBe(RESET_ERROR)
    expect(() => opened.send(Uint8Array.of(1))).toThrow()
  })

  test.each(['dialler', 'listener'] as const)('answers pings of the %s', async side => {
    const roundTripMs = await pair[side].ping()

    expect(roundTripMs).toBeGreaterThanOrEqual(0)
    expect([pair.dialler.status, pair.listener.status]).toEqual(['open', 'open'])
  })

  test('answers pings while both sides send', async () => {
    const [opened, accepted] = await openBoth(pair)
    const digests = Promise.all([readDigest(opened), readDigest(accepted)])
    const sent = [opened, accepted].map(async stream => sendAndClose(stream, pattern(4, 2 * MEBIBYTE)))
    await Promise.all([pair.dialler.ping(), pair.listener.ping()])
    await Promise.all(sent)

    expect(await digests).toEqual(Array(2).fill(patternDigest(4, 2 * MEBIBYTE)))
  })

  test.each(['dialler', 'listener'] as const)('opens no more streams once the %s is closed', async side => {
    const [opened, accepted] = await openBoth(pair)
    const ends = [readAll(opened), readAll(accepted)]
    await Promise.all([opened.close(), accepted.close()])
    await Promise.all(ends)
    await pair[side].close()
    const other = side === 'dialler' ? pair.listener : pair.dialler

    expect(pair[side].status).toBe('closed')
    await expect(pair[side].createStream()).rejects.toThrow()
    await vi.waitFor(async () => {
      await expect(other.createStream()).rejects.toThrow()
    })
    await expect(pair[side].close()).resolves.toBeUndefined()
  })

  test('delivers what streams had queued when their muxer closes', async () => {
    const [opened, accepted] = await openBoth(pair)
    const digest = readDigest(accepted)
    opened.send(patternBytes(5, MEBIBYTE))
    const closing = pair.dialler.close()

    expect(await digest).toBe(patternDigest(5, MEBIBYTE))
    await closing
  })

  test('ends all streams when the connection breaks', async () => {
    const streams = [...await openBoth(pair), ...await openBoth(pair)]
    const closes = Promise.all(streams.map(closeOf))
    pair.disconnect()
    const errors = (await closes).map(evt => evt.error)

    // stock ends its streams without an error
    const silent = [names.dialler, names.listener, names.dialler, names.listener].map(name => name === 'stock')
    expect(errors.map((error, i) => silent[i] === true || error instanceof Error)).toEqual(Array(streams.length).fill(true))
    expect([pair.dialler.streams, pair.listener.streams]).toEqual([[], []])
  })
})
