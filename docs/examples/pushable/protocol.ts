// The writer, in Node and in a page: it sends through an outbox, reads what comes back, and compares.
import { Outbox } from './outbox.ts'
import type { Stream } from '@libp2p/interface'

/** Sends back what it gets */
export const PROTOCOL = '/example/pushable/1'

const TOTAL_BYTES = 8_388_608
const MESSAGE_BYTES = 16_384
/** A prime, so consecutive messages differ */
const PERIOD = 251

/** Returns a sentence that says how much was on its way at most */
export async function exchange (stream: Stream): Promise<string> {
  const outbox = new Outbox(stream)
  let sentBytes = 0
  let returnedBytes = 0
  let mostQueuedBytes = 0
  let mostOnTheWayBytes = 0

  const write = async (): Promise<void> => {
    while (sentBytes < TOTAL_BYTES) {
      const pushed = outbox.push(createMessage(sentBytes))
      sentBytes += MESSAGE_BYTES
      mostQueuedBytes = Math.max(mostQueuedBytes, outbox.queuedBytes)
      mostOnTheWayBytes = Math.max(mostOnTheWayBytes, sentBytes - returnedBytes)
      await pushed
    }

    await outbox.end()
  }

  const read = async (): Promise<void> => {
    for await (const bytes of stream) {
      for (const byte of bytes.subarray()) {
        if (byte !== returnedBytes++ % PERIOD) {
          throw new Error(`byte ${returnedBytes - 1} is wrong`)
        }
      }
    }

    if (returnedBytes < TOTAL_BYTES) {
      throw new Error(`only ${returnedBytes} bytes came back`)
    }
  }

  try {
    await Promise.all([write(), read()])
  } catch (err: any) {
    stream.abort(err)
    throw err
  }

  return `${inKiB(TOTAL_BYTES)} came back in order. On their way at most: ${inKiB(mostOnTheWayBytes)}, ${inKiB(mostQueuedBytes)} of them in the queue.`
}

function createMessage (position: number): Uint8Array {
  return new Uint8Array(MESSAGE_BYTES).map((_, i) => (position + i) % PERIOD)
}

function inKiB (bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`
}
