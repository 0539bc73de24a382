// Requests one after the other, a new stream for each, answered at the same size.
import { bytesAt, isAt } from './pattern.ts'
import { readPieces, replyReader } from './streams.ts'
import type { Scenario } from './scenario.ts'

/**
 * An idle core has to wake up for every message, which takes longer than the
 * message itself and varies with the machine. Both processes stay awake here.
 */
function keepAwake (): () => void {
  let isAwake = true

  function spin (): void {
    if (isAwake) {
      setImmediate(spin)
    }
  }

  spin()

  return () => { isAwake = false }
}

export const requests: Scenario = {
  async send (openStream, row) {
    const latenciesMs: number[] = []
    const letSleep = keepAwake()
    let position = 0

    async function request (): Promise<void> {
      const startMs = performance.now()
      const stream = await openStream()
      const readReply = replyReader(stream, row.messageBytes)

      stream.send(bytesAt(position, row.messageBytes))
      const reply = await readReply()
      latenciesMs.push(performance.now() - startMs)

      if (!isAt(position, reply)) {
        throw new Error('The reply differs from the request')
      }

      position += row.messageBytes
      await stream.close()
    }

    return {
      latenciesMs,

      async work (units) {
        for (let sentBytes = 0; sentBytes < units * row.unitBytesPerStream; sentBytes += row.messageBytes) {
          await request()
        }
      },

      async close () {
        letSleep()
      }
    }
  },

  receive (row) {
    const letSleep = keepAwake()
    let position = 0

    return {
      onStream (stream) {
        readPieces(stream, row.messageBytes, request => {
          if (!isAt(position, request)) {
            stream.abort(new Error('The request has wrong bytes'))
            return
          }

          position += row.messageBytes
          stream.send(request)
          stream.close().catch(err => { stream.abort(err) })
        })
      },

      close: letSleep
    }
  }
}
