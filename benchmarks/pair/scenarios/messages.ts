// Messages of one size on one or many streams, every byte of them compared.
import { isAt, preparedMessages, startOfStream } from '../../../testing/verified/pattern.ts'
import { roundRobin } from './round-robin.ts'
import { onIndexed, sendIndex } from '../../../testing/verified/stream-index.ts'
import { closeFully, closeWhenRemoteDoes, openStreams, replyReader } from '../../../testing/verified/streams.ts'
import type { Scenario } from './scenario.ts'
import type { Stream } from '@libp2p/interface'

export const REPLY_BYTES = 8
const WORK_FOR_EACH_BYTES = 4_000_000

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

type OnVerified = (verifiedBytes: number, isRight: boolean) => void

/** Tells of each unit the sum of all right bytes, and that the byte after them is wrong */
function verifier (index: number, unitBytes: number, onVerified: OnVerified): (data: Uint8Array) => void {
  const startPosition = startOfStream(index)
  let verifiedBytes = 0
  let unitEndBytes = unitBytes

  return bytes => {
    if (!isAt(startPosition + verifiedBytes, bytes)) {
      onVerified(verifiedBytes, false)
      return
    }

    verifiedBytes += bytes.byteLength

    while (verifiedBytes >= unitEndBytes) {
      onVerified(unitEndBytes, true)
      unitEndBytes += unitBytes
    }
  }
}

/** Replies after each unit, the first time before any byte has come */
export function verifyStream (stream: Stream, index: number, unitBytes: number): (data: Uint8Array) => void {
  stream.send(encodeReply(0, true))

  return verifier(index, unitBytes, (verifiedBytes, isRight) => { stream.send(encodeReply(verifiedBytes, isRight)) })
}

/**
 * The first stream replies for all when each has a unit: reading a thousand replies a unit was about a tenth of our
 * sender's profile. That they are there, all tell by themselves.
 */
export function verifyTogether (streamCount: number, unitBytes: number): (stream: Stream, index: number) => (data: Uint8Array) => void {
  const arrivals = new Map<number, number>()
  let first: Stream | undefined

  function onVerified (verifiedBytes: number, isRight: boolean): void {
    const arrived = (arrivals.get(verifiedBytes) ?? 0) + 1
    arrivals.set(verifiedBytes, arrived)

    if (!isRight || arrived === streamCount) {
      arrivals.delete(verifiedBytes)
      first?.send(encodeReply(verifiedBytes, isRight))
    }
  }

  return (stream, index) => {
    if (index === 0) {
      first = stream
    }

    stream.send(encodeReply(0, true))

    return verifier(index, unitBytes, onVerified)
  }
}

/** Occupies the receiver's main thread, as a program does that hashes and stores what arrives */
function worker (worksMs: number): (data: Uint8Array) => void {
  let arrivedBytes = 0

  return ({ byteLength }) => {
    arrivedBytes += byteLength

    if (arrivedBytes >= WORK_FOR_EACH_BYTES) {
      arrivedBytes -= WORK_FOR_EACH_BYTES
      const untilMs = performance.now() + worksMs

      while (performance.now() < untilMs) { /* busy */ }
    }
  }
}

export const messages: Scenario = {
  async send (openStream, row) {
    const streams = await openStreams(openStream, row.streams)
    const readReply = streams.map(stream => replyReader(stream, REPLY_BYTES))
    const positions = streams.map((_, index) => startOfStream(index))
    const messageAt = preparedMessages(row.messageBytes)
    let expectedBytes = 0

    async function confirm (index: number, expectedBytes: number): Promise<void> {
      checkReply(await readReply[index](), expectedBytes)
    }

    const writer = roundRobin(streams, index => {
      const position = positions[index]
      positions[index] += row.messageBytes

      return messageAt(position)
    })

    streams.forEach(sendIndex)
    await Promise.all(streams.map(async (_, index) => confirm(index, 0)))

    return {
      // two units are in flight at any time: one more than that and 1,000 streams would queue all at once
      async work (units) {
        let confirmed = Promise.resolve()

        for (let unit = 0; unit < units; unit++) {
          expectedBytes += row.unitBytesPerStream
          const previous = confirmed
          const unitEndBytes = expectedBytes
          confirmed = previous.then(async () => confirm(0, unitEndBytes))
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
    const verify = verifyTogether(row.streams, row.unitBytesPerStream)
    const work = row.receiverWorksMs == null ? undefined : worker(row.receiverWorksMs)

    return {
      onStream (stream) {
        closeWhenRemoteDoes(stream)
        onIndexed(stream, index => {
          const verifyBytes = verify(stream, index)

          return bytes => {
            verifyBytes(bytes)
            work?.(bytes)
          }
        })
      },

      close () {}
    }
  }
}
