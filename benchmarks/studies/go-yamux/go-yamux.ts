// The go-yamux study of write coalescing: 1,000 streams, 4 KiB each 100 ms, 1 Gbit/s, 100 ms.
import { max, min, quantile } from 'simple-statistics'
import { startChild } from '../../../testing/programs/child.ts'
import { parseOptions, plainContestants } from '../../harness/options.ts'
import { report } from '../../harness/report.ts'
import { runRounds } from '../../harness/rounds.ts'
import { medianOf } from '../../harness/samples.ts'
import { runBenchmark } from '../../../testing/programs/run.ts'
import { figure, format, renderSamples } from '../../harness/table.ts'
import { atPort, portOf } from '../../../testing/relay/address.ts'
import { INTERVAL_MS, LINK, LINK_DELAY_MS, MESSAGE_BYTES, STREAMS, WARM_UP_MS } from './workload.ts'
import type { Child } from '../../../testing/programs/child.ts'
import type { Sample } from '../../harness/samples.ts'
import type { Column } from '../../harness/table.ts'
import type { MuxerName } from '../../contestants.ts'
import type { RelayCommands } from '../../../testing/relay/relay.ts'
import type { SendTimes } from './paced.ts'
import type { PeerCommands } from './end-process.ts'

interface Metrics {
  megabytesPerS: number
  socketWritesPerS: number
  noiseRecordsPerS: number
  senderCpuPercent: number
  receiverCpuPercent: number
  p50Ms: number
  p99Ms: number
  sendLateP99Ms: number
  senderRssMegabytes: number
  receiverRssMegabytes: number
  relayLateP50Ms: number
  relayLateP99Ms: number
}

interface Contestant {
  muxer: MuxerName
  sender: Child<PeerCommands>
  receiver: Child<PeerCommands>
}

const row = { id: 'go-yamux', label: `${STREAMS.toLocaleString('en')} × 4 KiB\nevery ${INTERVAL_MS} ms` }

function bothEnds (heading: string, metric: 'CpuPercent' | 'RssMegabytes'): Column<keyof Metrics> {
  return { heading: `${heading}\nsender,\nreceiver`, text: own => `${format(medianOf(own, `sender${metric}`))}, ${format(medianOf(own, `receiver${metric}`))}` }
}

function latency (what: string, metric: 'p50Ms' | 'p99Ms'): Column<keyof Metrics> {
  return {
    heading: `${what} ms\n(− delay)`,
    text (own) {
      const ms = medianOf(own, metric) ?? NaN

      return `${format(ms)} (${format(ms - LINK_DELAY_MS)})`
    }
  }
}

const columns = [
  figure('MB/s', 'megabytesPerS'),
  figure('socket\nwrites/s', 'socketWritesPerS'),
  figure('records/s', 'noiseRecordsPerS'),
  bothEnds('CPU %', 'CpuPercent'),
  latency('p50', 'p50Ms'),
  latency('p99', 'p99Ms'),
  figure('late\np99 ms', 'sendLateP99Ms'),
  bothEnds('RSS MB', 'RssMegabytes')
]

function renderLegend (samples: Array<Sample<keyof Metrics>>): string {
  const relayLate = (metric: keyof Metrics): string => format(medianOf(samples, metric))

  return [
    `Medians of interleaved rounds, after ${WARM_UP_MS / 1000} s of warm-up each. Two processes per muxer and Noise, over a`,
    'third process that relays TCP at 1 Gbit/s with 50 ms of delay each way, buffers up to 12.5 MB and wakes each',
    `millisecond: what it passed on was ${relayLate('relayLateP50Ms')} ms late in the median, ${relayLate('relayLateP99Ms')} ms at p99, waits for a busy receiver`,
    'included. Each stream has a timer of its own, and the streams are spread evenly over the 100 ms. All that arrives is',
    'compared with what was sent.',
    '',
    'ours             the default strategy, turn; delay is 2 ms; each with writes of up to 65,519 bytes, one Noise record',
    'socket writes/s  calls of _write and _writev on the socket of the sender, in the measured time',
    'records/s        Noise records the sender encrypted, control frames of the muxer included',
    'CPU %            of a core: user and system time of the whole process, timers and verifying included',
    'p50, p99         from send() to the arrival of the last byte of the message; in brackets without the 50 ms of the link',
    'late             how late send() was called: the process was busy, or the stream full',
    'RSS              of the whole process at the end of the measured time'
  ].join('\n')
}

async function connect ({ muxer, sender, receiver }: Contestant, relay: Child<RelayCommands>): Promise<void> {
  const [address] = await Promise.all([receiver.commands.start(muxer), sender.commands.start(muxer)])
  const relayPort = await relay.commands.relayTo(portOf(address), LINK)

  await sender.commands.dial(atPort(address, relayPort))
}

async function transfer ({ sender, receiver }: Contestant, durationMs: number): Promise<SendTimes & { arrivedAtMs: number[] }> {
  const messagesPerStream = durationMs / INTERVAL_MS

  await receiver.commands.expect(messagesPerStream)
  const [arrivedAtMs, times] = await Promise.all([receiver.commands.arrived(), sender.commands.send(messagesPerStream)])

  return { ...times, arrivedAtMs: Array.from(arrivedAtMs) }
}

async function measure (contestant: Contestant, relay: Child<RelayCommands>, durationMs: number): Promise<Metrics> {
  const { sender, receiver } = contestant

  await receiver.commands.accept()
  await sender.commands.open()
  await transfer(contestant, WARM_UP_MS)

  await Promise.all([sender.commands.startCounting(), receiver.commands.startCounting(), relay.commands.takeLateness()])
  const { sentAtMs, lateMs, arrivedAtMs } = await transfer(contestant, durationMs)
  const [senderUsage, receiverUsage, relayLateness] = await Promise.all([sender.commands.usage(), receiver.commands.usage(), relay.commands.takeLateness()])
  await sender.commands.close()

  const latenciesMs = arrivedAtMs.map((arrivedMs, entry) => arrivedMs - sentAtMs[entry])
  const relayLateMs = Array.from(relayLateness)
  const durationS = (max(arrivedAtMs) - min(arrivedAtMs)) / 1000

  return {
    megabytesPerS: arrivedAtMs.length * MESSAGE_BYTES / 1e6 / durationS,
    socketWritesPerS: senderUsage.socketWrites / durationS,
    noiseRecordsPerS: senderUsage.noiseRecords / durationS,
    senderCpuPercent: senderUsage.cpuMs / durationS / 10,
    receiverCpuPercent: receiverUsage.cpuMs / durationS / 10,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    sendLateP99Ms: quantile(Array.from(lateMs), 0.99),
    senderRssMegabytes: senderUsage.rssBytes / 1e6,
    receiverRssMegabytes: receiverUsage.rssBytes / 1e6,
    relayLateP50Ms: quantile(relayLateMs, 0.5),
    relayLateP99Ms: quantile(relayLateMs, 0.99)
  }
}

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds, seconds } } = parseOptions({
    contestants: plainContestants,
    usual: 'ours,ours-delay,ours-adaptive,ours-off,stock,mplex',
    counts: { rounds: 3, seconds: 5 }
  })
  const durationMs = seconds * 1000
  const start = (role: string): Child<PeerCommands> => startChild<PeerCommands>(new URL('./end-process.ts', import.meta.url), role)
  const relay = startChild<RelayCommands>(new URL('../../../testing/relay/relay.ts', import.meta.url), 'relay')
  const contestants = muxers.map(muxer => ({ ...muxer, sender: start(`sender of ${muxer.id}`), receiver: start(`receiver of ${muxer.id}`) }))

  stopAtEnd([relay, ...contestants.flatMap(({ sender, receiver }) => [sender, receiver])])
  await Promise.all(contestants.map(async contestant => connect(contestant, relay)))

  const samples = await runRounds({
    row,
    contestants,
    rounds,
    measure: async contestant => measure(contestant, relay, durationMs),
    describe: ({ socketWritesPerS }) => `${Math.round(socketWritesPerS).toLocaleString('en')} socket writes/s`
  })

  await report({
    tables: [renderSamples(samples, [row], muxers, columns)],
    extent: `${rounds} rounds of ${seconds} s`,
    legend: renderLegend(samples),
    json,
    measured: { samples }
  })
})
