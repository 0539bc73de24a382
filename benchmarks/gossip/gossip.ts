// Gossip among 100 hosts, as in a profile of gossipsub in go-libp2p: what a delivery costs with each muxer.
import { parseOptions, plainContestants } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { runBenchmark } from '../../testing/programs/run.ts'
import { figure, format, renderSamples, times } from '../harness/table.ts'
import { findRow } from '../rows.ts'
import { startSession, toMetrics } from './session.ts'
import { drawTopology } from './topology.ts'
import { planRound, rows } from './workload.ts'
import type { Sample } from '../harness/samples.ts'
import type { Metrics } from './session.ts'

const columns = [
  figure('deliveries\nper s', 'deliveriesPerS'),
  figure('CPU µs per\ndelivery', 'cpuUsPerDelivery'),
  figure('CPU %', 'cpuPercent'),
  figure('writes per\ndelivery', 'socketWritesPerDelivery'),
  figure('records per\ndelivery', 'noiseRecordsPerDelivery'),
  figure('p50\nms', 'p50Ms'),
  figure('p99\nms', 'p99Ms'),
  times('CPU', 'cpuUsPerDelivery', 'stock'),
  times('CPU', 'cpuUsPerDelivery', 'mplex')
]

const legend = [
  'Hosts with gossipsub as it comes, spread over as many processes as there are cores, TCP on the loopback interface and',
  'Noise. Each muxer gets the same publications at the same times. Every message that arrives is compared with what was',
  'published, and each has to arrive once at every other subscriber of its topic.',
  '',
  'deliveries  messages handed to subscribers; per second until the last one has arrived',
  'CPU         user and system time of all processes, until nothing is in flight any more, by deliveries',
  'CPU %       of one core',
  'writes      write and writev calls on the sockets of all processes',
  'records     Noise records that were encrypted',
  'p50, p99    from the publication to the delivery, over all hops',
  '× stock     of CPU per delivery, within each round: median (lowest–highest), below 1 is better'
].join('\n')

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds }, own: { only } } = parseOptions({
    contestants: plainContestants,
    usual: 'ours,stock,mplex',
    counts: { rounds: 3 },
    own: { only: { takes: 'rows', isList: true, about: 'some of the work', default: rows.map(({ id }) => id).join() } }
  })
  const asked = only.map(id => findRow(id, rows))
  const topology = drawTopology()
  const samples: Array<Sample<keyof Metrics>> = []

  // hosts either sign or do not
  for (const [isSigned, ofKind] of Map.groupBy(asked, row => row.isSigned)) {
    console.info(`Start the hosts of ${muxers.map(({ id }) => id).join(', ')}`)
    const contestants = muxers.map(muxer => ({ ...muxer, session: startSession(muxer.muxer, isSigned, topology) }))
    const sessions = contestants.map(({ session }) => session)
    stopAtEnd(sessions)
    await Promise.all(sessions.map(async session => session.ready))

    for (const row of ofKind) {
      samples.push(...await runRounds({
        row,
        contestants,
        rounds,
        hasWarmUp: true,
        measure: async ({ session }, round) => toMetrics(await session.measure(planRound(row, round))),
        describe: ({ cpuUsPerDelivery }) => `${format(cpuUsPerDelivery)} µs per delivery`
      }))
    }

    await Promise.all(sessions.map(async session => session.stop()))
  }

  await report({ tables: [renderSamples(samples, asked, muxers, columns)], extent: `${rounds} rounds after one to warm up`, legend, json, measured: { samples } })
})
