// From what the processes measured to the columns of the table, and what it means for users.
import { quantile } from 'simple-statistics'
import { ratioOf, samplesOf } from '../harness/samples.ts'
import { figure, times } from '../harness/table.ts'
import { sayWhatChanges } from './verdict.ts'
import type { Sample } from '../harness/samples.ts'
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

/** Below this many the slowest one decides */
const ENOUGH_FOR_P99 = 100

export const columns = [
  figure<keyof Metrics>('time\ns', 'durationS'),
  figure<keyof Metrics>('CPU\ns', 'cpuS'),
  figure<keyof Metrics>('records', 'noiseRecords'),
  figure<keyof Metrics>('writes', 'socketWrites'),
  figure<keyof Metrics>('p99\nms', 'p99Ms'),
  figure<keyof Metrics>('RSS\nMB', 'maxRssMegabytes'),
  times<keyof Metrics>('time', 'durationS', 'stock'),
  times<keyof Metrics>('CPU', 'cpuS', 'stock'),
  times<keyof Metrics>('p99', 'p99Ms', 'stock'),
  times<keyof Metrics>('time', 'durationS', 'mplex'),
  times<keyof Metrics>('CPU', 'cpuS', 'mplex')
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

/** A line for each application with each of our muxers, where stock was measured beside it */
export function renderVerdicts (samples: Array<Sample<keyof Metrics>>, applications: Application[], muxers: string[]): string {
  return applications.flatMap(({ id, label, noticed }) => muxers.filter(muxer => muxer.startsWith('ours')).flatMap(muxer => {
    const own = samplesOf(samples, id, muxer)
    const stock = samplesOf(samples, id, 'stock')
    const waited = ratioOf(own, stock, noticed)
    const cpu = ratioOf(own, stock, 'cpuS')

    return waited == null || cpu == null ? [] : [`${label.replaceAll('\n', ' ')}, ${muxer}: ${sayWhatChanges(waited, cpu, names[noticed])}`]
  })).join('\n')
}

export const legend = [
  'Each application runs in two processes, a page and a process, or as many as there are cores, on the loopback interface with Noise.',
  'All that arrives is verified. With --short there is less of everything.',
  '',
  'Helia    over bitswap: a file of 100 MB in blocks of 256 KiB; 2,000 files of 4 KiB, 64 at a time; the big file with gossip from',
  '         the same peer, 300 B each 5 ms, marked urgent by ours-gossip; the big file over WebSockets to a page in Chromium',
  'gossipsub  100 hosts that publish 10 B 5 times a second each, as `npm run bench gossip -- --only small`',
  'ReqResp  as Lodestar has it, a stream each: 12,000 requests of 84 B, 8 at a time; 40 requests of 10 blocks of 250 KB, 2 at a time',
  'kad-dht  50 nodes: 150 walks to the providers of a key, 20 at a time',
  '',
  'time     of all of the work; gossip: from the first publication to the last delivery',
  'CPU      user and system time of all processes, those of Chromium included',
  'records  Noise records that were encrypted, writes: write and writev calls on sockets; without those of a page',
  'p99      of a file of 4 KiB, a request, a lookup, and of gossip from publication to delivery',
  'RSS      the most that each process had while it worked, together; without that of a page',
  '× stock  within each round: median (lowest–highest), below 1 is better'
].join('\n')
