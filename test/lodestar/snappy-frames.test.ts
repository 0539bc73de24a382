// Snappy's framing format: what it encodes, decodes, and refuses.
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, it } from 'vitest'
import { pattern } from '../../testing/protocol/frames.ts'
import { decodeFrames, encodeFrames } from '../../testing/lodestar/snappy-frames.ts'
import type { ReadBytes } from '../../testing/lodestar/snappy-frames.ts'

function readerOf (bytes: Uint8ArrayList): ReadBytes {
  return async byteLength => {
    const taken = bytes.sublist(0, byteLength)
    bytes.consume(byteLength)

    return taken
  }
}

describe('snappy frames', () => {
  it.each([1, 65_536, 65_537, 1_000_000])('carry %i bytes there and back', async byteLength => {
    const bytes = pattern(byteLength)
    const frames = encodeFrames(bytes)

    expect(Buffer.compare(await decodeFrames(readerOf(frames), byteLength), bytes)).toBe(0)
    expect(frames.byteLength).toBe(0)
  })

  it('are the literal bytes of the format', () => {
    // identifier; type, length; CRC-32C of 32 zeros as in RFC 3720, B.4, masked; length 32, a literal 0, a copy of it
    expect(Buffer.from(encodeFrames(new Uint8Array(32)).subarray()).toString('hex'))
      .toBe('ff060000734e61507059' + '000a0000' + 'faffd70f' + '2000007a0100')
  })

  it('are refused when a bit of a chunk is wrong', async () => {
    const bytes = encodeFrames(pattern(100)).slice()
    bytes[bytes.length - 1] ^= 1

    await expect(decodeFrames(readerOf(new Uint8ArrayList(bytes)), 100)).rejects.toThrow('checksum')
  })
})
