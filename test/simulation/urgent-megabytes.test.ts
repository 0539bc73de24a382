// Megabytes on a stream that is marked urgent, and a message now and then on one that is not.
import { quantile } from 'simple-statistics'
import { expect, test } from 'vitest'
import { isYamuxStream } from '../../src/index.ts'
import { factories } from './fixtures/echo.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { Stream } from '@libp2p/interface'

const LINK = { rateBytesPerS: 2_500_000, delayMs: 10, socketBufferBytes: 2_097_152 }
const BULK_MESSAGE_BYTES = 65_536
const MESSAGE_BYTES = 100
const MESSAGES = 200
const EVERY_MS = 30
/** Until the rate of the line is known */
const SETTLED_MS = 3000

async function saturate (stream: Stream, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    if (!stream.send(new Uint8Array(BULK_MESSAGE_BYTES))) {
      await new Promise(resolve => { stream.addEventListener('drain', resolve, { once: true }) })
    }
  }
}

/** How long each of the messages takes, one way */
async function latenciesMs (priority: 'normal' | 'urgent'): Promise<number[]> {
  return simulate({}, async sim => {
    const { dialler, listener } = sim.connect(LINK, factories('ours', 'ours'))
    const sentMs: number[] = []
    const latencies: number[] = []
    let streams = 0
    let isOver = false

    listener.addEventListener('stream', ({ detail: stream }) => {
      if (++streams === 1) {
        return
      }

      stream.addEventListener('message', ({ data }) => {
        for (let message = 0; message < data.byteLength / MESSAGE_BYTES; message++) {
          latencies.push(sim.nowMs - sentMs[latencies.length])
        }
      })
    })
    await sim.sleep(5 * LINK.delayMs)
    const [bulk, other] = [await dialler.createStream(), await dialler.createStream()]

    if (isYamuxStream(bulk)) {
      bulk.priority = priority
    }

    await sim.sleep(5 * LINK.delayMs)
    saturate(bulk, () => isOver).catch(() => {})
    await sim.sleep(SETTLED_MS)

    for (let message = 0; message < MESSAGES; message++) {
      sentMs.push(sim.nowMs)
      other.send(new Uint8Array(MESSAGE_BYTES))
      await sim.sleep(EVERY_MS)
    }

    await sim.until(() => latencies.length === MESSAGES)
    isOver = true

    return latencies
  })
}

test('the message takes at most twice as long as beside megabytes that are not urgent', async () => {
  const [normal, urgent] = [await latenciesMs('normal'), await latenciesMs('urgent')]

  expect(normal).toHaveLength(MESSAGES)
  expect(quantile(urgent, 0.9)).toBeLessThanOrEqual(2 * quantile(normal, 0.9))
})
