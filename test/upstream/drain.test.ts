// onDrain() of @libp2p/utils waits once: its promise is kept after the first drain.
import { defaultLogger } from '@libp2p/logger'
import { AbstractMessageStream } from '@libp2p/utils'
import { expect, test } from 'vitest'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import type { SendResult } from '@libp2p/utils'

class FullStream extends AbstractMessageStream {
  sendData (): SendResult { return { sentBytes: 0, canSendMore: false } }
  drain (): void { this.safeDispatchEvent('drain') }
  async close (): Promise<void> {}
  sendReset (): void {}
  sendPause (): void {}
  sendResume (): void {}
}

/** What a writer queues that waits for each drain, on a stream that drains once and takes nothing */
async function queuedMessages (): Promise<number> {
  const stream = new FullStream({ direction: 'outbound', log: defaultLogger().forComponent('upstream') })
  const write = async (): Promise<void> => {
    while (stream.writeBufferLength < 1000) {
      stream.send(new Uint8Array(1))
      await stream.onDrain()
    }
  }

  write().catch(() => {})
  stream.drain()
  await nextTurn()

  return stream.writeBufferLength
}

test('today a writer that waits for each drain queues 1,000 messages after one drain', async () => {
  expect(await queuedMessages()).toBe(1000)
})

test.fails('once fixed, it queues one for each drain, and one that waits', async () => {
  expect(await queuedMessages()).toBe(2)
})
