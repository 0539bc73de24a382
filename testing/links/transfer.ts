// Sending a work over open streams, and verifying all that arrives.
import { pEvent } from 'p-event'
import { Uint8ArrayList } from 'uint8arraylist'
import { bytesAt, startOfStream } from '../verified/pattern.ts'
import { onVerified, sendIndex } from '../verified/stream-index.ts'
import { closeWhenRemoteDoes } from '../verified/streams.ts'
import { payloadBytes } from './works.ts'
import type { Work } from './works.ts'
import type { Stream } from '@libp2p/interface'

const PART_BYTES = 1_048_576

/** One send() takes all of it, whatever its size */
function messageAt (position: number, byteLength: number): Uint8Array | Uint8ArrayList {
  if (byteLength <= PART_BYTES) {
    return bytesAt(position, byteLength)
  }

  const message = new Uint8ArrayList()

  for (let offset = 0; offset < byteLength; offset += PART_BYTES) {
    message.append(bytesAt(position + offset, Math.min(PART_BYTES, byteLength - offset)))
  }

  return message
}

export class Sender {
  readonly #streams: Stream[]
  readonly #positions: number[]

  constructor (streams: Stream[]) {
    this.#streams = streams
    this.#positions = streams.map((_, index) => startOfStream(index))
    streams.forEach(sendIndex)
  }

  /** Each stream sends as fast as it may; resolves when all is handed to them */
  async send ({ messageBytes, messages }: Work): Promise<void> {
    await Promise.all(this.#streams.map(async (stream, index) => {
      for (let message = 0; message < messages; message++) {
        const bytes = messageAt(this.#positions[index], messageBytes)
        this.#positions[index] += messageBytes

        if (!stream.send(bytes)) {
          await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
        }
      }
    }))
  }
}

export class Receiver {
  /** Of all streams together */
  #verifiedBytes = 0
  #dueBytes = 0
  #arrived = Promise.withResolvers<void>()

  onStream (stream: Stream): void {
    closeWhenRemoteDoes(stream)
    onVerified(stream, (_, byteLength) => {
      this.#verifiedBytes += byteLength

      if (this.#verifiedBytes === this.#dueBytes) {
        this.#arrived.resolve()
      }
    }, err => { this.#arrived.reject(err) })
  }

  /** Must be called before the work is sent; resolves when all of it has arrived */
  async expect (work: Work): Promise<void> {
    this.#arrived = Promise.withResolvers()
    this.#dueBytes += payloadBytes(work)

    return this.#arrived.promise
  }
}
