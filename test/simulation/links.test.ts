// How much of each link is used, by the benchmark's own measure: `npm run bench links` shows the rest of the figures.
import { describe, expect, it, test } from 'vitest'
import { INITIAL_WINDOW_BYTES } from '../../src/core/wire/frame.ts'
import { bandwidthDelayBytes, findLink, idealMs, linkOptions, links } from '../../testing/links/links.ts'
import { simulateTransfers, simulateWork } from '../../testing/links/simulated.ts'
import { findVariant } from '../../testing/links/variants.ts'
import { findWork, payloadBytes } from '../../testing/links/works.ts'
import { factories } from './fixtures/echo.ts'
import { simulate } from '../../testing/simulation/simulate.ts'

const ours = findVariant('ours')
const MICROSECOND_DIGITS = 6

test.each(links)('a message that finds $id empty arrives after size / rate + delay, to the microsecond', async link => {
  await simulate({}, async sim => {
    const { dialler, listener } = sim.connect(linkOptions(link), factories('ours', 'ours'))
    let arrivedAtMs = 0
    listener.addEventListener('stream', evt => { evt.detail.addEventListener('message', () => { arrivedAtMs = sim.nowMs }) })
    await sim.sleep(5 * link.roundTripMs)

    const stream = await dialler.createStream()
    // by then the SYN has passed
    await sim.sleep(5 * link.roundTripMs)
    const startMs = sim.nowMs
    stream.send(new Uint8Array(1000))
    await sim.until(() => arrivedAtMs > 0)

    expect(arrivedAtMs - startMs).toBeCloseTo((1000 + 12) / link.bytesPerMs + link.roundTripMs / 2, MICROSECOND_DIGITS)
  })
})

describe.each(['1x4k', '1x10m', '10x4k'])('%s', workId => {
  const filled = links.filter(({ id }) => id !== 'long-fat')

  it.each(filled)('uses 0.98 of $id: the first time, where 256 KiB a stream are enough for a round trip, and again', async link => {
    const work = findWork(link, workId)
    const { first, again } = await simulateWork(link, work, ours)

    expect(again.linkPart).toBeGreaterThanOrEqual(0.98)

    if (bandwidthDelayBytes(link) <= INITIAL_WINDOW_BYTES * work.streams) {
      expect(first.linkPart).toBeGreaterThanOrEqual(0.98)
    }
  })
})

describe('ten seconds of 1 Gbit/s and 100 ms', () => {
  it.each(['1x10s', '10x10s'])('use 0.9 of it, the climb from 256 KiB included: %s', async workId => {
    const link = findLink('long-fat')

    const [{ linkPart }] = await simulateTransfers(link, findWork(link, workId), ours, 1)

    expect(linkPart).toBeGreaterThanOrEqual(0.9)
  })
})

test('4 MB on a new stream of 1 Gbit/s and 100 ms wait for credit once: for one round trip, less what goes before', async () => {
  const link = findLink('long-fat')
  const work = findWork(link, '1x4k')

  const [{ tookMs }] = await simulateTransfers(link, work, ours, 1)

  expect(tookMs).toBeLessThan(idealMs(link, payloadBytes(work)) + link.roundTripMs)
})
