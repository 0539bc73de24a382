// The tables of the links: as text for whoever runs the benchmark, as Markdown to be kept.
import { format, renderGroups } from '../../harness/table.ts'
import { variants } from './variants.ts'
import type { Group } from '../../harness/table.ts'
import type { Simulated, Transfer } from './simulated.ts'
import type { Variant } from './variants.ts'
import type { Link } from './links.ts'
import type { Work } from './works.ts'

export interface Result {
  link: Link
  work: Work
  variant: Variant
  simulated: Simulated
}

export interface TcpResult {
  link: Link
  work: Work
  variant: Variant
  simulatedMs: number
  tookMs: number
}

const duration = (ms: number): string => ms >= 1000 ? `${(ms / 1000).toFixed(3)} s` : `${ms.toFixed(2)} ms`
const speed = (megabytesPerS: number): string => megabytesPerS >= 1 ? `${format(megabytesPerS)} MB/s` : `${format(megabytesPerS * 1000)} KB/s`
/** Cut, not rounded: 0.98 is not said of 0.979 */
const part = (value: number): string => (Math.floor(value * 1000) / 1000).toFixed(3)

function describe ({ tookMs, megabytesPerS, linkPart, framesBack }: Transfer, fastestMs: number): string[] {
  return [(tookMs / fastestMs).toFixed(2), duration(tookMs), speed(megabytesPerS), part(linkPart), framesBack.toFixed(0)]
}

function groupsOf (results: Result[]): Result[][] {
  return [...Map.groupBy(results, ({ link, work }) => `${work.id} ${link.id}`).values()]
}

export function renderSimulated (results: Result[]): string {
  const groups = groupsOf(results).map((ofCell): Group => {
    const [{ link, work }] = ofCell
    const fastestMs = Math.min(...ofCell.map(({ simulated }) => simulated.first.tookMs))

    return {
      label: `${link.label}\n${work.label}`,
      lines: ofCell.map(({ variant, simulated }) => [
        variant.label,
        ...describe(simulated.first, fastestMs),
        part(simulated.again.linkPart)
      ])
    }
  })

  return renderGroups(['muxer', '× best', 'time', 'speed', 'of link', 'frames\nback', 'of link,\nagain'], groups)
}

/** One table for each work: the part of each link that each muxer uses, the first time and again */
export function toMarkdown (results: Result[]): string {
  const ofWorks = [...Map.groupBy(results, ({ work }) => work.label)]

  return ofWorks.map(([label, ofWork]) => {
    const ofLinks = [...Map.groupBy(ofWork, ({ link }) => link.label.replace('\n', ', ')).values()]
    const ids = variants.filter(({ id }) => ofWork.some(({ variant }) => variant.id === id))
    const rows = ofLinks.map(ofLink => [
      ofLink[0].link.label.replace('\n', ', '),
      ...ids.map(({ id }) => {
        const { first, again } = (ofLink.find(({ variant }) => variant.id === id) as Result).simulated

        return `${speed(first.megabytesPerS)}, ${part(first.linkPart)} / ${part(again.linkPart)}`
      })
    ])

    return [`## ${label}`, '', ...markdownTable(['link', ...ids.map(({ label }) => label)], rows), ''].join('\n')
  }).join('\n')
}

export function renderTcp (results: TcpResult[]): string {
  return renderGroups(tcpHeadings, [...Map.groupBy(results, ({ link, work }) => `${link.label}\n${work.label}`)].map(([label, ofCell]): Group => ({
    label,
    lines: ofCell.map(result => [result.variant.label, ...tcpCells(result)])
  })))
}

export function tcpToMarkdown (results: TcpResult[]): string {
  return markdownTable(['link', 'work', ...tcpHeadings], results.map(result => [
    result.link.id, result.work.label, result.variant.label, ...tcpCells(result)
  ])).join('\n')
}

const tcpHeadings = ['muxer', 'simulated', 'over TCP', 'TCP ÷ simulated']

function tcpCells ({ simulatedMs, tookMs }: TcpResult): string[] {
  return [duration(simulatedMs), duration(tookMs), (tookMs / simulatedMs).toFixed(3)]
}

function markdownTable (headings: string[], rows: string[][]): string[] {
  return [headings, headings.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`)
}

export const simulatedLegend = [
  'Virtual time, socket buffers of 64 KiB. What is written arrives as Noise would let it: 65,519 bytes at once, with the last of them. The streams are opened when the clock starts; what follows their SYN at once is',
  'held back by the 256 KiB that the protocol begins with, whatever the muxer: no more can be under way in the first round trip.',
  '',
  'muxer        ours, stock, and mplex, which has no windows',
  'time         from the first send to the arrival of the last byte',
  '× best       time by that of the fastest in the cell',
  'speed        of payload, 10^6 and 10^3 bytes',
  'of link      payload / rate + delay one way, what the link alone takes, by time. Headers count against it: 12 bytes in 64 KiB are 0.0002',
  'frames back  headers that the receiver sent: updates, ACKs, pings',
  'again        the same work once more on the same streams, whose windows are what they have grown to'
].join('\n')

export const tcpLegend = [
  'Three processes: senders, receivers, and a relay that shapes rate and delay. libp2p nodes with TCP and Noise, a connection for each muxer',
  'and link. Works of one stream go one after the other on each link. The relay wakes at whole milliseconds, so it adds about 0.6 ms each way.'
].join('\n')
