// One message on each stream, the next when all of them have arrived: nothing that a muxer could merge, so a frame for each.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { checkReply, REPLY_BYTES, verifyStream } from './messages.ts'
import { preparedMessages, startOfStream } from '../../../testing/verified/pattern.ts'
import { onIndexed, sendIndex } from '../../../testing/verified/stream-index.ts'
import { closeFully, closeWhenRemoteDoes, openStreams, replyReader } from '../../../testing/verified/streams.ts'
import type { Scenario } from './scenario.ts'

export const onePerTurn: Scenario = {
  /** The last stream, one more than the row has, is confirmed after each message: to confirm all would cost more than what is measured */
  async send (openStream, row) {
    const streams = await openStreams(openStream, row.streams + 1)
    const readReply = streams.map(stream => replyReader(stream, REPLY_BYTES))
    const messageAt = preparedMessages(row.messageBytes)
    let sentBytes = 0

    async function confirm (index: number): Promise<void> {
      checkReply(await readReply[index](), sentBytes)
    }

    async function sendOnAll (): Promise<void> {
      streams.forEach((stream, index) => { stream.send(messageAt(startOfStream(index) + sentBytes)) })
      sentBytes += row.messageBytes
      await confirm(row.streams)
      await nextTurn()
    }

    streams.forEach(sendIndex)
    await Promise.all(streams.map(async (_, index) => confirm(index)))

    return {
      async work (units) {
        for (let unit = 0; unit < units; unit++) {
          for (let unitBytes = 0; unitBytes < row.unitBytesPerStream; unitBytes += row.messageBytes) {
            await sendOnAll()
          }

          await Promise.all(streams.slice(0, row.streams).map(async (_, index) => confirm(index)))
        }
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
        onIndexed(stream, index => verifyStream(stream, index, index < row.streams ? row.unitBytesPerStream : row.messageBytes))
      },

      close () {}
    }
  }
}
