// From what was measured to the table of the experiment.
import { max, median, min, quantile } from 'simple-statistics'
import { format, renderGroups } from '../../harness/table.ts'
import { INTERVAL_MS, LINK_DELAY_MS, MESSAGE_BYTES, STREAMS } from './workload.ts'
import type { MuxerName } from '../../muxers.ts'
import type { SessionMemory } from './memory.ts'
import type { Measured } from './session.ts'

export interface Metrics {
  megabytesPerS: number
  writeCallsPerS?: number
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

export interface Sample {
  muxer: MuxerName
  round: number
  metrics: Metrics
}

export type IdleMemory = Partial<Record<MuxerName, SessionMemory>>

const headings = [
  'muxer', 'MB/s', 'calls/s\nstrace', 'socket\nwrites/s', 'records/s', 'CPU %\nsender,\nreceiver',
  'p50 ms\n(− delay)', 'p99 ms\n(− delay)', 'late\np99 ms', 'RSS MB\nsender,\nreceiver', 'idle KiB\nbuffers,\nheap'
]

export function toMetrics ({ senderUsage, receiverUsage, writeCallsPerS, ...times }: Measured): Metrics {
  const arrivedAtMs = Array.from(times.arrivedAtMs)
  const latenciesMs = arrivedAtMs.map((arrivedMs, entry) => arrivedMs - times.sentAtMs[entry])
  const relayLateMs = Array.from(times.relayLateMs)
  const durationS = (max(arrivedAtMs) - min(arrivedAtMs)) / 1000

  return {
    megabytesPerS: arrivedAtMs.length * MESSAGE_BYTES / 1e6 / durationS,
    writeCallsPerS,
    socketWritesPerS: senderUsage.socketWrites / durationS,
    noiseRecordsPerS: senderUsage.noiseRecords / durationS,
    senderCpuPercent: senderUsage.cpuMs / durationS / 10,
    receiverCpuPercent: receiverUsage.cpuMs / durationS / 10,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    sendLateP99Ms: quantile(Array.from(times.lateMs), 0.99),
    senderRssMegabytes: senderUsage.rssBytes / 1e6,
    receiverRssMegabytes: receiverUsage.rssBytes / 1e6,
    relayLateP50Ms: quantile(relayLateMs, 0.5),
    relayLateP99Ms: quantile(relayLateMs, 0.99)
  }
}

function medianOf (samples: Sample[], metric: keyof Metrics): number | undefined {
  const values = samples.map(sample => sample.metrics[metric]).filter(value => value != null)
  return values.length === 0 ? undefined : median(values)
}

export function renderTable (samples: Sample[], idleMemory: IdleMemory, muxers: MuxerName[]): string {
  const lines = muxers.map(muxer => {
    const ofMuxer = samples.filter(sample => sample.muxer === muxer)
    const memory = idleMemory[muxer]
    const numbers = (...metrics: Array<keyof Metrics>): string => metrics.map(metric => format(medianOf(ofMuxer, metric))).join(', ')
    const latency = (metric: keyof Metrics): string => `${numbers(metric)} (${format((medianOf(ofMuxer, metric) ?? NaN) - LINK_DELAY_MS)})`

    return [
      muxer,
      numbers('megabytesPerS'),
      numbers('writeCallsPerS'),
      numbers('socketWritesPerS'),
      numbers('noiseRecordsPerS'),
      numbers('senderCpuPercent', 'receiverCpuPercent'),
      latency('p50Ms'),
      latency('p99Ms'),
      numbers('sendLateP99Ms'),
      numbers('senderRssMegabytes', 'receiverRssMegabytes'),
      memory == null ? '-' : `${format(memory.bufferBytes / 1024)}, ${format(memory.heapBytes / 1024)}`
    ]
  })

  return renderGroups(headings, [{ label: `${STREAMS.toLocaleString('en')} × 4 KiB\nevery ${INTERVAL_MS} ms`, lines }])
}

export function renderLegend (samples: Sample[], windowS: number): string {
  const rounds = max(samples.map(sample => sample.round))
  const hasStrace = samples.some(sample => sample.metrics.writeCallsPerS != null)
  const relayLate = (metric: keyof Metrics): string => format(medianOf(samples, metric))

  return [
    `Medians of ${rounds} interleaved rounds of ${windowS} s each, after 2 s of warm-up each. Two processes per muxer and Noise, over a`,
    'third process that relays TCP at 1 Gbit/s with 50 ms of delay each way, buffers up to 12.5 MB and wakes each',
    `millisecond: what it passed on was ${relayLate('relayLateP50Ms')} ms late in the median, ${relayLate('relayLateP99Ms')} ms at p99, waits for a busy receiver`,
    'included. Each stream has a timer of its own, and the streams are spread evenly over the 100 ms. All that arrives is',
    'compared with what was sent.',
    '',
    'ours             the default strategy, turn; delay is 2 ms; each with writes of up to 65,519 bytes, one Noise record',
    `calls/s          of write and writev by the sender: ${hasStrace ? 'strace -c -f, in a second of its own' : 'no strace that may attach, see socket writes'}`,
    'socket writes/s  calls of _write and _writev on the socket of the sender, in the measured time',
    'records/s        Noise records the sender encrypted, control frames of the muxer included',
    'CPU %            of a core: user and system time of the whole process, timers and verifying included',
    'p50, p99         from send() to the arrival of the last byte of the message; in brackets without the 50 ms of the link',
    'late             how late send() was called: the process was busy, or the stream full',
    'RSS              of the whole process at the end of the measured time',
    'idle KiB         what one end of a session holds when it has nothing to do, above the connection below it'
  ].join('\n')
}
