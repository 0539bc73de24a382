// Messages on many streams beside one whose reader pauses: it must not hold up the others.
import { BACKGROUND_MESSAGE_BYTES, startBackground } from './background.ts'
import { messages, verifyStream, verifyTogether } from './messages.ts'
import { onIndexed } from '../../../testing/verified/stream-index.ts'
import { closeWhenRemoteDoes } from '../../../testing/verified/streams.ts'
import type { Scenario } from './scenario.ts'
import type { Stream } from '@libp2p/interface'

/** After each message event */
const PAUSE_MS = 20
/** More than yamux lets be in flight at first, and less than libp2p lets a paused stream hold */
const MAX_UNCONFIRMED_BYTES = 1024 * 1024

function readSlowly (stream: Stream): void {
  stream.addEventListener('message', () => {
    stream.pause()
    setTimeout(() => {
      if (stream.readStatus === 'paused') {
        stream.resume()
      }
    }, PAUSE_MS)
  })
}

export const slowReader: Scenario = {
  async send (openStream, row) {
    const fast = await messages.send(openStream, row)
    const slow = await startBackground(await openStream(), row.streams, BACKGROUND_MESSAGE_BYTES, MAX_UNCONFIRMED_BYTES)

    return {
      work: fast.work,
      besideBytes: slow.confirmedBytes,

      async close () {
        await Promise.all([fast.close(), slow.close()])
      }
    }
  },

  receive (row) {
    const verifyFast = verifyTogether(row.streams, row.unitBytesPerStream)

    return {
      onStream (stream) {
        closeWhenRemoteDoes(stream)
        onIndexed(stream, index => {
          if (index < row.streams) {
            return verifyFast(stream, index)
          }

          readSlowly(stream)

          return verifyStream(stream, index, BACKGROUND_MESSAGE_BYTES)
        })
      },

      close () {}
    }
  }
}
