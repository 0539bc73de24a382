// The SHA-256 of what was to come and of what came. Apart from both, because browsers have another way to hash.
import { createHash } from 'node:crypto'
import { patternPieces } from '../pattern.ts'
import { chunksOf } from './streams.ts'
import type { Stream } from '@libp2p/interface'

export function patternDigest (seed: number, byteLength: number): string {
  const hash = createHash('sha256')

  for (const piece of patternPieces(byteLength, seed)) {
    hash.update(piece)
  }

  return hash.digest('hex')
}

/** The SHA-256 of all bytes up to the end of the readable side */
export async function readDigest (stream: Stream): Promise<string> {
  const hash = createHash('sha256')

  for await (const bytes of chunksOf(stream)) {
    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
      hash.update(part)
    }
  }

  return hash.digest('hex')
}
