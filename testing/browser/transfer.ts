/**
 * Many streams of one connection, each of which sends its share to a peer that sends all of it back.
 */
import { concat } from 'uint8arrays/concat'
import { patternPieces } from '../pattern.ts'
import { readAll, sendAndClose } from '../libp2p/streams.ts'
import type { Stream } from '@libp2p/interface'

export const ECHO = '/echo/1.0.0'

/** A hundred negotiations at once on a busy machine take longer than libp2p allows for */
export const PATIENCE = {
  inboundStreamProtocolNegotiationTimeout: 30_000,
  outboundStreamProtocolNegotiationTimeout: 30_000
}

/** Resolves when each stream has got back what it has sent, by its SHA-256; rejects otherwise */
export async function exchange (open: () => Promise<Stream>, streamCount: number, bytesPerStream: number): Promise<void> {
  await Promise.all(Array.from({ length: streamCount }, async (_, index) => {
    // no two streams send the same
    const sent = [...patternPieces(bytesPerStream, index)]
    const stream = await open()
    const [received] = await Promise.all([readAll(stream), sendAndClose(stream, sent)])

    if (await sha256(received.slice()) !== await sha256(concat(sent))) {
      throw new Error(`Stream ${index} got ${received.byteLength} bytes back, which differ from the ${bytesPerStream} that it sent`)
    }
  }))
}

async function sha256 (bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return String(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}
