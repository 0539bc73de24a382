// An urgent message beside bulk on a link of a fixed rate, with the kernel's own queues: how long it takes with each muxer.
import { oneOf } from '../../testing/programs/names.ts'
import { parseOptions } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { endAfter, runBenchmark } from '../../testing/programs/run.ts'
import { format, renderSamples } from '../harness/table.ts'
import { installQuic } from '../quic/install.ts'
import { columnsBeside, MEGABYTE_MBIT } from './columns.ts'
import { canLayLink, describeRate, layRate } from './link.ts'
import { startSession } from './session.ts'
import { BULK_MESSAGE_BYTES, contestants, LATEST_ECHO_MS, mbits, parseDelay, parseRate, scenarios, URGENT_INTERVAL_MS, URGENT_MESSAGE_BYTES, WARM_UP_MS } from './workload.ts'
import type { Sample } from '../harness/samples.ts'
import type { Scenario, UplinkMetrics, Work } from './workload.ts'

function renderLegend ({ scenario, streams, warmUpMs }: Work, delayMs?: number): string {
  return [
    `${describeRate(delayMs)},`,
    `Noise, libp2p nodes in two processes. Link, processes and connection are new for each measurement, the first ${warmUpMs / 1000} s of which do not count.`,
    `${streams} streams send messages of ${BULK_MESSAGE_BYTES / 1024} KiB as fast as they may; on one more ${URGENT_MESSAGE_BYTES} B go every ${URGENT_INTERVAL_MS} ms, which the peer sends back at once. All that`,
    `arrives is verified. Scenario "${scenario}": ${scenarios[scenario]}.`,
    '',
    'marked    the urgent stream has priority "urgent" at both ends; no bound: and coalesce.maxQueueDelayMs is Infinity',
    `p50, p99  of the round trip of the ${URGENT_MESSAGE_BYTES} B, from when they were due; without an echo ${LATEST_ECHO_MS / 1000} s after the last they count as that late`,
    '× stock   within each round: median (lowest–highest); × mplex of mplex',
    'bulk      payload that has arrived, 10^6 bits',
    'in flight what the muxer has handed down and has not reached that of the peer, 10^3 bytes, median over the window: it cannot be overtaken any more,',
    '          and 1,000 KB take 0.8 s at 10 Mbit/s. Counted between muxer and Noise, so not with QUIC',
    'CPU       user and system time of the process, by payload of bulk',
    'late      how late the 100 B were sent, because the process or the machine was busy; part of p50 and p99',
    'loopback  no link and no namespaces'
  ].join('\n')
}

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds, seconds, streams }, own } = parseOptions({
    contestants,
    counts: { rounds: 3, seconds: 6, streams: 5 },
    own: {
      only: { takes: 'rates', isList: true, about: 'in Mbit/s, both ways or there and back (10/1), or loopback', default: mbits.join() },
      delay: { takes: 'milliseconds', about: 'of each way, by a relay instead of namespaces: without root, QUIC, and the scenarios shared and halved', isVariant: true },
      scenario: { takes: 'name', about: `one of ${Object.keys(scenarios).join(', ')}`, default: 'plain', isVariant: true }
    }
  })
  const rates = own.only.map(parseRate)
  const work: Work = { scenario: oneOf('scenario', own.scenario, Object.keys(scenarios) as Scenario[]), streams, urgentIntervalMs: URGENT_INTERVAL_MS, warmUpMs: WARM_UP_MS, measuredMs: seconds * 1000 }

  const delayMs = parseDelay(own.delay, work.scenario)

  if (delayMs == null && rates.some(({ mbit }) => mbit !== Infinity) && !canLayLink('npm run bench uplink')) {
    return
  }

  const hasQuic = delayMs == null && muxers.some(({ muxer }) => muxer === 'quic') && await installQuic()
  const compared = muxers.filter(({ muxer }) => muxer !== 'quic' || hasQuic)
  const samples: Array<Sample<keyof UplinkMetrics>> = []

  for (const rate of rates) {
    samples.push(...await runRounds({
      row: rate,
      contestants: compared,
      rounds,
      async measure (contestant) {
        return endAfter(startSession(contestant, layRate(rate, delayMs), work), stopAtEnd, async session => session.measure())
      },
      describe: ({ p99Ms, besideMegabytesPerS = NaN }) => `p99 ${format(p99Ms)} ms, ${format(besideMegabytesPerS * MEGABYTE_MBIT)} Mbit/s`
    }))
  }

  await report({
    tables: [renderSamples(samples, rates, compared, columnsBeside(work.scenario, 'stock', 'mplex'))],
    extent: `${rounds} rounds of ${seconds} s`,
    legend: renderLegend(work, delayMs),
    json,
    measured: { work: { ...work, delayMs }, samples }
  })
})
