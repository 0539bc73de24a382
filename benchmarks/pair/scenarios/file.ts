// A real file, read from disk, sent in chunks and checked by its SHA-256.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { pEvent } from 'p-event'
import { filePath } from '../../rows.ts'
import { closeFully, closeWhenRemoteDoes, openStreams, replyReader, viewsOf } from '../../../testing/verified/streams.ts'
import type { Scenario } from './scenario.ts'

const DIGEST_BYTES = 32

let fileDigest: Promise<string> | undefined

async function hashFile (): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(filePath), hash)
  return hash.digest('hex')
}

export const file: Scenario = {
  async send (openStream, row) {
    fileDigest ??= hashFile()
    const expected = await fileDigest
    const [stream] = await openStreams(openStream, 1)
    const readReply = replyReader(stream, DIGEST_BYTES)

    async function sendFile (): Promise<void> {
      for await (const chunk of createReadStream(filePath, { highWaterMark: row.messageBytes })) {
        if (!stream.send(chunk)) {
          await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
        }
      }
    }

    return {
      async work (units) {
        for (let unit = 0; unit < units; unit++) {
          const [digest] = await Promise.all([readReply(), sendFile()])
          const received = Buffer.from(digest).toString('hex')

          if (received !== expected) {
            throw new Error(`The SHA-256 of the file is ${expected}, but what arrived has ${received}`)
          }
        }
      },

      async close () {
        await closeFully(stream)
      }
    }
  },

  receive (row) {
    return {
      onStream (stream) {
        let hash = createHash('sha256')
        let missingBytes = row.unitBytesPerStream

        closeWhenRemoteDoes(stream)
        stream.addEventListener('message', ({ data }) => {
          for (const view of viewsOf(data)) {
            hash.update(view)
          }

          missingBytes -= data.byteLength

          if (missingBytes <= 0) {
            stream.send(hash.digest())
            hash = createHash('sha256')
            missingBytes = row.unitBytesPerStream
          }
        })
      },

      close () {}
    }
  }
}
