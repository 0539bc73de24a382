// What the matrix says in words and in the terminal.
import { transports } from '../contestants.ts'
import { spreadOf } from '../harness/samples.ts'
import { formatRatio, renderGroups } from '../harness/table.ts'
import { buildTables } from './tables.ts'
import type { TransportName } from '../contestants.ts'
import type { Group } from '../harness/table.ts'
import type { Change, Comparison } from './compare.ts'
import type { Results } from './results.ts'

/** What a terminal has no room for */
const HTML_ONLY = /sender, receiver|per MB|p99.9|requests\/s|p(50|99)\n× (none|go)|× (mplex|quic|http2|rust)/

/** In the lines of a terminal */
export const method = [
  'Figures are medians over the rounds (lowest–highest). A round takes every row through every muxer of the transport in turn; one that warms',
  'up is thrown away, and so is the row\'s own work of 100 ms before each measurement. Sender and receiver are processes of their own, over the',
  'loopback interface; over message ports they are threads of one process, so RSS is of both. All that arrives is compared with what was sent.',
  'Time runs from the first send to the confirmation of the last stream, on streams that are open before.'
]

export const terms: Array<[term: string, meaning: string]> = [
  ['1 × 100 B', 'one stream with messages of 100 bytes; 1,000 × 4 KiB, a thousand that take turns'],
  ['× stock, × none', 'the figure by that of the base in the same round: more is better for messages/s, less for p50, p99 and CPU'],
  ['stock', '@libp2p/yamux; mplex is @libp2p/mplex'],
  ['none', 'no muxer: one connection carries the same bytes in chunks of 65,519 bytes, whole Noise records; its messages/s are these bytes by the row\'s size'],
  ['quic', '@chainsafe/libp2p-quic, its own transport with its own encryption, among those on TCP and Noise'],
  ['http2', 'node:http2 with windows of 16 MiB; beside TCP and Noise over TLS 1.2 with the same cipher, ChaCha20-Poly1305'],
  ['go-, rust-yamux', 'programs in Go and Rust on both sides; rust-yamux-buffered with buffers around its socket'],
  ['CPU', 'user and system time, checking included; of the thread alone over message ports; not while latency is measured, when processes are kept awake'],
  ['writes', 'write and writev calls of the sender; unknown where native code makes them (quic, http2)'],
  ['event loop', 'p99 of its delay, sampled each millisecond in all Node processes alike'],
  ['GC', 'part of the time that collections took, those beside the main thread included'],
  ['RSS, heap', 'at the end of the row, which rows before have shaped'],
  ['p99', 'all but one in a hundred are faster; p50, every other one; p99.9 only of 1,000 requests and more in a round'],
  ['KiB', 'of objects and buffers behind a garbage collection, by the number of connections, libp2p\'s and Noise\'s own included'],
  ['beside', 'what the streams carry that are not measured: bulk beside requests, the slow reader beside the others']
]

export const legend = `${method.join('\n')}\n\n${terms.map(([term, meaning]) => `${term.padEnd(16)}${meaning}`).join('\n')}`

export function renderTerminal ({ samples }: Results, transport: TransportName): string {
  return buildTables(samples, transport).map(({ title, headings, groups }) => {
    const shown = headings.map((heading, column) => ({ heading, column })).filter(({ heading }) => !HTML_ONLY.test(heading))
    const brief = groups.map(({ label, lines }) => ({ label, lines: lines.map(line => shown.map(({ column }) => line[column])) }))

    return `${title}\n${renderGroups(shown.map(({ heading }) => heading), brief)}`
  }).join('\n\n')
}

export interface ComparisonText {
  summary: string
  headings: string[]
  groups: Group[]
}

export function describeComparison ({ changes, comparedCells, tooFewRounds }: Comparison): ComparisonText {
  const few = tooFewRounds === 0 ? '' : ` ${tooFewRounds} more have fewer than 3 rounds and were left out.`

  return {
    summary: `${changes.length} of ${comparedCells} figures changed: no round of one run lies between those of the other.${few} ` +
      'By chance alone a tenth of them do with 3 rounds on each side, 1 in 126 with 5.',
    headings: ['muxer', 'figure', 'before', 'now', 'verdict'],
    groups: [...Map.groupBy(changes, ({ transport, row }) => `${transports[transport]}: ${row.label}`)].map(([label, ofRow]) => ({
      label,
      lines: ofRow.map(describeChange)
    }))
  }
}

function describeChange ({ muxer, headline, isRatio, before, now, isBetter }: Change): string[] {
  const figure = isRatio ? `${headline.label} × stock` : headline.label

  return [muxer, figure, formatRatio(spreadOf(before)), formatRatio(spreadOf(now)), isBetter ? 'better' : 'worse']
}
