// An urgent message of another muxer's peer beside its bulk, on a link of a fixed rate, by what the receiver runs.
import { buildPeers } from '../../peers/build.ts'
import { byId, oneOf } from '../../testing/programs/names.ts'
import { parseOptions } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { endAfter, runBenchmark } from '../../testing/programs/run.ts'
import { format, renderSamples } from '../harness/table.ts'
import { columnsBeside, MEGABYTE_MBIT } from './columns.ts'
import { canLayLink, describeRate, layRate } from './link.ts'
import { startSession } from './session.ts'
import { BULK_MESSAGE_BYTES, downlinkContestants, downlinkSenders, javaScriptScenarios, mbits, parseDelay, parseRate, scenarios, URGENT_INTERVAL_MS, URGENT_MESSAGE_BYTES, WARM_UP_MS } from './workload.ts'
import type { Sample } from '../harness/samples.ts'
import type { Rate, Scenario, UplinkMetrics, Work } from './workload.ts'

/** What each stream begins with: nobody can take it back, so it has to be over */
const WINDOW_MBIT = 262_144 * MEGABYTE_MBIT / 1e6
const WINDOWS = 2

const legend = ({ scenario, streams }: Omit<Work, 'warmUpMs'>, delayMs?: number): string => [
  `As in "uplink". ${describeRate(delayMs)}, Noise.`,
  `The row names the sender: a node with @libp2p/yamux, go-libp2p or rust-libp2p. ${streams} streams send messages of ${BULK_MESSAGE_BYTES / 1024} KiB as fast as they may; on one more`,
  `${URGENT_MESSAGE_BYTES} B go every ${URGENT_INTERVAL_MS} ms, which the receiver sends back at once. All that arrives is verified. Measured after ${WINDOWS} windows of each stream and ${WARM_UP_MS / 1000} s.`,
  `Scenario "${scenario}": ${scenarios[scenario]}.`,
  '',
  'muxer     of the receiver. Withholds: coalesce.maxPeerQueueDelayMs is 25',
  `p50, p99  of the round trip of the ${URGENT_MESSAGE_BYTES} B, from when they were due`,
  '× stock   within each round: median (lowest–highest)',
  'in flight what the sender\'s muxer has handed down and has not reached the receiver\'s, 10^3 bytes, median over the window; unknown of go and rust',
  'late      how late the 100 B were sent, because the process or the machine was busy; part of p50 and p99'
].join('\n')

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds, seconds, streams }, own } = parseOptions({
    contestants: downlinkContestants,
    counts: { rounds: 3, seconds: 10, streams: 5 },
    own: {
      only: { takes: 'rates', isList: true, about: 'in Mbit/s, both ways or there and back (10/1), or loopback', default: mbits.join() },
      senders: { takes: 'names', isList: true, about: `who sends, of ${downlinkSenders.map(({ id }) => id).join(', ')}`, default: 'stock', isVariant: true },
      delay: { takes: 'milliseconds', about: 'of each way, by a relay instead of namespaces: without root, and the scenarios shared and halved', isVariant: true },
      scenario: { takes: 'name', about: `one of ${Object.keys(scenarios).join(', ')}`, default: 'plain', isVariant: true }
    }
  })
  const rates = own.only.map(parseRate)
  const work = { scenario: oneOf('scenario', own.scenario, Object.keys(scenarios) as Scenario[]), streams, urgentIntervalMs: URGENT_INTERVAL_MS, measuredMs: seconds * 1000 }
  const senders = own.senders.map(id => byId('sender', id, downlinkSenders))
  const programs = senders.flatMap(({ sender }) => typeof sender === 'string' ? [] : [sender])
  const samples: Array<Sample<keyof UplinkMetrics>> = []

  const delayMs = parseDelay(own.delay, work.scenario)

  if (delayMs == null && rates.some(({ mbit }) => mbit !== Infinity) && !canLayLink('npm run bench downlink')) {
    return
  }

  if (programs.length > 0 && delayMs != null) {
    throw new Error('With --delay the sender has to be stock: the relay is dialled at a Unix socket')
  }

  if (programs.length > 0 && javaScriptScenarios.includes(work.scenario)) {
    throw new Error(`In the scenario "${work.scenario}" the sender has to be stock`)
  }

  const present = buildPeers(programs)
  const sending = senders.filter(({ sender }) => typeof sender === 'string' || present.includes(sender))
  const rows = rates.flatMap(rate => sending.map(({ id, label, sender }) => ({ id: `${rate.id}-${id}`, label: `${rate.label} from\n${label}`, rate, sender })))
  const warmUpMs = ({ mbit }: Rate): number => WARM_UP_MS + 1000 * WINDOWS * streams * WINDOW_MBIT / mbit

  for (const { rate, sender, ...row } of rows) {
    samples.push(...await runRounds({
      row,
      contestants: muxers,
      rounds,
      async measure (contestant) {
        return endAfter(startSession({ ...contestant, sender }, layRate(rate, delayMs), { ...work, warmUpMs: warmUpMs(rate) }), stopAtEnd, async session => session.measure())
      },
      describe: ({ p99Ms, besideMegabytesPerS = NaN }) => `p99 ${format(p99Ms)} ms, ${format(besideMegabytesPerS * MEGABYTE_MBIT)} Mbit/s`
    }))
  }

  await report({ tables: [renderSamples(samples, rows, muxers, columnsBeside(work.scenario, 'stock'))], extent: `${rounds} rounds of ${seconds} s`, legend: legend(work, delayMs), json, measured: { work: { ...work, delayMs }, samples } })
})
