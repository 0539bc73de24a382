// One stream that is sent messages, and a sink that keeps, confirms and then verifies them. For pages, workers and Node alike.
import { pattern } from '../../testing/pattern.ts'
import { drained } from '../../testing/libp2p/streams.ts'
import type { Stream } from '@libp2p/interface'

export const SINK = '/sink/1.0.0'

/** What is sent again and again; a whole number of messages of 100 B, 4 KiB and 64 KiB */
const TEMPLATE = pattern(1_638_400, 1)
const HEADER_BYTES = 4
const CONFIRMED = 1
const VERIFIED = 2
const WRONG = 3

/** From the first send until the sink has confirmed all of it; rejects when it has got anything else */
export async function sendMessages (stream: Stream, messageBytes: number, count: number): Promise<number> {
  const { promise: confirmed, resolve: onConfirmed } = Promise.withResolvers<number>()
  const { promise: verified, resolve: onVerified, reject: onWrong } = Promise.withResolvers<void>()

  stream.addEventListener('message', ({ data }) => {
    for (const answer of data.subarray()) {
      answer === CONFIRMED ? onConfirmed(performance.now()) : answer === VERIFIED ? onVerified() : onWrong(new Error('What arrived is not what was sent'))
    }
  })
  stream.addEventListener('close', ({ error }) => { onWrong(error ?? new Error('The stream closed early')) })

  const beginMs = performance.now()
  stream.send(toHeader(messageBytes * count))

  for (let i = 0, offset = 0; i < count; i++, offset = (offset + messageBytes) % TEMPLATE.byteLength) {
    if (!stream.send(TEMPLATE.subarray(offset, offset + messageBytes))) {
      await drained(stream)
    }
  }

  await verified
  const endMs = await confirmed
  await stream.close()

  return endMs - beginMs
}

/** Takes what `sendMessages` sends. Bytes are only copied while the clock runs, and compared afterwards. */
export function receiveMessages (stream: Stream): void {
  const header = new Uint8Array(HEADER_BYTES)
  let headerBytes = 0
  let kept = new Uint8Array(0)
  let keptBytes = 0

  stream.addEventListener('message', ({ data }) => {
    for (let part of data instanceof Uint8Array ? [data] : data) {
      if (headerBytes < HEADER_BYTES) {
        const taken = part.subarray(0, HEADER_BYTES - headerBytes)
        header.set(taken, headerBytes)
        headerBytes += taken.byteLength
        part = part.subarray(taken.byteLength)

        if (headerBytes === HEADER_BYTES) {
          kept = new Uint8Array(new DataView(header.buffer).getUint32(0))
        }
      }

      kept.set(part, keptBytes)
      keptBytes += part.byteLength
    }

    if (headerBytes === HEADER_BYTES && keptBytes === kept.byteLength) {
      stream.send(Uint8Array.of(CONFIRMED))
      setTimeout(() => {
        stream.send(Uint8Array.of(isRight(kept) ? VERIFIED : WRONG))
        stream.close().catch(err => { stream.abort(err) })
      }, 0)
    }
  })
}

function toHeader (byteLength: number): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES)
  new DataView(header.buffer).setUint32(0, byteLength)

  return header
}

function isRight (bytes: Uint8Array): boolean {
  return bytes.every((byte, i) => byte === TEMPLATE[i % TEMPLATE.byteLength])
}
