// A page and its worker, joined by a message port.
import { expect, test } from 'vitest'
import { yamux } from '../../src/index.ts'
import { MessagePortStream } from '../../testing/browser/message-port-stream.ts'
import { exchange } from '../../testing/browser/transfer.ts'

test('100 streams carry 200,000 bytes each to a worker and back', async () => {
  const worker = new Worker(new URL('./fixtures/echo-worker.ts', import.meta.url), { type: 'module' })
  const { port1, port2 } = new MessageChannel()
  worker.postMessage(port2, [port2])
  const muxer = yamux()().createStreamMuxer(new MessagePortStream(port1, 'outbound'))

  try {
    await exchange(async () => muxer.createStream(), 100, 200_000)
    await muxer.close()

    expect(muxer.streams).toHaveLength(0)
    expect(muxer.status).toBe('closed')
  } finally {
    worker.terminate()
  }
})
