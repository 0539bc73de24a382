// Both ends write before they read, each pair of muxers in one process. Law: both finish, for all that fits into the read buffer of one of ours.
import fc from 'fast-check'
import { equals } from 'uint8arrays/equals'
import { describe, expect, test } from 'vitest'
import { MUXER_PAIRS } from '../../testing/muxers.ts'
import { pattern } from '../../testing/pattern.ts'
import { readAll, sendAndClose } from '../../testing/libp2p/streams.ts'
import { connect, openBoth } from './fixtures/connected-pair.ts'
import type { Stream } from '@libp2p/interface'

const MAX_READ_BUFFER_BYTES = 4_194_304
const WINDOW_BYTES = 262_144

const size = fc.oneof(
  fc.integer({ min: 0, max: MAX_READ_BUFFER_BYTES }),
  // around the window, and the border itself
  fc.integer({ min: WINDOW_BYTES - 1, max: WINDOW_BYTES + 2 }),
  fc.constant(MAX_READ_BUFFER_BYTES)
)

/** What came */
async function writeThenRead (stream: Stream, bytes: Uint8Array, pieceBytes: number): Promise<Uint8Array> {
  const pieces = Array.from({ length: Math.ceil(bytes.byteLength / pieceBytes) }, (_, i) => bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes))
  await sendAndClose(stream, pieces)

  return readAll(stream)
}

describe.each(MUXER_PAIRS)('$dialler that dials $listener', names => {
  test('finishes when each writes before it reads, however much of what the read buffer holds', async () => {
    await fc.assert(fc.asyncProperty(size, size, fc.constantFrom(16_384, 100_000), fc.constantFrom(1, 8, Infinity), async (there, back, pieceBytes, capacity) => {
      const pair = await connect(names, { capacity })
      const streams = await openBoth(pair)
      const bytes = [pattern(there, 1), pattern(back, 2)]
      const received = await Promise.all(streams.map(async (stream, i) => writeThenRead(stream, bytes[i], pieceBytes)))

      expect(received.map((read, i) => equals(read, bytes[1 - i]))).toEqual([true, true])
      pair.disconnect()
    }), { numRuns: 6 })
  })

  // both sides fill every window before either reads an answer: whoever stops reading while it waits to write is stuck
  test('finishes 64 streams on which both sides write more than a window before they read, through a pipe of one message', async () => {
    const pair = await connect(names, { capacity: 1 })
    const byteLength = WINDOW_BYTES + 65_536

    const pairs: Stream[][] = []

    for (let i = 0; i < 64; i++) {
      pairs.push(await openBoth(pair))
    }

    const matches = await Promise.all(pairs.flat().map(async (stream, i) => {
      // what one end of a stream writes is what the other does
      const bytes = pattern(byteLength, i >> 1)

      return equals(await writeThenRead(stream, bytes, 65_536), bytes)
    }))

    expect(matches).toEqual(Array(128).fill(true))
    pair.disconnect()
  })
})
