/**
 * Many streams of one connection, each of which sends its share to a peer that sends all of it back.
 */
import { Uint8ArrayList } from 'uint8arraylist'
import { pattern } from '../pattern.ts'
import type { MessageStream, Stream } from '@libp2p/interface'

export const ECHO = '/echo/1.0.0'
const CHUNK_BYTES = 65_536

/** A hundred negotiations at once on a busy machine take longer than libp2p allows for */
export const PATIENCE = {
  inboundStreamProtocolNegotiationTimeout: 30_000,
  outboundStreamProtocolNegotiationTimeout: 30_000
}

/** Sends everything back as it comes, at the pace at which it is taken */
export async function echo (stream: Stream): Promise<void> {
  for await (const bytes of stream) {
    if (!stream.send(bytes)) {
      await drained(stream)
    }
  }

  await stream.close()
}

export async function drained (stream: MessageStream): Promise<void> {
  return new Promise(resolve => { stream.addEventListener('drain', () => { resolve() }, { once: true }) })
}

/** Resolves when each stream has got back what it has sent, by its SHA-256; rejects otherwise */
export async function exchange (open: () => Promise<Stream>, streamCount: number, bytesPerStream: number): Promise<void> {
  await Promise.all(Array.from({ length: streamCount }, async (_, index) => {
    // no two streams send the same
    const sent = pattern(bytesPerStream, index)
    const stream = await open()
    const [received] = await Promise.all([readAll(stream), sendAll(stream, sent)])

    if (await sha256(received) !== await sha256(sent)) {
      throw new Error(`Stream ${index} got ${received.byteLength} bytes back, which differ from the ${sent.byteLength} that it sent`)
    }
  }))
}

async function sendAll (stream: Stream, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.byteLength; offset += CHUNK_BYTES) {
    if (!stream.send(bytes.subarray(offset, offset + CHUNK_BYTES))) {
      await drained(stream)
    }
  }

  await stream.close()
}

async function readAll (stream: Stream): Promise<Uint8Array<ArrayBuffer>> {
  const received = new Uint8ArrayList()

  for await (const bytes of stream) {
    received.append(bytes)
  }

  return received.slice()
}

async function sha256 (bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return String(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}
