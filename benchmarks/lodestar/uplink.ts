// A validator's node at home, which gossips while some of its peers fetch blocks: how long gossip takes with each muxer.
import { setTimeout as sleep } from 'node:timers/promises'
import { mean, quantile } from 'simple-statistics'
import { nowMs } from '../../testing/programs/clock.ts'
import { oneOf } from '../../testing/programs/names.ts'
import { parseOptions } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { endAfter, runBenchmark } from '../../testing/programs/run.ts'
import { figure, format, renderSamples, times } from '../harness/table.ts'
import { muxerNames } from '../contestants.ts'
import { BURST, canLayLink, LATENCY, layLink, startAt } from '../uplink/link.ts'
import { CONGESTION, rateOf, WARM_UP_MS } from '../uplink/workload.ts'
import { ASKERS, BLOCKS_PER_REQUEST, GOSSIP_BYTES, GOSSIP_INTERVAL_MS, MBIT, PEERS, REQUESTS_AT_ONCE, SUBSCRIBERS, TOPICS_PER_PEER } from './uplink-workload.ts'
import type { MuxerName } from '../contestants.ts'
import type { ShapedLink } from '../uplink/link.ts'
import type { Window } from '../uplink/workload.ts'
import type { NodeCommands } from './node-process.ts'
import type { PeersCommands } from './peers-process.ts'

interface Contestant {
  id: string
  label: string
  muxer: MuxerName
}

const contestants: Contestant[] = [
  { id: 'ours-lanes', label: 'ours, lanes', muxer: 'ours-gossip' },
  { id: 'ours', label: 'ours', muxer: 'ours' },
  { id: 'ours-unbounded', label: 'ours, lanes, no bound', muxer: 'ours-gossip-unbounded' },
  { id: 'stock', label: '@libp2p/yamux', muxer: 'stock' },
  { id: 'mplex', label: '@libp2p/mplex', muxer: 'mplex' }
]

interface Work {
  /** The link's queue is in a machine between its ends, not in the one that sends */
  hasModem: boolean
  /** By default the node's own */
  peersMuxer?: MuxerName
  measuredMs: number
}

/** Of gossip to some of the peers. What there is one figure of is with all of them. */
interface Metrics {
  p50Ms: number
  p99Ms: number
  blocksMbitPerS?: number
  linkQueueMs?: number
  lateP99Ms?: number
}

/** Peers by whether they ask for blocks */
const rows = [
  { id: 'all', label: `all ${PEERS} peers` },
  { id: 'askers', label: `the ${ASKERS} that\nask for blocks` },
  { id: 'others', label: `the ${PEERS - ASKERS} others` }
] as const

const columns = [
  figure('p50\nms', 'p50Ms'),
  figure('p99\nms', 'p99Ms'),
  times('p99', 'p99Ms', 'stock'),
  times('p99', 'p99Ms', 'mplex'),
  figure('blocks\nMbit/s', 'blocksMbitPerS'),
  times('blocks', 'blocksMbitPerS', 'stock'),
  figure('queue\nms', 'linkQueueMs'),
  figure('late\np99 ms', 'lateP99Ms')
]

function renderLegend ({ hasModem, peersMuxer }: Work): string {
  return [
    `A node set up as Lodestar's behind a link of ${MBIT} Mbit/s both ways, with ${PEERS} peers in one process at its other end: network namespaces and tbf with a`,
    `burst of ${BURST} and a limit of ${LATENCY}, in ${hasModem ? 'a bridge between them' : 'front of the kernels\' own devices'}. The kernel's TCP with ${CONGESTION}, Noise, a connection for each peer. All of`,
    `it is new for each measurement, the first ${WARM_UP_MS / 1000} s of which do not count. Every ${GOSSIP_INTERVAL_MS} ms the node publishes a message of ${GOSSIP_BYTES} B by gossipsub, which`,
    `goes to the ${SUBSCRIBERS} peers of its mesh at once. ${ASKERS} peers ask it for ranges of ${BLOCKS_PER_REQUEST} blocks all the time, ${REQUESTS_AT_ONCE} at a time, in snappy frames of 36 to 581 kB a`,
    `block. All peers have ${peersMuxer ?? 'the node\'s muxer'}. All that arrives is compared with what was sent, and no message may be missing.`,
    '',
    'lanes     priority is { \'/meshsub/*\': \'urgent\' } at both ends; no bound: and coalesce.maxQueueDelayMs is Infinity',
    'p50, p99  of gossip, from when a message was due at the node until gossipsub hands it over at a peer',
    '× stock   within each round: median (lowest–highest); × mplex of mplex',
    'blocks    as their streams bring them, 10^6 bits, to all who ask together',
    'queue     what waits in front of the link, on average, by the link\'s rate',
    'late      how late messages were published, because the process or the machine was busy; part of p50 and p99'
  ].join('\n')
}

const LOOK_EVERY_MS = 200
const LINK_BYTES_PER_MS = MBIT * 125
const [NODE_END, PEERS_END] = [0, 1]

/** What waits in front of the link, now and then */
async function watch (link: ShapedLink, { fromMs, toMs }: Window): Promise<number[]> {
  const queuedBytes: number[] = []

  await sleep(fromMs - nowMs())

  while (nowMs() < toMs) {
    queuedBytes.push(link.queuedBytes(NODE_END))
    await sleep(LOOK_EVERY_MS)
  }

  return queuedBytes
}

interface Session {
  measure(): Promise<Record<typeof rows[number]['id'], Metrics>>
  stop(): Promise<void>
}

/** A link, the node at its one end and all peers at the other */
function startSession ({ muxer }: Contestant, { hasModem, peersMuxer = muxer, measuredMs }: Work): Session {
  const link = layLink(rateOf(MBIT), hasModem)
  const node = startAt<NodeCommands>(link, NODE_END, new URL('node-process.ts', import.meta.url), 'node')
  const peers = startAt<PeersCommands>(link, PEERS_END, new URL('peers-process.ts', import.meta.url), 'peers')

  return {
    async measure () {
      const address = await node.commands.start({ muxer, peers: PEERS, host: link.addresses[NODE_END] })
      await peers.commands.start({ muxer: peersMuxer, peers: PEERS, host: link.addresses[PEERS_END] }, address, TOPICS_PER_PEER)
      await node.commands.untilMeshesHave(SUBSCRIBERS)

      const fromMs = nowMs() + WARM_UP_MS
      const window = { fromMs, toMs: fromMs + measuredMs }
      const [{ messages, lateMs }, blockBytes, queuedBytes] = await Promise.all([
        node.commands.publish(window, GOSSIP_INTERVAL_MS, GOSSIP_BYTES),
        peers.commands.askForBlocks(window),
        watch(link, window)
      ])
      const { askersMs, othersMs } = await peers.commands.gossiped(messages * SUBSCRIBERS, window)
      const latency = (...latenciesMs: number[]): Metrics => ({ p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99) })

      return {
        all: {
          ...latency(...askersMs, ...othersMs),
          blocksMbitPerS: blockBytes * 8 / 1000 / measuredMs,
          linkQueueMs: mean(queuedBytes) / LINK_BYTES_PER_MS,
          lateP99Ms: quantile([...lateMs], 0.99)
        },
        askers: latency(...askersMs),
        others: latency(...othersMs)
      }
    },

    async stop () {
      await Promise.all([node.stop(), peers.stop()])
      link.remove()
    }
  }
}

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds, seconds }, own: { modem, peers } } = parseOptions({
    contestants,
    counts: { rounds: 3, seconds: 6 },
    own: { modem: { about: 'the queue is a modem\'s, and not the kernel\'s', isVariant: true }, peers: { takes: 'muxer', about: 'what the peers run; the same if it is left out', isVariant: true } }
  })
  const work: Work = { hasModem: modem, peersMuxer: peers == null ? undefined : oneOf('muxer', peers, muxerNames), measuredMs: seconds * 1000 }

  if (!canLayLink('npm run bench lodestar-uplink')) {
    return
  }

  const measured = await runRounds({
    row: { id: 'uplink', label: `${MBIT} Mbit/s` },
    contestants: muxers,
    rounds,
    measure: async contestant => endAfter(startSession(contestant, work), stopAtEnd, async session => session.measure()),
    describe: ({ all }) => `p99 ${format(all.p99Ms)} ms, ${format(all.blocksMbitPerS)} Mbit/s of blocks`
  })
  const samples = measured.flatMap(sample => rows.map(({ id }) => ({ ...sample, rowId: id, metrics: sample.metrics[id] })))

  await report({
    tables: [renderSamples(samples, [...rows], muxers, columns)],
    extent: `${rounds} rounds of ${seconds} s`,
    legend: renderLegend(work),
    json,
    measured: { work, samples }
  })
})
