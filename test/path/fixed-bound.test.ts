// docs/recipes/fixed-bound.ts on a slow link, in virtual time: never more in flight than it allows, and the link stays full.
import { expect, test } from 'vitest'
import { fixedBound } from '../../docs/recipes/fixed-bound.ts'
import { yamux } from '../../src/light.ts'
import { sendAll } from '../../testing/libp2p/streams.ts'
import { pattern } from '../../testing/pattern.ts'
import { simulate } from '../../testing/simulation/simulate.ts'

const BOUND_BYTES = 65_536
const RATE_BYTES_PER_MS = 100

test('no more than the bound is ahead of the link, and all data arrives at its rate', async () => {
  await simulate({}, async sim => {
    let aheadBytes = 0
    let mostAheadBytes = 0
    let lastMs = 0
    let deliveredBytes = 0
    const { dialler, listener } = sim.connect({
      delayMs: 5,
      rateBytesPerS: 1000 * RATE_BYTES_PER_MS,
      onSend: ({ atMs, to, bytes }) => {
        if (to === 'listener') {
          aheadBytes = Math.max(0, aheadBytes - (atMs - lastMs) * RATE_BYTES_PER_MS) + bytes.byteLength
          mostAheadBytes = Math.max(mostAheadBytes, aheadBytes)
          lastMs = atMs
        }
      }
    }, { dialler: yamux({ pathControl: fixedBound(BOUND_BYTES) }), listener: yamux() })

    listener.addEventListener('stream', ({ detail }) => {
      detail.addEventListener('message', ({ data }) => { deliveredBytes += data.byteLength })
    })
    const stream = await dialler.createStream()
    await sendAll(stream, [pattern(1_000_000)])
    await stream.close()
    await sim.until(() => deliveredBytes === 1_000_000)

    expect(mostAheadBytes).toBeLessThanOrEqual(BOUND_BYTES)
    expect(mostAheadBytes).toBeGreaterThan(BOUND_BYTES / 2)
    expect(sim.nowMs).toBeLessThan(10_500)
    dialler.abort(new Error('The test is over'))
  })
})
