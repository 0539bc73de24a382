// A program that fetches what it sends: while it fetches, the line works on what it has sent before.
import { expect, test } from 'vitest'
import { yamux } from '../../src/index.ts'
import { simulate } from '../../testing/simulation/simulate.ts'

const LINK = { rateBytesPerS: 1_250_000, delayMs: 20, socketBufferBytes: 2_097_152 }
const SETTLED_MS = 5000
const MEASURED_MS = 20_000

interface Fetching {
  chunkBytes: number
  fetchMs: number
  maxQueueDelayMs: number
}

/** How much arrives while one chunk after the other is fetched and sent */
async function receivedBytes ({ chunkBytes, fetchMs, maxQueueDelayMs }: Fetching): Promise<number> {
  return simulate({}, async sim => {
    const { dialler, listener } = sim.connect(LINK, { dialler: yamux({ coalesce: { maxQueueDelayMs } }), listener: yamux() })
    let bytes = 0

    listener.addEventListener('stream', ({ detail: stream }) => {
      stream.addEventListener('message', ({ data }) => { bytes += data.byteLength })
    })
    await sim.sleep(5 * LINK.delayMs)
    const stream = await dialler.createStream()

    const fetchAndSend = async (): Promise<void> => {
      while (sim.nowMs < SETTLED_MS + MEASURED_MS) {
        await sim.sleep(fetchMs)

        if (!stream.send(new Uint8Array(chunkBytes))) {
          await new Promise(resolve => { stream.addEventListener('drain', resolve, { once: true }) })
        }
      }
    }

    fetchAndSend().catch(() => {})
    await sim.sleep(SETTLED_MS)
    const beforeBytes = bytes
    await sim.sleep(MEASURED_MS)

    return bytes - beforeBytes
  })
}

test.each([
  { chunkBytes: 262_144, fetchMs: 100 },
  { chunkBytes: 1_048_576, fetchMs: 200 }
])('$chunkBytes bytes and $fetchMs ms for each: the line is as full as without a bound', async fetching => {
  const [bounded, unbounded] = [await receivedBytes({ ...fetching, maxQueueDelayMs: 10 }), await receivedBytes({ ...fetching, maxQueueDelayMs: Infinity })]

  expect(bounded).toBeGreaterThanOrEqual(0.97 * unbounded)
})
