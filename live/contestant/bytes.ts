/**
 * What streams carry: a pattern that tells each place from its neighbours, so that lost or doubled bytes are noticed.
 */

/** A prime, so that no size of a message or a frame hides a shift */
const PERIOD_BYTES = 65_521
const LONGEST_BYTES = 1_048_576

const pattern = Uint8Array.from({ length: PERIOD_BYTES + LONGEST_BYTES }, (_, i) => {
  const place = i % PERIOD_BYTES

  return place ^ (place >>> 8)
})

export function bytesAt (position: number, byteLength: number): Uint8Array {
  const start = position % PERIOD_BYTES

  return pattern.subarray(start, start + byteLength)
}

/** Looks at both ends of a piece: comparing each byte would be most of what is measured */
export function checkBytes (position: number, piece: Uint8Array): void {
  const last = piece.byteLength - 1
  const expected = [position, position + last].map(place => pattern[place % PERIOD_BYTES])

  if (piece[0] !== expected[0] || piece[last] !== expected[1]) {
    throw new Error(`Bytes ${position} to ${position + last} of a stream begin with ${piece[0]} and end with ${piece[last]} instead of ${expected.join(' and ')}`)
  }
}
