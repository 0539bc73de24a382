// Law: of two applications that each write, and only then read, both finish, for all that fits into the read buffer of one of ours.
import fc from 'fast-check'
import { equals } from 'uint8arrays/equals'
import { describe, expect, test } from 'vitest'
import { connect, openBoth } from './fixtures/connected-pair.ts'
import { MUXER_PAIRS } from '../libp2p/fixtures/muxers.ts'
import { patternBytes } from '../libp2p/fixtures/pattern.ts'
import { readAll, sendAndClose } from '../libp2p/fixtures/streams.ts'
import type { Stream } from '@libp2p/interface'

const MAX_READ_BUFFER_BYTES = 4_194_304

const size = fc.oneof(
  fc.integer({ min: 0, max: MAX_READ_BUFFER_BYTES }),
  // around the window, and the border itself
  fc.integer({ min: 262_143, max: 262_146 }),
  fc.constant(MAX_READ_BUFFER_BYTES)
)

async function writeThenRead (stream: Stream, bytes: Uint8Array, pieceBytes: number): Promise<Uint8Array> {
  const pieces = Array.from({ length: Math.ceil(bytes.byteLength / pieceBytes) }, (_, i) => bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes))
  await sendAndClose(stream, pieces)

  return readAll(stream)
}

describe.each(MUXER_PAIRS)('$dialler and $listener', names => {
  test('finish when each writes before it reads, however much of what the read buffer holds', async () => {
    await fc.assert(fc.asyncProperty(size, size, fc.constantFrom(16_384, 100_000), fc.constantFrom(1, 8, Infinity), async (there, back, pieceBytes, capacity) => {
      const pair = await connect(names, { capacity })
      const streams = await openBoth(pair)
      const bytes = [patternBytes(1, there), patternBytes(2, back)]
      const received = await Promise.all(streams.map(async (stream, i) => writeThenRead(stream, bytes[i], pieceBytes)))

      expect(received.map((read, i) => equals(read, bytes[1 - i]))).toEqual([true, true])
      pair.disconnect()
    }), { numRuns: 6 })
  })
})
