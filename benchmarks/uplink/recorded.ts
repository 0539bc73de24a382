// An urgent message beside bulk on a recorded mobile link, whose rate changes all the time and is 0 for seconds.
import { byId, oneOf } from '../../testing/programs/names.ts'
import { parseOptions } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { endAfter, runBenchmark } from '../../testing/programs/run.ts'
import { figure, format, renderSamples, times } from '../harness/table.ts'
import { columnsOfWays, MEGABYTE_MBIT } from './columns.ts'
import { canLayLink, layNamespace, layRecorded } from './link.ts'
import { mbitOf, readRecording } from './recording.ts'
import { startSession } from './session.ts'
import { BULK_MESSAGE_BYTES, contestants, downlinkContestants, LATEST_ECHO_MS, URGENT_MESSAGE_BYTES } from './workload.ts'
import type { RecordedLink } from '../../testing/relay/link.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Sample } from '../harness/samples.ts'
import type { Column } from '../harness/table.ts'
import type { Recording } from './recording.ts'
import type { Contestant, Scenario, UplinkMetrics, Work } from './workload.ts'

/** As a router has it */
const QUEUE_BYTES = 256_000
const DELAY_MS = 20
const INTERVAL_MS = 50
const NOT_COUNTED_MS = 5000

interface Way {
  scenario: Scenario
  contestants: Contestant[]
  /** Of the end that sends messages, if all have the same there */
  sender?: ContestantMuxer
  /** Who the others are compared with, beside stock */
  base: { id: string, label: string }
  about: string
}

const sameAtBothEnds = {
  contestants: ['ours-lanes', 'ours', 'ours-unbounded', 'stock'].map(id => byId('muxer', id, contestants)),
  base: { id: 'ours-unbounded', label: 'no bound' }
}

const fromStock = { contestants: downlinkContestants, sender: 'stock', base: { id: 'ours', label: 'ours' } } as const

const ways = {
  up: { ...sameAtBothEnds, scenario: 'plain', about: 'bulk goes there. Both ends have the same muxer' },
  down: { ...fromStock, scenario: 'plain', about: 'bulk goes there. The sender has @libp2p/yamux, the receiver what is named' },
  both: { ...sameAtBothEnds, scenario: 'both', about: 'bulk goes there and back. Both ends have the same muxer' },
  mixed: { ...fromStock, scenario: 'both', about: 'bulk goes there and back. The sender of messages has @libp2p/yamux, the other end what is named' }
} satisfies Record<string, Way>

const all = [...sameAtBothEnds.contestants, ...downlinkContestants.filter(({ id }) => sameAtBothEnds.contestants.every(other => other.id !== id))]

function columnsOf ({ base, scenario }: Way): Array<Column<keyof UplinkMetrics>> {
  const compared = (what: string, metric: keyof UplinkMetrics): Array<Column<keyof UplinkMetrics>> => [times(what, metric, base.id, base.label), times(what, metric, 'stock')]

  return [
    figure('p50\nms', 'p50Ms'),
    figure('p99\nms', 'p99Ms'),
    ...compared('p99', 'p99Ms'),
    figure('bulk\nMbit/s', 'besideMegabytesPerS', MEGABYTE_MBIT),
    ...compared('bulk', 'besideMegabytesPerS'),
    ...columnsOfWays(scenario, ...compared('lower', 'lowerMegabytesPerS')),
    figure('in\nflight KB', 'inFlightMegabytes', 1000),
    figure('late\np99 ms', 'lateP99Ms')
  ]
}

function renderLegend ({ about, base, scenario }: Way, { streams }: Work, back?: Recording): string {
  return [
    `A relay between two processes replays the recording, whose average is below its name: packets of 1500 bytes, a queue of ${QUEUE_BYTES / 1000} KB that holds its sender`,
    `back when it is full, and ${DELAY_MS} ms each way. The way back is ${back == null ? 'the same recording' : `${back.name}, ${format(mbitOf(back))} Mbit/s`}, from the same moment on. The sender's kernel holds about 1 MB`,
    'more. TCP and Noise; namespace, processes and connection are new for each measurement, and the replay begins with the connection.',
    `The first ${NOT_COUNTED_MS / 1000} s do not count.`,
    '',
    `${streams} streams a way send messages of ${BULK_MESSAGE_BYTES / 1024} KiB as fast as they may; on one more ${URGENT_MESSAGE_BYTES} B go there every ${INTERVAL_MS} ms, which the peer sends back at once. All that`,
    `arrives is verified. Here ${about}.`,
    '',
    `p50, p99  of the round trip of the ${URGENT_MESSAGE_BYTES} B, from when they were due; without an echo ${LATEST_ECHO_MS / 1000} s after the last they count as that late`,
    `×         within each round: median (lowest–highest); ${base.label === 'ours' ? 'ours does not withhold, stock has @libp2p/yamux at both ends' : 'no bound: ours, marked, with coalesce.maxQueueDelayMs Infinity'}`,
    `bulk      payload that has arrived, 10^6 bits${scenario === 'both' ? ', of both ways together; lower: of the way that has less' : ''}`,
    'in flight what the muxer has handed down and has not reached that of the peer, 10^3 bytes, median over the window',
    'late      how late the 100 B were sent, because the process or the machine was busy; part of p50 and p99'
  ].join('\n')
}

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds, seconds, streams }, own, names } = parseOptions({
    contestants: all,
    counts: { rounds: 3, seconds: 60, streams: 3 },
    own: {
      way: { takes: 'name', about: `where bulk goes: ${Object.keys(ways).join(', ')}`, default: 'up', isVariant: true },
      back: { takes: 'file', about: 'the recording of the way back; that of the way there unless it is named' }
    },
    names: 'recordings: each line is a millisecond in which a packet of 1500 bytes may pass, as Mahimahi has it; they may be gzipped'
  })
  const way: Way = ways[oneOf('way', own.way, Object.keys(ways) as Array<keyof typeof ways>)]
  const compared = way.contestants.filter(({ id }) => muxers.some(muxer => muxer.id === id))
  const recordings = await Promise.all(names.map(readRecording))
  const back = own.back == null ? undefined : await readRecording(own.back)
  const work: Work = { scenario: way.scenario, streams, urgentIntervalMs: INTERVAL_MS, warmUpMs: NOT_COUNTED_MS, measuredMs: seconds * 1000 }
  const samples: Array<Sample<keyof UplinkMetrics>> = []

  if (recordings.length === 0 || compared.length === 0) {
    throw new Error(`It takes a recording, and one of ${way.contestants.map(({ id }) => id).join(', ')}`)
  }

  if (!canLayLink('npm run bench recorded', layNamespace)) {
    return
  }

  const rows = recordings.map(recording => ({ id: recording.name, label: `${recording.name}\n${format(mbitOf(recording))} Mbit/s`, recording }))
  const linkOf = ({ opportunitiesMs }: Recording): RecordedLink => ({ opportunitiesMs, delayMs: DELAY_MS, queueBytes: QUEUE_BYTES })

  for (const row of rows) {
    samples.push(...await runRounds({
      row,
      contestants: compared,
      rounds,
      async measure (contestant) {
        const link = layRecorded(row.label, linkOf(row.recording), linkOf(back ?? row.recording))

        return endAfter(startSession({ ...contestant, sender: way.sender }, link, work), stopAtEnd, async session => session.measure())
      },
      describe: ({ p99Ms, besideMegabytesPerS = NaN }) => `p99 ${format(p99Ms)} ms, ${format(besideMegabytesPerS * MEGABYTE_MBIT)} Mbit/s`
    }))
  }

  await report({
    tables: [renderSamples(samples, rows, compared, columnsOf(way))],
    extent: `${rounds} rounds of ${seconds} s`,
    legend: renderLegend(way, work, back),
    json,
    measured: { work, samples }
  })
})
