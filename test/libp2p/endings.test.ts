// Two libp2p nodes in two processes: streams that either side closes or resets.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MUXER_PAIRS } from './fixtures/muxers.ts'
import { createNode } from './fixtures/node.ts'
import { OPERATIONS } from './fixtures/operations.ts'
import { patternDigest } from './fixtures/pattern-digest.ts'
import { startPeer } from './fixtures/spawn.ts'
import type { TestNode } from './fixtures/node.ts'
import type { Peer } from './fixtures/spawn.ts'

const START_TIMEOUT_MS = 30_000
/** What `closeFirst` says before it closes */
const GREETING = [1]
const RESET_ERROR = 'StreamResetError'
/** More than a window, so that it cannot all be under way before the other side reads */
const TRANSFER = { seed: 5, byteLength: 600_000 }

describe.each(MUXER_PAIRS)('a node with $dialler that dials a node with $listener', ({ dialler, listener }) => {
  let node: TestNode
  let peer: Peer

  beforeAll(async () => {
    [node, peer] = await Promise.all([createNode(dialler), startPeer(listener)])
    await node.libp2p.dial(peer.address)
  }, START_TIMEOUT_MS)

  afterAll(async () => {
    await node?.libp2p.stop()
    await peer?.kill()
  })

  test('closes its side of a stream and gets the answer after that', async () => {
    const { digest } = await OPERATIONS.digest(node, { protocol: 'hash', ...TRANSFER })

    expect(digest).toBe(patternDigest(TRANSFER.seed, TRANSFER.byteLength))
  })

  test('answers after the other side has closed its side of a stream', async () => {
    const { digest } = await peer.call('digest', { protocol: 'hash', ...TRANSFER })

    expect(digest).toBe(patternDigest(TRANSFER.seed, TRANSFER.byteLength))
  })

  test('sends on a stream whose acceptor closed its own side first', async () => {
    expect(await OPERATIONS.sendAfterEnd(node, TRANSFER)).toEqual(GREETING)
    expect(await peer.call('closeFirstDigest')).toBe(patternDigest(TRANSFER.seed, TRANSFER.byteLength))
  })

  test('receives on a stream whose own side it closed first', async () => {
    expect(await peer.call('sendAfterEnd', TRANSFER)).toEqual(GREETING)
    expect(await OPERATIONS.closeFirstDigest(node)).toBe(patternDigest(TRANSFER.seed, TRANSFER.byteLength))
  })

  test('sees StreamResetError on a stream that the acceptor aborts', async () => {
    expect(await OPERATIONS.getReset(node)).toEqual({ closeError: RESET_ERROR, readError: RESET_ERROR })
  })

  test('makes the opener see StreamResetError when it aborts as acceptor', async () => {
    expect(await peer.call('getReset')).toEqual({ closeError: RESET_ERROR, readError: RESET_ERROR })
  })

  test('makes the acceptor see StreamResetError when it aborts as opener', async () => {
    await OPERATIONS.reset(node)

    expect(await peer.call('hangEnd')).toBe(RESET_ERROR)
  })

  test('sees StreamResetError on a stream that the opener aborts', async () => {
    await peer.call('reset')

    expect(await OPERATIONS.hangEnd(node)).toBe(RESET_ERROR)
  })

  test('ends a wait for drain with the error of an abort on its own side', async () => {
    expect(await OPERATIONS.resetWhileWaiting(node)).toBe('The opener aborts')
  })

  test('still echoes after all that', async () => {
    const results = await Promise.all([
      OPERATIONS.echo(node, { streamCount: 1, byteLength: 1_000 }),
      peer.call('echo', { streamCount: 1, byteLength: 1_000 })
    ])

    expect(results.map(result => result.matching)).toEqual([1, 1])
  })
})
