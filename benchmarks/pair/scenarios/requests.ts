// Requests one after the other, on one stream or a new one for each, answered at the same size.
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesAt, isAt } from '../../../testing/verified/pattern.ts'
import { closeFully, closeWhenRemoteDoes, readPieces, replyReader } from '../../../testing/verified/streams.ts'
import type { Scenario } from './scenario.ts'
import type { Stream } from '@libp2p/interface'

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

interface RequestStream {
  stream: Stream
  readReply(): Promise<Uint8Array>
}

export const requests: Scenario = {
  async send (openStream, row) {
    const latenciesMs: number[] = []
    const letSleep = keepAwake()
    const isOneStream = row.scenario === 'requests-on-one-stream'
    let lasting: RequestStream | undefined
    let position = 0

    async function open (): Promise<RequestStream> {
      const stream = await openStream()

      return { stream, readReply: replyReader(stream, row.messageBytes) }
    }

    async function request (): Promise<void> {
      if (row.pauseMs != null) {
        await sleep(row.pauseMs)
      }

      const startMs = performance.now()
      const { stream, readReply } = isOneStream ? lasting ??= await open() : await open()

      stream.send(bytesAt(position, row.messageBytes))
      const reply = await readReply()
      latenciesMs.push(performance.now() - startMs)

      if (!isAt(position, reply)) {
        throw new Error('The reply differs from the request')
      }

      position += row.messageBytes

      if (!isOneStream) {
        await stream.close()
      }
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

        if (lasting != null) {
          await closeFully(lasting.stream)
        }
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

          if (row.scenario === 'requests') {
            stream.close().catch(err => { stream.abort(err) })
          }
        })
        closeWhenRemoteDoes(stream)
      },

      close: letSleep
    }
  }
}
