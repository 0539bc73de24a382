// A stream that sends from its opening to its end beside what is measured, every byte of it compared.
import { pEvent } from 'p-event'
import { checkReply, REPLY_BYTES } from './messages.ts'
import { bytesAt, startOfStream } from '../../../testing/verified/pattern.ts'
import { sendIndex } from '../../../testing/verified/stream-index.ts'
import { closeFully, replyReader } from '../../../testing/verified/streams.ts'
import type { Stream } from '@libp2p/interface'

export const BACKGROUND_MESSAGE_BYTES = 65_536

export interface Background {
  confirmedBytes(): number
  /** Sends what completes a unit, and waits until all of it is confirmed */
  close(): Promise<void>
}

/** `unitBytes` are what the receiver confirms at once; no more than `maxUnconfirmedBytes` are in flight */
export async function startBackground (stream: Stream, index: number, unitBytes: number, maxUnconfirmedBytes = Infinity): Promise<Background> {
  const readReply = replyReader(stream, REPLY_BYTES)
  const failed = Promise.withResolvers<never>()
  const state = { isOn: true, sentBytes: 0, confirmedBytes: 0 }
  let onConfirmed = Promise.withResolvers<void>()

  async function confirmedBelow (limitBytes: number): Promise<void> {
    while (state.sentBytes - state.confirmedBytes > limitBytes) {
      await Promise.race([onConfirmed.promise, failed.promise])
    }
  }

  async function send (): Promise<void> {
    while (state.isOn || state.sentBytes % unitBytes !== 0) {
      const canSendMore = stream.send(bytesAt(startOfStream(index) + state.sentBytes, BACKGROUND_MESSAGE_BYTES))
      state.sentBytes += BACKGROUND_MESSAGE_BYTES

      if (!canSendMore) {
        // onDrain() of @libp2p/yamux resolves at once after its first use
        await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
      }

      await confirmedBelow(maxUnconfirmedBytes)
    }
  }

  /** Until the stream ends */
  async function confirm (): Promise<never> {
    for (;;) {
      checkReply(await readReply(), state.confirmedBytes + unitBytes)
      state.confirmedBytes += unitBytes
      onConfirmed.resolve()
      onConfirmed = Promise.withResolvers()
    }
  }

  sendIndex(stream, index)
  checkReply(await readReply(), 0)
  confirm().catch(failed.reject)
  const sent = send()
  // both are reported by close(), unless all was confirmed before
  failed.promise.catch(() => {})
  sent.catch(() => {})

  return {
    confirmedBytes: () => state.confirmedBytes,

    async close () {
      state.isOn = false
      await sent
      await confirmedBelow(0)
      await closeFully(stream)
    }
  }
}
