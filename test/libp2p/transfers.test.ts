// Two libp2p nodes in two processes: long transfers whose every byte is checked, in both directions.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MUXER_PAIRS } from './fixtures/muxers.ts'
import { createNode } from './fixtures/node.ts'
import { OPERATIONS } from './fixtures/operations.ts'
import { patternDigest } from './fixtures/pattern-digest.ts'
import { startPeer } from './fixtures/spawn.ts'
import type { TestNode } from './fixtures/node.ts'
import type { Peer } from './fixtures/spawn.ts'

const START_TIMEOUT_MS = 30_000
const TRANSFER_TIMEOUT_MS = 90_000
const MEBIBYTE = 2 ** 20
/** A writer that waits for 'drain' leaves little behind: one piece of 64 KiB and what the transport has not taken */
const HELD_BYTES_LIMIT = MEBIBYTE

describe.each(MUXER_PAIRS)('a node with $dialler that dials a node with $listener', ({ dialler, listener }) => {
  // the long run is for ours, the mixed pairs show that nothing differs
  const byteLength = dialler === listener ? 256 * MEBIBYTE : 32 * MEBIBYTE
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

  test(`sends ${byteLength / MEBIBYTE} MiB of which every byte arrives`, async () => {
    const { digest, peakHeldBytes } = await OPERATIONS.digest(node, { protocol: 'hash', seed: 1, byteLength })

    expect(digest).toBe(patternDigest(1, byteLength))
    expect(peakHeldBytes).toBeLessThanOrEqual(HELD_BYTES_LIMIT)
  }, TRANSFER_TIMEOUT_MS)

  test('receives 32 MiB of which every byte arrives', async () => {
    const transfer = { seed: 2, byteLength: 32 * MEBIBYTE }

    expect(await OPERATIONS.source(node, transfer)).toBe(patternDigest(transfer.seed, transfer.byteLength))
  }, TRANSFER_TIMEOUT_MS)

  test('sends every byte to a reader that pauses again and again', async () => {
    const transfer = { seed: 3, byteLength: 2 * MEBIBYTE }
    const { digest } = await OPERATIONS.digest(node, { protocol: 'slow', ...transfer })

    expect(digest).toBe(patternDigest(transfer.seed, transfer.byteLength))
  }, TRANSFER_TIMEOUT_MS)

  test('receives every byte while it pauses again and again', async () => {
    const transfer = { seed: 4, byteLength: 2 * MEBIBYTE }
    const { digest } = await peer.call('digest', { protocol: 'slow', ...transfer })

    expect(digest).toBe(patternDigest(transfer.seed, transfer.byteLength))
  }, TRANSFER_TIMEOUT_MS)
})
