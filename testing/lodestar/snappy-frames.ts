// Snappy's framing format, in which ReqResp sends what it has to say: each chunk of 64 KiB by itself, with a checksum.
import crc32c from '@chainsafe/fast-crc32c'
import { compressSync, uncompressSync } from 'snappy'
import { Uint8ArrayList } from 'uint8arraylist'

const CHUNK_BYTES = 65_536
const HEADER_BYTES = 4
const CHECKSUM_BYTES = 4
const COMPRESSED = 0x00
const UNCOMPRESSED = 0x01
const STREAM_IDENTIFIER = Buffer.from([0xff, 6, 0, 0, ...Buffer.from('sNaPpY')])

/** Rotated and moved on, as the format asks for, because of checksums of data that holds checksums */
function maskedChecksum (bytes: Buffer): number {
  const checksum = crc32c.calculate(bytes)

  return (((checksum >>> 15) | (checksum << 17)) + 0xa282ead8) >>> 0
}

function encodeChunk (bytes: Buffer<ArrayBuffer>): Array<Buffer<ArrayBuffer>> {
  const compressed = compressSync(bytes) as Buffer<ArrayBuffer>
  const isSmaller = compressed.byteLength < bytes.byteLength
  const body = isSmaller ? compressed : bytes
  const header = Buffer.alloc(HEADER_BYTES + CHECKSUM_BYTES)

  header[0] = isSmaller ? COMPRESSED : UNCOMPRESSED
  header.writeUIntLE(body.byteLength + CHECKSUM_BYTES, 1, 3)
  header.writeUInt32LE(maskedChecksum(bytes), HEADER_BYTES)

  return [header, body]
}

export function encodeFrames (bytes: Uint8Array): Uint8ArrayList {
  const all = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
  const frames = new Uint8ArrayList(STREAM_IDENTIFIER)

  for (let start = 0; start < all.byteLength; start += CHUNK_BYTES) {
    frames.appendAll(encodeChunk(all.subarray(start, start + CHUNK_BYTES)))
  }

  return frames
}

/** Reads exactly so many bytes */
export type ReadBytes = (byteLength: number) => Promise<Uint8ArrayList>

/** Reads frames until they have given so many bytes */
export async function decodeFrames (read: ReadBytes, byteLength: number): Promise<Uint8Array> {
  const decoded = Buffer.alloc(byteLength)
  let written = 0
  let isIdentified = false

  while (written < byteLength || !isIdentified) {
    const header = Buffer.from((await read(HEADER_BYTES)).subarray())
    const body = Buffer.from((await read(header.readUIntLE(1, 3))).subarray())

    if (header[0] === STREAM_IDENTIFIER[0]) {
      isIdentified = body.equals(STREAM_IDENTIFIER.subarray(HEADER_BYTES))
      continue
    }

    if (!isIdentified || (header[0] !== COMPRESSED && header[0] !== UNCOMPRESSED)) {
      throw new Error(`A chunk of type ${header[0]} where the stream identifier or data has to be`)
    }

    const data = body.subarray(CHECKSUM_BYTES)
    const chunk = header[0] === COMPRESSED ? uncompressSync(data) as Buffer : data

    if (maskedChecksum(chunk) !== body.readUInt32LE(0)) {
      throw new Error('The checksum of a chunk is wrong')
    }

    written += chunk.copy(decoded, written)
  }

  return decoded
}
