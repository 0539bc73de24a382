// Requests on one stream while others send all they can.
import { BACKGROUND_MESSAGE_BYTES, startBackground } from './background.ts'
import { verifyStream } from './messages.ts'
import { bytesAt, isAt } from '../../../testing/verified/pattern.ts'
import { onIndexed, sendIndex } from '../../../testing/verified/stream-index.ts'
import { closeFully, closeWhenRemoteDoes, openStreams, pieceReader, replyReader } from '../../../testing/verified/streams.ts'
import type { Scenario } from './scenario.ts'
import type { Stream } from '@libp2p/interface'

const BULK_STREAMS = 20
/** What the receiver of bulk confirms at once */
const UNIT_BYTES = 16 * BACKGROUND_MESSAGE_BYTES

/** As applications do it, to a muxer that knows what it means */
export function markUrgent (stream: Stream): void {
  if ('priority' in stream) {
    stream.priority = 'urgent'
  }
}

export const besideBulk: Scenario = {
  async send (openStream, row) {
    const [requestStream, ...bulkStreams] = await openStreams(openStream, 1 + BULK_STREAMS)
    const latenciesMs: number[] = []
    const readReply = replyReader(requestStream, row.messageBytes)
    let position = 0

    if (row.isUrgent === true) {
      markUrgent(requestStream)
    }

    sendIndex(requestStream, 0)
    const bulk = await Promise.all(bulkStreams.map(async (stream, i) => startBackground(stream, 1 + i, UNIT_BYTES)))

    async function request (): Promise<void> {
      const startMs = performance.now()
      requestStream.send(bytesAt(position, row.messageBytes))
      const reply = await readReply()
      latenciesMs.push(performance.now() - startMs)

      if (!isAt(position, reply)) {
        throw new Error('The reply differs from the request')
      }

      position += row.messageBytes
    }

    return {
      latenciesMs,
      besideBytes: () => bulk.reduce((sum, { confirmedBytes }) => sum + confirmedBytes(), 0),

      async work (units) {
        for (let sentBytes = 0; sentBytes < units * row.unitBytesPerStream; sentBytes += row.messageBytes) {
          await request()
        }
      },

      async close () {
        await Promise.all([...bulk.map(async stream => stream.close()), closeFully(requestStream)])
      }
    }
  },

  receive (row) {
    return {
      onStream (stream) {
        closeWhenRemoteDoes(stream)
        onIndexed(stream, index => index === 0
          ? pieceReader(row.messageBytes, request => { stream.send(request) })
          : verifyStream(stream, index, UNIT_BYTES))
      },

      close () {}
    }
  }
}
