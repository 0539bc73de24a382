// Whole muxers on the link: they work, at the link's speed, and every run is the same run.
import { describe, expect, it } from 'vitest'
import { factories, logOf, runEcho } from './fixtures/echo.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { MuxerName } from './fixtures/echo.ts'
import type { LinkOptions } from '../../testing/simulation/link.ts'

/** 10 MB/s, 20 ms there and back, and an interruption */
const LINK: LinkOptions = { rateBytesPerS: 10_000_000, delayMs: 10, stalls: [{ atMs: 35, forMs: 17.25 }] }
const PAIRS: Array<[MuxerName, MuxerName]> = [['ours', 'ours'], ['ours', 'stock'], ['stock', 'ours'], ['stock', 'stock'], ['mplex', 'mplex']]

describe.each(PAIRS)('%s with %s', (...names) => {
  it('brings back what is echoed, no faster than the link', async () => {
    const { log, link } = logOf(LINK)
    const { sent, returned, tookMs } = await simulate({}, async sim => runEcho(sim, link, names, 20_000, 25))

    expect(returned).toEqual(sent)
    expect(tookMs).toBeGreaterThan(500_000 / 10_000 + 20)
    expect(log.length).toBeGreaterThan(20)
  })

  it('does the same at the same instants in every run', async () => {
    const logs = []

    for (let run = 0; run < 2; run++) {
      const { log, link } = logOf({ ...LINK, toListener: { rateBytesPerS: 3_333_333, delayMs: 0.05 } })
      await simulate({}, async sim => {
        await runEcho(sim, link, names, 3000, 50)
        await sim.sleep(40_000)
      })
      logs.push(log)
    }

    expect(logs[0].length).toBeGreaterThan(20)
    expect(logs[1]).toEqual(logs[0])
  })
})

describe('a round trip', () => {
  it.each(['ours', 'stock'] as const)('takes %s the delay there and back, and the time on the wire', async name => {
    const { tookMs } = await simulate({}, async sim => runEcho(sim, { rateBytesPerS: 1e9, delayMs: 40.5 }, [name, name], 1, 1))

    expect(tookMs).toBeGreaterThan(81)
    expect(tookMs).toBeLessThan(81.001)
  })
})

describe('a connection without a peer', () => {
  it('is given up when its keep-alive says so, after no time at all', async () => {
    await simulate({}, async sim => {
      const { diallerEnd } = sim.connect({ ...LINK, stalls: [{ atMs: 100, forMs: Infinity }] }, factories('ours', 'ours'))
      await sim.until(() => diallerEnd.status !== 'open')

      expect(sim.nowMs).toBeGreaterThan(10_000)
      expect(sim.nowMs).toBeLessThan(200_000)
    })
  })
})
