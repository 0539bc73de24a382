// docs/recipes/noise-crypto.ts: the records are Noise's own, and one that was changed is refused.
import { noise as chainsafeNoise } from '@chainsafe/libp2p-noise'
import { defaultCrypto } from '@chainsafe/libp2p-noise/crypto'
import { noise as libp2pNoise } from '@libp2p/noise'
import { Uint8ArrayList } from 'uint8arraylist'
import { pEvent } from 'p-event'
import { afterEach, describe, expect, test } from 'vitest'
import { noiseCrypto } from '../../docs/recipes/noise-crypto.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import { readAll, returnAll, sendAll, sendAndClose } from '../../testing/libp2p/streams.ts'
import { muxers } from '../../testing/muxers.ts'
import { pattern } from '../../testing/protocol/frames.ts'
import type { ICryptoInterface } from '@chainsafe/libp2p-noise'
import type { Libp2p } from '@libp2p/interface'

const PROTOCOL = '/test/echo/1.0.0'
const TAG_BYTES = 16
/** On both sides of each limit, and the longest record */
const LENGTHS = [0, 1, 511, 512, 1200, 8191, 8192, 16_384, 65_519]
const [key, nonce, ad] = [pattern(32), pattern(12), new Uint8Array()]

const nodes: Libp2p[] = []

afterEach(async () => {
  await Promise.all(nodes.splice(0).map(async node => { await node.stop() }))
})

/** What Noise of this version gets from its own connection */
type Bytes = Exclude<Parameters<ICryptoInterface['chaCha20Poly1305Encrypt']>[0], Uint8Array>

function inPieces (bytes: Uint8Array, pieceBytes: number): Bytes {
  const pieces = Array.from({ length: Math.ceil(bytes.byteLength / pieceBytes) }, (_, index) => bytes.slice(index * pieceBytes, (index + 1) * pieceBytes))

  return new Uint8ArrayList(...pieces) as unknown as Bytes
}

describe.each(LENGTHS)('a record of %i bytes', length => {
  const plaintext = pattern(length)
  const record = defaultCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, key).subarray()

  test.each([['one piece', 65_536], ['pieces of 16 KiB', 16_384], ['pieces of 100 bytes', 100]])('is sealed and opened as Noise does it, in %s', (_, pieceBytes) => {
    const sealed = noiseCrypto.chaCha20Poly1305Encrypt(inPieces(plaintext, pieceBytes), nonce, ad, key)
    const opened = noiseCrypto.chaCha20Poly1305Decrypt(inPieces(record, pieceBytes), nonce, ad, key)

    expect(Buffer.compare(sealed.subarray(), record)).toBe(0)
    expect(Buffer.compare(opened.subarray(), plaintext)).toBe(0)
  })

  test('is sealed and opened as Noise does it, as an array', () => {
    expect(Buffer.compare(noiseCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, key).subarray(), record)).toBe(0)
    expect(Buffer.compare(noiseCrypto.chaCha20Poly1305Decrypt(record.slice(), nonce, ad, key).subarray(), plaintext)).toBe(0)
  })

  test.each([['its first byte', 0], ['its last byte', length + TAG_BYTES - 1]])('is refused when %s was changed', (_, index) => {
    const changed = record.slice()
    changed[index] ^= 1

    expect(() => noiseCrypto.chaCha20Poly1305Decrypt(inPieces(changed, 16_384), nonce, ad, key)).toThrow()
    expect(() => noiseCrypto.chaCha20Poly1305Decrypt(changed, nonce, ad, key)).toThrow()
  })

  test('is refused with another nonce, another key, and other associated data', () => {
    expect(() => noiseCrypto.chaCha20Poly1305Decrypt(record.slice(), pattern(13).subarray(1), ad, key)).toThrow()
    expect(() => noiseCrypto.chaCha20Poly1305Decrypt(record.slice(), nonce, ad, pattern(33).subarray(1))).toThrow()
    expect(() => noiseCrypto.chaCha20Poly1305Decrypt(record.slice(), nonce, pattern(1), key)).toThrow()
  })
})

async function createEchoing (muxer: keyof typeof muxers, encrypter: unknown): Promise<Libp2p> {
  const node = await createNode('ours', { streamMuxers: [await muxers[muxer]()], connectionEncrypters: [encrypter as ReturnType<typeof chainsafeNoise>] })
  await node.handle(PROTOCOL, returnAll)
  nodes.push(node)

  return node
}

const withRecipe = chainsafeNoise({ crypto: noiseCrypto })

describe.each(['ours', 'stock', 'mplex'] as const)('with %s', muxer => {
  test.each([
    ['the recipe', 'the recipe', withRecipe, withRecipe],
    ['the recipe', 'Noise as it comes', withRecipe, chainsafeNoise()],
    ['Noise as it comes', 'the recipe', chainsafeNoise(), withRecipe],
    ['the recipe', '@libp2p/noise', withRecipe, libp2pNoise()]
  ])('%s carries what is sent, to %s and back', async (_dialler, _listener, dialler, listener) => {
    const [from, to] = await Promise.all([dialler, listener].map(async encrypter => createEchoing(muxer, encrypter)))
    const connection = await from.dial(to.getMultiaddrs())

    // messages on both sides of the limits, and more than windows and records hold
    for (const messageBytes of [100, 1000, 4096, 200_000]) {
      const stream = await connection.newStream(PROTOCOL)
      const messages = Array.from({ length: 10 }, () => pattern(messageBytes))
      const [received] = await Promise.all([readAll(stream), sendAndClose(stream, messages)])

      expect(Buffer.compare(received, Buffer.concat(messages))).toBe(0)
    }
  })
})

test('a connection that carries a changed record ends with an error', async () => {
  let isChanging = false
  const changing: ICryptoInterface = {
    ...noiseCrypto,

    chaCha20Poly1305Encrypt (...args) {
      const record = noiseCrypto.chaCha20Poly1305Encrypt(...args).subarray()
      record[record.byteLength - 1] ^= isChanging ? 1 : 0

      return record
    }
  }
  const [from, to] = await Promise.all([chainsafeNoise({ crypto: changing }), withRecipe].map(async encrypter => createEchoing('ours', encrypter)))
  const stream = await from.dialProtocol(to.getMultiaddrs(), PROTOCOL)
  await sendAll(stream, [pattern(1)])
  const closed = pEvent<'close', { error?: Error }>(to.getConnections()[0], 'close')

  isChanging = true
  stream.send(pattern(4096))

  expect((await closed).error).toBeInstanceOf(Error)
})
