// The tables of the ablation and their legend.
import { format, formatRatio, renderGroups } from '../../harness/table.ts'
import { medianOf, p99RatioOf } from './measured.ts'
import { variants } from './variants.ts'
import { IDLE_DELAYS_MS, SATURATED, SIMULATED_PHASES, TCP_PHASES } from './workload.ts'
import type { Group } from '../../harness/table.ts'
import type { Metrics, Sample } from './measured.ts'
import type { Simulated } from './simulated.ts'

const saturatedHeadings = [
  'muxer', 'p50\nms', 'p99\nms', 'max\nms', 'p99\n× stock', 'p99\n× all off', 'ahead\np99\nKiB', 'below\np50\nKiB',
  'bulk\nMB/s', 'most ÷\nleast', 'gap\nms', 'late\np99\nms'
]

function saturatedLines (samples: Sample[]): string[][] {
  return variants.map(({ id, label }) => {
    const number = (metric: keyof Metrics): string => format(medianOf(samples, id, metric))
    const kibibytes = (metric: keyof Metrics): string => {
      const bytes = medianOf(samples, id, metric)

      return format(bytes == null ? undefined : bytes / 1024)
    }

    return [
      label,
      number('p50Ms'),
      number('p99Ms'),
      number('maxMs'),
      formatRatio(p99RatioOf(samples, id, 'stock')),
      formatRatio(p99RatioOf(samples, id, 'none')),
      kibibytes('aheadP99Bytes'),
      kibibytes('belowP50Bytes'),
      number('bulkMegabytesPerS'),
      number('mostByLeast'),
      number('longestGapMs'),
      number('lateP99Ms')
    ]
  })
}

export function renderSimulated ({ saturated, idleP50Ms }: Simulated): string {
  const groups = saturated.map((samples, i): Group => ({
    label: `${SATURATED[i].megabitsPerS} Mbit/s, ${SATURATED[i].roundTripMs} ms\nbuffer ${SATURATED[i].socketBufferBytes.toLocaleString('en')}`,
    lines: saturatedLines(samples)
  }))
  const idleHeadings = ['muxer', ...IDLE_DELAYS_MS.flatMap(delayMs => [
    `urgent\n100 B\n${delayMs * 2} ms`, `other\n100 B\n${delayMs * 2} ms`, `other\n56 KiB\n${delayMs * 2} ms`
  ])]
  const idleLines = variants.map(({ id, label }) => [label, ...idleP50Ms[id].map(format)])

  return [
    renderGroups(saturatedHeadings, groups),
    '',
    renderGroups(idleHeadings, [{ label: 'nothing else to send\n1 Gbit/s, p50 in ms', lines: idleLines }])
  ].join('\n')
}

export function renderTcp (samples: Sample[]): string {
  return renderGroups(saturatedHeadings, [{ label: 'TCP loopback\nand Noise', lines: saturatedLines(samples) }])
}

export const workloadLegend = [
  '20 streams send messages of 64 KiB as fast as they may, one more sends 100 bytes every 10 ms. Everything that arrives is verified.',
  '',
  'muxer        all levels on: strategy adaptive; the one stream in lane urgent, the 20 in lane bulk. One off:',
  '             0 the one stream in lane normal: it leads, but asks for no flush. Nothing is reserved for it either',
  '             1 reservedBytes 0   2 highWatermark 1   4 all in lane urgent   5 strategy delay, delayMs 2',
  '             3 a stream goes on until its queue or its credit is used up; no public option',
  '             6 maxQueueDelayMs Infinity: what is under way is not bounded',
  '             all off: 1, 2, 3 and 5 together, and all streams in lane normal',
  'p50 p99 max  of the 100 bytes, from send() to the arrival of the last of them',
  '× stock      p99 by that of @libp2p/yamux, and by that of all levels off, in the same round: median (lowest–highest)',
  'ahead        bytes that the muxer handed down between send() and the message, with the message and what is read with it',
  'below        bytes that it had handed down before send(), and that had not come in by then: nothing overtakes these',
  'most ÷ least payload of the 20 streams in the measured time, the largest by the smallest; ∞: a stream got nothing',
  'gap          the longest time in which one of the 20 streams got nothing',
  'late         how late send() was called: the process was busy. Not part of the latency'
].join('\n')

export const simulatedLegend = [
  `Virtual time, no encryption, segments of 1,460 bytes, ${SIMULATED_PHASES.measuredMs / 1000} s after ${SIMULATED_PHASES.warmUpMs / 1000} s of warm-up: 20 ms of each latency are the way there. "buffer" is`,
  'what the socket of the sender takes before it says to wait, in bytes: 64 KiB, the same less the 18 bytes that Noise would add to a write,',
  '16 and 256 KiB, and 2 MiB as kernels do. What a write reserves matters by how many writes that is: one full write of 65,519 bytes or two, or two of three quarters. Where messages',
  'wait for longer than they are sent, how long is a matter of when the measured time ends. Nothing else to send: one message every',
  '17.3 ms, by the round trip of the link.'
].join('\n')

export function tcpLegend (rounds: number): string {
  return [
    `Medians of ${rounds} interleaved ${rounds === 1 ? 'round' : 'rounds'} after a warm-up round, ${TCP_PHASES.measuredMs / 1000} s each after ${TCP_PHASES.warmUpMs / 1000} s of warm-up. Two processes and two nodes for each muxer. The receiver`,
    'is the bottleneck, so the socket buffers of the kernel are full: "below" is in front of every message of every muxer. "ahead" is never less',
    'than the Noise record of the message and one read of the socket, 64 KiB each.'
  ].join('\n')
}
