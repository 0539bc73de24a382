// The recipes of docs/recipes.md: what each changes below the muxer, and the work that is done with and without it.
import { execFileSync } from 'node:child_process'
import { endAfter } from '../../testing/programs/run.ts'
import { figure, format, times } from '../harness/table.ts'
import { startPair } from '../pair/pair.ts'
import { toMetrics } from '../report/metrics.ts'
import { findRow, matrixRows } from '../rows.ts'
import { layLink } from '../uplink/link.ts'
import { startSession } from '../uplink/session.ts'
import { rateOf, URGENT_INTERVAL_MS, WARM_UP_MS } from '../uplink/workload.ts'
import type { MuxerName, TransportName } from '../contestants.ts'
import type { Column, Labelled } from '../harness/table.ts'
import type { Metrics } from '../report/metrics.ts'
import type { StopAtEnd } from '../../testing/programs/run.ts'

export interface Recipe extends Labelled {
  needsLink: boolean
  /** Rows of the matrix, or rates of a link */
  work: Labelled[]
  /** The first is everything as it comes, and what the others are compared with */
  variants: Labelled[]
  columns: Array<Column<keyof Metrics>>
  measure(work: string, muxer: MuxerName, variant: string, stopAtEnd: StopAtEnd): Promise<Metrics>
  describe(metrics: Metrics): string
}

export const AS_IT_COMES: Labelled = { id: 'without', label: 'as it comes' }

/** Behind a unit that does not count, as in the benchmark of bulk */
const AT_LEAST_MS = 600
const MEGABYTE_MBIT = 8

export const URGENT_SECONDS = 6
const URGENT_BESIDE_STREAMS = 5
const LOWAT_BYTES = 16_384

const pairColumns: Array<Column<keyof Metrics>> = [
  figure('MB/s', 'megabytesPerS'),
  times('rate', 'megabytesPerS', AS_IT_COMES.id, 'without'),
  figure('CPU s\nper GB', 'bothCpuSPerGigabyte'),
  times('CPU', 'bothCpuSPerGigabyte', AS_IT_COMES.id, 'without'),
  times('sender', 'senderCpuSPerGigabyte', AS_IT_COMES.id, 'without'),
  times('receiver', 'receiverCpuSPerGigabyte', AS_IT_COMES.id, 'without'),
  figure('writes\nper MB', 'socketWritesPerMegabyte')
]

/** A variant but the first is a module of the folder `preload`, which both processes load before anything else */
function inPairs (id: string, label: string, variants: Labelled[], rows: string[], transport: TransportName = 'tcp-noise'): Recipe {
  return {
    id,
    label,
    needsLink: false,
    work: rows.map(id => findRow(id, matrixRows)),
    variants: [AS_IT_COMES, ...variants],
    columns: pairColumns,

    async measure (work, muxer, variant, stopAtEnd) {
      const row = findRow(work, matrixRows)
      const nodeOptions = variant === AS_IT_COMES.id ? [] : ['--import', new URL(`preload/${variant}.ts`, import.meta.url).href]

      return endAfter(startPair({ muxer, transport, nodeOptions }), stopAtEnd, async pair => {
        await pair.ready

        return toMetrics(row, await pair.measure(row, AT_LEAST_MS))
      })
    },

    describe: ({ megabytesPerS, bothCpuSPerGigabyte }) => `${format(megabytesPerS)} MB/s, ${format(bothCpuSPerGigabyte)} s of CPU per GB`
  }
}

const notsentLowat: Recipe = {
  id: 'notsent-lowat',
  label: 'net.ipv4.tcp_notsent_lowat',
  needsLink: true,
  work: [10, 200].map(mbit => rateOf(mbit)),
  variants: [AS_IT_COMES, { id: String(LOWAT_BYTES), label: `${LOWAT_BYTES} bytes` }],
  columns: [
    figure('p50\nms', 'p50Ms'),
    figure('p99\nms', 'p99Ms'),
    times('p99', 'p99Ms', AS_IT_COMES.id, 'without'),
    figure('bulk\nMbit/s', 'besideMegabytesPerS', MEGABYTE_MBIT),
    times('bulk', 'besideMegabytesPerS', AS_IT_COMES.id, 'without'),
    figure('in\nflight KB', 'inFlightMegabytes', 1000),
    times('sender\nCPU', 'senderCpuSPerGigabyte', AS_IT_COMES.id, 'without')
  ],

  async measure (work, muxer, variant, stopAtEnd) {
    const link = layLink(rateOf(Number(work)))

    if (variant !== AS_IT_COMES.id) {
      link.commands.forEach(([program, ...inNamespace]) => {
        execFileSync(program, [...inNamespace, 'sysctl', '--quiet', '--write', `net.ipv4.tcp_notsent_lowat=${variant}`])
      })
    }

    const contestant = { id: muxer, label: muxer, muxer, isMarked: true }
    const uplink = { scenario: 'plain', streams: URGENT_BESIDE_STREAMS, urgentIntervalMs: URGENT_INTERVAL_MS, warmUpMs: WARM_UP_MS, measuredMs: URGENT_SECONDS * 1000 } as const

    return endAfter(startSession(contestant, link, uplink), stopAtEnd, async session => session.measure())
  },

  describe: ({ p99Ms, besideMegabytesPerS = NaN }) => `p99 ${format(p99Ms)} ms, ${format(besideMegabytesPerS * MEGABYTE_MBIT)} Mbit/s`
}

const ROWS = ['1x100', '1x4k', '1x64k', '10x1m']

export const recipes: Recipe[] = [
  inPairs('noise-crypto', 'noise({ crypto })', [{ id: 'noise-crypto', label: 'with the recipe' }], ROWS),
  notsentLowat,
  inPairs('cork', 'cork() in @libp2p/tcp', [{ id: 'cork-write', label: 'around a send()' }, { id: 'cork-turn', label: 'around a turn' }], ROWS),
  inPairs('join-message', 'one message a send() in @libp2p/websockets', [{ id: 'join-message', label: 'with the patch' }], ROWS, 'ws-noise')
]
