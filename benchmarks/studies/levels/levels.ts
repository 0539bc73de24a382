// What each level against head-of-line blocking does: all on, each one off, all off, and other muxers.
import { isDeepStrictEqual } from 'node:util'
import { parseOptions } from '../../harness/options.ts'
import { report } from '../../harness/report.ts'
import { runBenchmark } from '../../../testing/programs/run.ts'
import { figure, format, renderGroups, renderSamples, times } from '../../harness/table.ts'
import { simulateIdle } from './idle.ts'
import { simulateSaturated } from './saturated.ts'
import { variants } from './variants.ts'
import { IDLE_DELAYS_MS, MEASURED_MS, SATURATED, WARM_UP_MS } from './workload.ts'
import type { Sample } from '../../harness/samples.ts'
import type { Metrics } from './saturated.ts'
import type { Variant } from './variants.ts'

interface Simulated {
  samples: Array<Sample<keyof Metrics>>
  /** By variant */
  idleP50Ms: Record<string, number[]>
}

const KIB_PER_BYTE = 1 / 1024

const rows = SATURATED.map(({ megabitsPerS, roundTripMs, socketBufferBytes }, index) => ({
  id: String(index),
  label: `${megabitsPerS} Mbit/s, ${roundTripMs} ms\nbuffer ${socketBufferBytes.toLocaleString('en')}`
}))

const columns = [
  figure('p50\nms', 'p50Ms'),
  figure('p99\nms', 'p99Ms'),
  figure('max\nms', 'maxMs'),
  times('p99', 'p99Ms', 'stock'),
  times('p99', 'p99Ms', 'none', 'all off'),
  figure('ahead\np99\nKiB', 'aheadP99Bytes', KIB_PER_BYTE),
  figure('below\np50\nKiB', 'belowP50Bytes', KIB_PER_BYTE),
  figure('bulk\nMB/s', 'bulkMegabytesPerS'),
  figure('most ÷\nleast', 'mostByLeast'),
  figure('gap\nms', 'longestGapMs')
]

const idleHeadings = ['muxer', ...IDLE_DELAYS_MS.flatMap(delayMs => [
  `urgent\n100 B\n${delayMs * 2} ms`, `other\n100 B\n${delayMs * 2} ms`, `other\n56 KiB\n${delayMs * 2} ms`
])]

const legend = [
  '20 streams send messages of 64 KiB as fast as they may, one more sends 100 bytes every 10 ms. Everything that arrives is verified.',
  `Virtual time, no encryption, segments of 1,460 bytes, ${MEASURED_MS / 1000} s after ${WARM_UP_MS / 1000} s of warm-up: 20 ms of each latency are the way there. "buffer" is`,
  'what the socket of the sender takes before it says to wait, in bytes: 64 KiB, the same less the 18 bytes that Noise would add to a write,',
  '16 and 256 KiB, and 2 MiB as kernels do. What a write reserves matters by how many writes that is: one full write of 65,519 bytes or two, or two of three quarters. Where messages',
  'wait for longer than they are sent, how long is a matter of when the measured time ends. Nothing else to send: one message every',
  '17.3 ms, by the round trip of the link.',
  '',
  'muxer        all levels on: strategy adaptive; the one stream in lane urgent, the 20 in lane bulk. One off:',
  '             0 the one stream in lane normal: it leads, but asks for no flush. Nothing is reserved for it either',
  '             1 reservedBytes 0   2 highWatermark 1   4 all in lane urgent   5 strategy delay, delayMs 2',
  '             3 a stream goes on until its queue or its credit is used up; no public option',
  '             6 maxQueueDelayMs Infinity: what is in flight is not bounded',
  '             all off: 1, 2, 3 and 5 together, and all streams in lane normal',
  'p50 p99 max  of the 100 bytes, from send() to the arrival of the last of them',
  '× stock      p99 by that of @libp2p/yamux, and by that of all levels off',
  'ahead        bytes that the muxer handed down between send() and the message, with the message and what is read with it',
  'below        bytes that it had handed down before send(), and that had not come in by then: nothing overtakes these',
  'most ÷ least payload of the 20 streams in the measured time, the largest by the smallest; ∞: a stream got nothing',
  'gap          the longest time in which one of the 20 streams got nothing'
].join('\n')

async function simulateAll (compared: Variant[]): Promise<Simulated> {
  const samples: Simulated['samples'] = []
  const idleP50Ms: Simulated['idleP50Ms'] = {}

  for (const [index, work] of SATURATED.entries()) {
    for (const variant of compared) {
      samples.push({ rowId: rows[index].id, muxer: variant.id, round: 1, metrics: { ...await simulateSaturated(variant, work) } })
    }
  }

  for (const variant of compared) {
    idleP50Ms[variant.id] = await simulateIdle(variant)
  }

  return { samples, idleP50Ms }
}

await runBenchmark(async () => {
  const { muxers, json } = parseOptions({ contestants: variants, counts: {} })

  console.info('Simulate all of it twice')
  const simulated = await simulateAll(muxers)

  if (!isDeepStrictEqual(await simulateAll(muxers), simulated)) {
    throw new Error('Two simulations of the same differ')
  }

  const { samples, idleP50Ms } = simulated
  const idleLines = muxers.map(({ id, label }) => [label, ...idleP50Ms[id].map(format)])

  await report({
    tables: [renderSamples(samples, rows, muxers, columns), renderGroups(idleHeadings, [{ label: 'nothing else to send\n1 Gbit/s, p50 in ms', lines: idleLines }])],
    extent: 'both times all figures were the same',
    legend,
    json,
    measured: simulated
  })
})
