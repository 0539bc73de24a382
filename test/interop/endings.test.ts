// How streams and connections end before their time, or in good order, by either side.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { howItEnds } from '../../testing/interop/acceptor.ts'
import { describeEachPairOrLightToo } from './fixtures/each-pair.ts'
import { connect } from './fixtures/pair.ts'
import type { Pair } from './fixtures/pair.ts'

const MEBIBYTE = 2 ** 20
const PIECE_BYTES = 64 * 1024
/** Far more than the time up to the kill can carry */
const ENDLESS_BYTES = 2 ** 40
/** In the range that libp2p leaves to applications */
const ERROR_CODE = 0x1234
const CUT_OFF = 'The connection closed before the stream had ended'

describeEachPairOrLightToo((kind, dialler, muxer) => {
  const reset = kind.hasErrorCodes ? `reset ${ERROR_CODE}` : 'reset'
  let pair: Pair

  beforeEach(async () => {
    pair = await connect(kind, dialler, { muxer })
  })

  afterEach(async () => {
    await pair?.stop()
  })

  async function expectEnded (): Promise<void> {
    await pair.session.ended
    await vi.waitFor(() => {
      expect(pair.session.muxer.status).toBe('closed')
      expect(pair.session.muxer.streams.map(stream => stream.id)).toEqual([])
    })
  }

  test('streams that we reset, ours and the peer\'s', async () => {
    await pair.opener.reset(ERROR_CODE)
    expect(await pair.peer.call('ended')).toBe(reset)
    expect(await pair.peer.call('be-reset', ERROR_CODE)).toBe(reset)
    await pair.opener.echo(1, 1)
    await pair.peer.call('echo', 1, 1)
  })

  test('streams that the peer resets, its own and ours', async () => {
    await pair.peer.call('reset', ERROR_CODE)
    expect(await pair.acceptor.lastEnd).toBe(reset)
    expect(await pair.opener.beReset(ERROR_CODE)).toBe(reset)
    await pair.opener.echo(1, 1)
    await pair.peer.call('echo', 1, 1)
  })

  test('a connection that we close', async () => {
    await pair.opener.echo(1, 1)
    await pair.peer.call('echo', 1, 1)
    await pair.session.close()
    await pair.peer.call('closed')

    expect(await pair.session.ended).toBe(undefined)
    await expectEnded()
  })

  test('a connection that the peer closes', async () => {
    await pair.opener.echo(1, 1)
    await pair.peer.call('echo', 1, 1)
    const closed = pair.peer.call('close')

    expect((await pair.session.ended)?.message).toEqual(kind.resetsSocket === true ? expect.stringContaining('ECONNRESET') : undefined)
    expect(pair.session.goAways.filter(code => code !== 0)).toEqual([])
    await expectEnded()
    await closed
  })

  test('a connection that the peer closes while streams of both sides are open', async () => {
    const end = howItEnds(await pair.opener.hang())
    await pair.peer.call('hang')
    const closed = pair.peer.call('close')
    const expected = kind.closesStreams === true ? 'end' : expect.stringContaining(CUT_OFF)

    await expectEnded()
    expect(await end).toEqual(expected)
    expect(await pair.acceptor.lastEnd).toEqual(expected)
    await closed
  })

  test('a peer that is killed in the middle', async () => {
    const outcomes = Promise.allSettled([
      pair.opener.send(ENDLESS_BYTES, PIECE_BYTES, 0),
      pair.opener.receive(ENDLESS_BYTES, 0),
      pair.peer.call('send', ENDLESS_BYTES, PIECE_BYTES, 0)
    ])

    await vi.waitFor(() => {
      expect(Math.min(pair.opener.sentBytes, pair.opener.receivedBytes)).toBeGreaterThan(MEBIBYTE)
      expect(pair.acceptor.takenBytes).toBeGreaterThan(MEBIBYTE)
    }, { timeout: 20_000 })
    await pair.peer.kill()
    await expectEnded()

    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    // it reads what had arrived before it fails
    await vi.waitFor(() => {
      expect(pair.acceptor.failures).toEqual([expect.stringContaining(CUT_OFF)])
    })
    await expect(pair.session.openStream()).rejects.toThrow()
  })
})
