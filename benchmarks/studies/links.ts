// How much of each link each muxer uses, in virtual time.
import { parseOptions } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { medianOf } from '../harness/samples.ts'
import { runBenchmark } from '../../testing/programs/run.ts'
import { format, renderSamples } from '../harness/table.ts'
import { simulateWork } from '../../testing/links/simulated.ts'
import { variants } from '../../testing/links/variants.ts'
import { cells } from '../../testing/links/works.ts'
import type { Sample } from '../harness/samples.ts'
import type { Column } from '../harness/table.ts'
import type { Transfer } from '../../testing/links/simulated.ts'

interface Metrics extends Transfer {
  linkPartAgain: number
  /** By that of the fastest in the cell */
  timesBest: number
}

/** Ten seconds with more in the socket say no more */
const TEN_SECONDS_VARIANTS = ['ours', 'stock', 'mplex']

const duration = (ms: number): string => ms >= 1000 ? `${(ms / 1000).toFixed(3)} s` : `${ms.toFixed(2)} ms`
const speed = (megabytesPerS: number): string => megabytesPerS >= 1 ? `${format(megabytesPerS)} MB/s` : `${format(megabytesPerS * 1000)} KB/s`
/** Cut, not rounded: 0.98 is not said of 0.979 */
const part = (value: number): string => (Math.floor(value * 1000) / 1000).toFixed(3)

function column (heading: string, metric: keyof Metrics, show: (value: number) => string): Column<keyof Metrics> {
  return { heading, text: own => show(medianOf(own, metric) ?? NaN) }
}

const columns = [
  column('× best', 'timesBest', times => times.toFixed(2)),
  column('time', 'tookMs', duration),
  column('speed', 'megabytesPerS', speed),
  column('of link', 'linkPart', part),
  column('frames\nback', 'framesBack', frames => frames.toFixed(0)),
  column('of link,\nagain', 'linkPartAgain', part)
]

const legend = [
  'Virtual time, socket buffers of 64 KiB. What is written arrives as Noise would let it: 65,519 bytes at once, with the last of them. The streams are opened when the clock starts; what follows their SYN at once is',
  'held back by the 256 KiB that the protocol begins with, whatever the muxer: no more can be in flight in the first round trip.',
  '',
  'muxer        ours, stock, and mplex, which has no windows',
  'time         from the first send to the arrival of the last byte',
  '× best       time by that of the fastest in the cell',
  'speed        of payload, 10^6 and 10^3 bytes',
  'of link      payload / rate + delay one way, what the link alone takes, by time. Headers count against it: 12 bytes in 64 KiB are 0.0002',
  'frames back  headers that the receiver sent: updates, ACKs, pings',
  'again        the same work once more on the same streams, whose windows are what they have grown to'
].join('\n')

await runBenchmark(async () => {
  const { muxers, json } = parseOptions({ contestants: variants, counts: {} })
  const rows = cells.map(({ link, work }) => ({ id: `${work.id} ${link.id}`, label: `${link.label}\n${work.label}`, link, work }))
  const samples: Array<Sample<keyof Metrics>> = []

  for (const row of rows) {
    const ofRow = await runRounds({
      row,
      contestants: muxers.filter(({ id }) => !row.work.id.endsWith('10s') || TEN_SECONDS_VARIANTS.includes(id)),
      rounds: 1,
      async measure (variant) {
        const { first, again } = await simulateWork(row.link, row.work, variant)

        return { ...first, linkPartAgain: again.linkPart }
      },
      describe: ({ linkPart }) => `${part(linkPart)} of the link`
    })
    const fastestMs = Math.min(...ofRow.map(({ metrics }) => metrics.tookMs))

    samples.push(...ofRow.map(sample => ({ ...sample, metrics: { ...sample.metrics, timesBest: sample.metrics.tookMs / fastestMs } })))
  }

  await report({ tables: [renderSamples(samples, rows, muxers, columns)], extent: 'the same in every run', legend, json, measured: { samples } })
})
