// Many streams opened at once, each for one small request, and closed again.
import { bytesAt, isAt } from '../../../testing/verified/pattern.ts'
import { closeFully, closeWhenRemoteDoes, openStreams, readPieces, replyReader } from '../../../testing/verified/streams.ts'
import type { Scenario } from './scenario.ts'
import type { Stream } from '@libp2p/interface'

export const storm: Scenario = {
  async send (openStream, row) {
    const request = bytesAt(0, row.messageBytes)

    async function ask (stream: Stream): Promise<void> {
      const readReply = replyReader(stream, row.messageBytes)
      stream.send(request)

      if (!isAt(0, await readReply())) {
        throw new Error('The reply differs from the request')
      }

      await closeFully(stream)
    }

    return {
      async work (units) {
        for (let unit = 0; unit < units; unit++) {
          const streams = await openStreams(openStream, row.unitBytesPerStream / row.messageBytes)
          await Promise.all(streams.map(ask))
        }
      },

      async close () {}
    }
  },

  receive (row) {
    return {
      onStream (stream) {
        closeWhenRemoteDoes(stream)
        readPieces(stream, row.messageBytes, request => {
          if (isAt(0, request)) {
            stream.send(request)
          } else {
            stream.abort(new Error('The request has wrong bytes'))
          }
        })
      },

      close () {}
    }
  }
}
