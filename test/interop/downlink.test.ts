// The benchmark of a downlink with each of its senders, without a link.
import { expect, inject, test } from 'vitest'
import { layNoLink } from '../../benchmarks/uplink/link.ts'
import { startSession } from '../../benchmarks/uplink/session.ts'
import { downlinkContestants, downlinkSenders } from '../../benchmarks/uplink/workload.ts'

const [RECEIVER] = downlinkContestants
const WORK = { scenario: 'plain', streams: 2, urgentIntervalMs: 20, warmUpMs: 200, measuredMs: 500 } as const

for (const { label, sender } of downlinkSenders) {
  const isPresent = typeof sender === 'string' || inject('presentPeers').includes(sender.name)

  test.runIf(isPresent)(`the bulk of ${label} arrives and is verified, and its urgent messages come back`, async () => {
    const session = startSession({ ...RECEIVER, sender }, layNoLink(), WORK)

    try {
      const { p50Ms, p99Ms = NaN, besideMegabytesPerS, senderCpuSPerGigabyte, inFlightMegabytes } = await session.measure()

      expect(p50Ms).toBeGreaterThan(0)
      expect(p99Ms).toBeGreaterThanOrEqual(p50Ms ?? NaN)
      expect(besideMegabytesPerS).toBeGreaterThan(0)
      expect(senderCpuSPerGigabyte).toBeGreaterThan(0)
      // only processes of Node are watched
      expect(inFlightMegabytes != null).toBe(typeof sender === 'string')
    } finally {
      await session.stop()
    }
  })
}
