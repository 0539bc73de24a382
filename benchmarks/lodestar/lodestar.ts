// A node as Lodestar sets it up, with 100 peers: what it spends on gossip and on answering requests with each muxer.
import { quantile } from 'simple-statistics'
import { startChild } from '../../testing/programs/child.ts'
import { parseOptions, plainContestants } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { runBenchmark } from '../../testing/programs/run.ts'
import { figure, format, renderSamples, times } from '../harness/table.ts'
import { installQuic } from '../quic/install.ts'
import { GOSSIP_INTERVAL_MS, LEAVING, PEERS, WARM_UP_MS, YOUNG_GENERATION_MB } from './workload.ts'
import type { Child } from '../../testing/programs/child.ts'
import type { NodeCommands } from './node-process.ts'
import type { PeersCommands } from './peers-process.ts'
import type { LodestarMuxer } from './transport.ts'

interface Contestant {
  id: string
  label: string
  muxer: LodestarMuxer
  node: Child<NodeCommands>
  peers: Child<PeersCommands>
}

const row = { id: 'lodestar', label: `${PEERS} peers` }

const columns = [
  figure('CPU %', 'cpuPercent'),
  figure('event loop\np50 ms', 'eventLoopP50Ms'),
  figure('event loop\np99 ms', 'eventLoopP99Ms'),
  figure('RSS\nMB', 'rssMegabytes'),
  figure('GC\nms/s', 'gcMsPerS'),
  figure('socket\nwrites/s', 'socketWritesPerS'),
  figure('request\np50 ms', 'requestP50Ms'),
  figure('request\np99 ms', 'requestP99Ms'),
  figure('requests\nfailed', 'requestsFailed'),
  figure('peers\nCPU %', 'peersCpuPercent'),
  figure('gossip\nmissed', 'missed'),
  figure('peers in\na mesh', 'meshPeers'),
  figure('score\nmean', 'meanScore'),
  figure('score\nlowest', 'lowestScore')
]

const comparisons = (['cpuPercent', 'eventLoopP99Ms', 'rssMegabytes', 'gcMsPerS'] as const).flatMap((metric, index) =>
  ['stock', 'mplex'].map(base => times(['CPU', 'event loop\np99', 'RSS', 'GC'][index], metric, base)))

const legend = [
  `A node set up as Lodestar's, in a worker with a young generation of ${YOUNG_GENERATION_MB} MB as there, with ${PEERS} peers in another process, of which ${LEAVING} leave`,
  `and come back in each round: ${PEERS / GOSSIP_INTERVAL_MS * 1000} messages of gossip a second of 300 to 1,000 B come from the peers and are passed on to the node's`,
  'mesh; it answers 10 requests a second with a block of 64 KiB, and 2 with one of 1 MiB, in snappy frames. All that arrives is compared with',
  'what was sent.',
  '',
  'CPU %       of a core: user and system time of the node\'s process',
  'GC          that the worker stands still for garbage collection',
  'event loop  how late timers fire at the node, which looks each millisecond',
  'request     at the peers, from opening the stream to having checked the block; failed: it did not come whole within 10 s',
  'peers CPU % of a core: all of them in one process, whose main thread comes to its limit on a slow machine',
  'missed      messages of peers that stay which had not come when no more came for 5 s',
  'mesh, score at the end of a round: gossipsub\'s peers in the mesh of a topic, and what it thinks of all peers',
  'ratios      within each round: median (lowest–highest), below 1 is better'
].join('\n')

/** All peers are connected, and what they do has been done for a while */
async function start ({ muxer, node, peers }: Contestant): Promise<void> {
  const setup = { muxer, peers: PEERS }

  await peers.commands.start(setup, await node.commands.start(setup))
  await peers.commands.load(WARM_UP_MS, 0)
}

async function measure ({ node, peers }: Contestant, durationMs: number): Promise<Record<string, number>> {
  await node.commands.startCounting(LEAVING)
  const { published, requestMs, failed, cpuMs: peersCpuMs } = await peers.commands.load(durationMs, LEAVING)
  const usage = await node.commands.usage(published)

  return {
    cpuPercent: usage.cpuMs / durationMs * 100,
    eventLoopP50Ms: usage.eventLoopDelayP50Ms,
    eventLoopP99Ms: usage.eventLoopDelayP99Ms,
    rssMegabytes: usage.rssBytes / 1e6,
    gcMsPerS: usage.gcMs / durationMs * 1000,
    socketWritesPerS: usage.socketWrites / durationMs * 1000,
    requestP50Ms: quantile(requestMs, 0.5),
    requestP99Ms: quantile(requestMs, 0.99),
    requestsFailed: failed,
    peersCpuPercent: peersCpuMs / durationMs * 100,
    missed: published - usage.received,
    meshPeers: usage.meshPeers,
    meanScore: usage.meanScore,
    lowestScore: usage.lowestScore
  }
}

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds, seconds } } = parseOptions({
    contestants: [...plainContestants, { id: 'quic', label: 'quic', muxer: 'quic' as const }],
    usual: 'ours,stock,mplex',
    counts: { rounds: 3, seconds: 60 }
  })

  if (muxers.some(({ id }) => id === 'quic') && !await installQuic()) {
    return
  }

  const contestants = muxers.map(muxer => ({
    ...muxer,
    node: startChild<NodeCommands>(new URL('node-process.ts', import.meta.url), `node of ${muxer.id}`, { youngGenerationMb: YOUNG_GENERATION_MB }),
    peers: startChild<PeersCommands>(new URL('peers-process.ts', import.meta.url), `peers of ${muxer.id}`)
  }))

  stopAtEnd(contestants.flatMap(({ node, peers }) => [node, peers]))

  for (const contestant of contestants) {
    console.info(`Start the node of ${contestant.label} and its peers`)
    await start(contestant)
  }

  const samples = await runRounds({
    row,
    contestants,
    rounds,
    measure: async contestant => measure(contestant, seconds * 1000),
    describe: ({ cpuPercent }) => `${format(cpuPercent)} % CPU`
  })

  await report({
    tables: [columns, comparisons].map(columns => renderSamples(samples, [row], muxers, columns)),
    extent: `${rounds} rounds of ${seconds} s`,
    legend,
    json,
    measured: { samples }
  })
})
