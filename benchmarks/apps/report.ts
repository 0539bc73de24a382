// From what the processes measured to one table, and what it means for users.
import { quantile } from 'simple-statistics'
import { spreadOf } from '../harness/samples.ts'
import { format, formatRatio, renderGroups } from '../harness/table.ts'
import { sayWhatChanges } from './verdict.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Spread } from '../harness/samples.ts'
import type { Application } from './applications.ts'
import type { Measured } from './session.ts'

/** What does not apply to an application, or nobody can see, is left out */
export interface Metrics {
  durationS: number
  cpuS: number
  noiseRecords?: number
  socketWrites?: number
  p99Ms?: number
  maxRssMegabytes?: number
}

export interface Sample {
  applicationId: string
  muxer: ContestantMuxer
  round: number
  metrics: Metrics
}

/** Below this many the slowest one decides */
const ENOUGH_FOR_P99 = 100

const columns: Array<[heading: string, metric: keyof Metrics]> = [
  ['time\ns', 'durationS'],
  ['CPU\ns', 'cpuS'],
  ['records', 'noiseRecords'],
  ['writes', 'socketWrites'],
  ['p99\nms', 'p99Ms'],
  ['RSS\nMB', 'maxRssMegabytes']
]

const compared: Array<[heading: string, metric: keyof Metrics, base: ContestantMuxer]> = [
  ['time\n× stock', 'durationS', 'stock'],
  ['CPU\n× stock', 'cpuS', 'stock'],
  ['p99\n× stock', 'p99Ms', 'stock'],
  ['time\n× mplex', 'durationS', 'mplex'],
  ['CPU\n× mplex', 'cpuS', 'mplex']
]

const names = { durationS: 'time', p99Ms: 'p99' }

export function toMetrics ({ durationMs, latenciesMs, spent: { cpuMs, noiseRecords, socketWrites }, maxRssBytes }: Measured): Metrics {
  return {
    durationS: durationMs / 1000,
    cpuS: cpuMs / 1000,
    noiseRecords,
    socketWrites,
    p99Ms: latenciesMs.length < ENOUGH_FOR_P99 ? undefined : quantile(latenciesMs, 0.99),
    maxRssMegabytes: maxRssBytes == null ? undefined : maxRssBytes / 1e6
  }
}

function samplesOf (samples: Sample[], { id }: Application, muxer: ContestantMuxer): Sample[] {
  return samples.filter(sample => sample.applicationId === id && sample.muxer === muxer)
}

/** Within each round */
function ratioOf (samples: Sample[], bases: Sample[], metric: keyof Metrics): Spread | undefined {
  return spreadOf(samples.map(({ round, metrics }) => {
    const value = metrics[metric]
    const base = bases.find(sample => sample.round === round)?.metrics[metric]

    return value == null || base == null ? undefined : value / base
  }))
}

/** Those that it was measured with, in the order of `muxers` */
function measuredWith (samples: Sample[], application: Application, muxers: ContestantMuxer[]): ContestantMuxer[] {
  return muxers.filter(muxer => samplesOf(samples, application, muxer).length > 0)
}

export function renderTable (samples: Sample[], applications: Application[], muxers: ContestantMuxer[]): string {
  const headings = ['muxer', ...columns.map(([heading]) => heading), ...compared.map(([heading]) => heading)]

  return renderGroups(headings, applications.map(application => ({
    label: application.label,
    lines: measuredWith(samples, application, muxers).map(muxer => {
      const own = samplesOf(samples, application, muxer)

      return [
        muxer,
        ...columns.map(([, metric]) => format(spreadOf(own.map(({ metrics }) => metrics[metric]))?.median)),
        ...compared.map(([, metric, base]) => formatRatio(ratioOf(own, samplesOf(samples, application, base), metric)))
      ]
    })
  })))
}

/** A line for each application with each of our muxers, where stock was measured beside it */
export function renderVerdicts (samples: Sample[], applications: Application[], muxers: ContestantMuxer[]): string {
  return applications.flatMap(application => measuredWith(samples, application, muxers).filter(muxer => muxer.startsWith('ours')).flatMap(muxer => {
    const own = samplesOf(samples, application, muxer)
    const stock = samplesOf(samples, application, 'stock')
    const noticed = ratioOf(own, stock, application.noticed)
    const cpu = ratioOf(own, stock, 'cpuS')
    const title = `${application.label.replaceAll('\n', ' ')}, ${muxer}`

    return noticed == null || cpu == null ? [] : [`${title}: ${sayWhatChanges(noticed, cpu, names[application.noticed])}`]
  })).join('\n')
}

export const legend = [
  'Each application runs in two processes, a page and a process, or as many as there are cores, on the loopback interface with Noise.',
  'All that arrives is verified. With --short there is less of everything.',
  '',
  'Helia    over bitswap: a file of 100 MB in blocks of 256 KiB; 2,000 files of 4 KiB, 64 at a time; the big file with gossip from',
  '         the same peer, 300 B each 5 ms, marked urgent by ours-gossip; the big file over WebSockets to a page in Chromium',
  'gossipsub  100 hosts that publish 10 B 5 times a second each, as `npm run bench gossip -- --only small`',
  'ReqResp  as Lodestar has it, a stream each: 3,000 requests of 84 B, 8 at a time; 40 requests of 10 blocks of 250 KB, 2 at a time',
  'kad-dht  50 nodes: 150 walks to the providers of a key, 20 at a time',
  '',
  'time     of all of the work; gossip: from the first publication to the last delivery',
  'CPU      user and system time of all processes, those of Chromium included',
  'records  Noise records that were encrypted, writes: write and writev calls on sockets; without those of a page',
  'p99      of a file of 4 KiB, a request, a lookup, and of gossip from publication to delivery',
  'RSS      the most that each process had while it worked, together; without that of a page',
  '× stock  within each round: median (lowest–highest), below 1 is better'
].join('\n')
