// Both ends of a stream write all that they have before they read. Where credit follows reading, one of them has to grant more than that.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeEachPairOrLightToo } from './fixtures/each-pair.ts'
import { connect } from './fixtures/pair.ts'
import type { Pair } from './fixtures/pair.ts'

const MEBIBYTE = 2 ** 20
/** Four times the window that a stream begins with, and all that this side grants by default */
const SIZES_MEBIBYTES = [1, 4]
/** The slowest peer takes two seconds */
const STALLED_AFTER_MS = 10_000

describeEachPairOrLightToo((kind, dialler, muxer) => {
  let pair: Pair

  // one for each test: a peer that waits for ever does not do what it is told next
  beforeEach(async () => {
    pair = await connect(kind, dialler, { muxer: `${muxer}ByDefault` })
  })

  afterEach(async () => {
    await pair?.stop()
  })

  function describeStall (): string {
    const streams = pair.session.muxer.streams.map(({ id, writeBufferLength, readBufferLength }) => `stream ${id} has ${writeBufferLength} bytes unsent and ${readBufferLength} unread`)

    return `Nothing came of it in ${STALLED_AFTER_MS} ms, so both ends may be waiting for credit. Here ${streams.join(', ') || 'no stream is open'}`
  }

  async function expectNoStall (exchange: Promise<unknown>): Promise<void> {
    const stalled = Promise.withResolvers<never>()
    const timer = setTimeout(() => { stalled.reject(new Error(describeStall())) }, STALLED_AFTER_MS)

    try {
      await Promise.race([exchange, stalled.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Of what the peer sends, when this side had written: it waited for the peer to read, which had written all by then */
  function expectUnread (unreadBytes: number, byteLength: number): void {
    expect(unreadBytes).toEqual(kind.grantsUnread === true ? expect.any(Number) : byteLength)
  }

  test.each(SIZES_MEBIBYTES)('%d MiB each way, on a stream that we open', async mebibytes => {
    const byteLength = mebibytes * MEBIBYTE
    await expectNoStall(pair.opener.exchange(byteLength))
    expectUnread(pair.opener.peakUnreadBytes, byteLength)
  })

  test.each(SIZES_MEBIBYTES)('%d MiB each way, on a stream that the peer opens', async mebibytes => {
    const byteLength = mebibytes * MEBIBYTE
    await expectNoStall(pair.peer.call('exchange', byteLength))
    expect(pair.acceptor.failures).toEqual([])
    expectUnread(pair.acceptor.peakUnreadBytes, byteLength)
  })
})
