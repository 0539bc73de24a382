// Private networks, and Noise under both of its names: what stands below the muxer in real nodes.
import { noise as chainsafeNoise } from '@chainsafe/libp2p-noise'
import { noise as libp2pNoise } from '@libp2p/noise'
import { generateKey, preSharedKey } from '@libp2p/pnet'
import { afterEach, describe, expect, test } from 'vitest'
import { pattern } from '../../testing/protocol/frames.ts'
import { MUXER_PAIRS } from '../../testing/muxers.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import { readAll, returnAll, sendAndClose } from '../../testing/libp2p/streams.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { Libp2p } from '@libp2p/interface'
import type { Libp2pOptions } from 'libp2p'

const PROTOCOL = '/test/echo/1.0.0'
/** More than windows and records hold */
const BYTES = 1_000_000
const DIAL_TIMEOUT_MS = 1000

const nodes: Libp2p[] = []

afterEach(async () => {
  await Promise.all(nodes.splice(0).map(async node => { await node.stop() }))
})

function createKey (): Uint8Array {
  const key = new Uint8Array(95)
  generateKey(key)

  return key
}

async function createEchoing (muxer: MuxerName, options: Libp2pOptions): Promise<Libp2p> {
  const node = await createNode(muxer, options)
  await node.handle(PROTOCOL, returnAll)
  nodes.push(node)

  return node
}

/** What comes back of what is sent */
async function echo (from: Libp2p, to: Libp2p): Promise<Uint8Array> {
  const stream = await from.dialProtocol(to.getMultiaddrs(), PROTOCOL, { signal: AbortSignal.timeout(20 * DIAL_TIMEOUT_MS) })
  const [received] = await Promise.all([readAll(stream), sendAndClose(stream, [pattern(BYTES)])])

  return received
}

describe('a private network', () => {
  test.each(MUXER_PAIRS)('carries what is sent, with $dialler dialling $listener', async ({ dialler, listener }) => {
    const connectionProtector = preSharedKey({ psk: createKey() })
    const [from, to] = await Promise.all([dialler, listener].map(async name => createEchoing(name, { connectionProtector })))

    expect(await echo(from, to)).toEqual(pattern(BYTES))
  })

  test('is closed to a node with another key', async () => {
    const [from, to] = await Promise.all([createKey(), createKey()].map(async psk => createEchoing('ours', { connectionProtector: preSharedKey({ psk }) })))

    await expect(from.dial(to.getMultiaddrs(), { signal: AbortSignal.timeout(DIAL_TIMEOUT_MS) })).rejects.toThrow()
  })
})

test.each([
  ['@chainsafe/libp2p-noise', '@libp2p/noise', chainsafeNoise, libp2pNoise],
  ['@libp2p/noise', '@chainsafe/libp2p-noise', libp2pNoise, chainsafeNoise],
  ['@libp2p/noise', '@libp2p/noise', libp2pNoise, libp2pNoise]
])('%s dials %s', async (_dialler, _listener, dialler, listener) => {
  const [from, to] = await Promise.all([dialler, listener].map(async noise => createEchoing('ours', { connectionEncrypters: [noise()] })))

  expect(await echo(from, to)).toEqual(pattern(BYTES))
  expect(from.getConnections().map(({ multiplexer }) => multiplexer)).toEqual(['/yamux/1.0.0'])
})
