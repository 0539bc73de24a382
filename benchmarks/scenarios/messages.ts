// Messages of one size on one or many streams, every byte of them compared.
import { bytesAt, isAt, startOfStream } from './pattern.ts'
import { roundRobin } from './round-robin.ts'
import { onIndexed, sendIndex } from './stream-index.ts'
import { closeFully, closeWhenRemoteDoes, openStreams, replyReader } from './streams.ts'
import type { Scenario } from './scenario.ts'
import type { Stream } from '@libp2p/interface'

export const REPLY_BYTES = 8

/** The reply is the number of verified bytes, negative if the byte after them is wrong */
function encodeReply (verifiedBytes: number, isRight: boolean): Uint8Array {
  const bytes = Buffer.alloc(REPLY_BYTES)
  bytes.writeDoubleBE(isRight ? verifiedBytes : -1 - verifiedBytes)
  return bytes
}

export function checkReply (reply: Uint8Array, expectedBytes: number): void {
  const verifiedBytes = Buffer.from(reply).readDoubleBE()

  if (verifiedBytes < 0) {
    throw new Error(`The receiver got wrong bytes after ${-1 - verifiedBytes} right ones`)
  }

  if (verifiedBytes !== expectedBytes) {
    throw new Error(`The receiver got ${verifiedBytes} bytes instead of ${expectedBytes}`)
  }
}

/** Replies after each unit with the sum of all, the first time before any byte has come */
export function verifyStream (stream: Stream, index: number, unitBytes: number): (data: Uint8Array) => void {
  const startPosition = startOfStream(index)
  let verifiedBytes = 0
  let replyAtBytes = unitBytes

  stream.send(encodeReply(0, true))

  return bytes => {
    if (!isAt(startPosition + verifiedBytes, bytes)) {
      stream.send(encodeReply(verifiedBytes, false))
      return
    }

    verifiedBytes += bytes.byteLength

    while (verifiedBytes >= replyAtBytes) {
      stream.send(encodeReply(replyAtBytes, true))
      replyAtBytes += unitBytes
    }
  }
}

export const messages: Scenario = {
  async send (openStream, row) {
    const streams = await openStreams(openStream, row.streams)
    const readReply = streams.map(stream => replyReader(stream, REPLY_BYTES))
    const positions = streams.map((_, index) => startOfStream(index))
    let expectedBytes = 0

    /** The receiver replies after each unit with the sum of all */
    async function confirmAll (expectedBytes: number): Promise<void> {
      const replies = await Promise.all(readReply.map(async read => read()))
      replies.forEach(reply => { checkReply(reply, expectedBytes) })
    }

    const writer = roundRobin(streams, index => {
      const message = bytesAt(positions[index], row.messageBytes)
      positions[index] += row.messageBytes
      return message
    })

    streams.forEach(sendIndex)
    await confirmAll(0)

    return {
      // two units are under way at any time: one more than that and 1,000 streams would queue all at once
      async work (units) {
        let confirmed = Promise.resolve()

        for (let unit = 0; unit < units; unit++) {
          expectedBytes += row.unitBytesPerStream
          const previous = confirmed
          const unitEndBytes = expectedBytes
          confirmed = previous.then(async () => confirmAll(unitEndBytes))
          await Promise.all([writer.write(row.unitBytesPerStream / row.messageBytes), previous])
        }

        await confirmed
      },

      async close () {
        await Promise.all(streams.map(closeFully))
      }
    }
  },

  receive (row) {
    return {
      onStream (stream) {
        closeWhenRemoteDoes(stream)
        onIndexed(stream, index => verifyStream(stream, index, row.unitBytesPerStream))
      },

      close () {}
    }
  }
}
