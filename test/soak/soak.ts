/**
 * Real nodes over TCP and Noise for half an hour, with connections and peers killed at random. Between rounds, when
 * nothing is in flight, nothing may be left: no heap, no handle, no listener. Every transfer ends with
 * the right bytes, or with an error if its connection was killed.
 */
import { setTimeout } from 'node:timers/promises'
import { linearRegression } from 'simple-statistics'
import { readOptions } from '../../testing/programs/options.ts'
import { collectGarbage } from '../../testing/protocol/garbage.ts'
import { createServingNode } from '../../testing/libp2p/serving-node.ts'
import { startPeer } from '../../testing/libp2p/spawn.ts'
import { TRANSFERS, WrongBytesError } from './transfers.ts'
import type { TestNode } from '../../testing/libp2p/serving-node.ts'
import type { Peer } from '../../testing/libp2p/spawn.ts'
import type { Connection } from '@libp2p/interface'

const ROUND_MS = 5000
const WORKERS = 16
const MAX_TRANSFER_BYTES = 400_000
/** A connection lives so long on average, and a peer for so many rounds */
const MEAN_LIFE_MS = 500
const ROUNDS_PER_PEER = 6
/** Whatever waits longer than this hangs */
const SETTLE_MS = 20_000
/** Of the samples, the first part shows compiled code and caches filling up */
const WARM_UP_PART = 1 / 3
const KIBIBYTE = 1024
/** What garbage collection leaves differs by about a megabyte from sample to sample; this is that, spread over the run */
const HEAP_NOISE_BYTES = 2 * 2 ** 20

interface Sample {
  minutes: number
  heapBytes: number
  handles: string
  listeners: number
}

interface Tally {
  completed: number
  cutOff: number
  kills: number
}

const failures: string[] = []
const tally: Tally = { completed: 0, cutOff: 0, kills: 0 }
let nextSeed = 1

process.on('unhandledRejection', err => { failures.push(`unhandled rejection: ${describe(err)}`) })
process.on('uncaughtException', err => { failures.push(`uncaught exception: ${describe(err)}`) })

const values = readOptions({ command: 'npm run soak --', about: 'real nodes whose connections are killed at random' }, {
  minutes: { takes: 'number', about: 'for how long', default: '30' }
})
const minutes = Number(values.minutes)
const startMs = performance.now()
const node = await createServingNode('ours')
let peer = await startPeer('ours')
const samples: Sample[] = []

try {
  for (let round = 1; performance.now() - startMs < minutes * 60_000 && failures.length === 0; round++) {
    if (round % ROUNDS_PER_PEER === 0) {
      await Promise.all([runRound(node, peer), setTimeout(ROUND_MS / 2).then(async () => peer.kill())])
      await forgetPeers(node)
      peer = await startPeer('ours')
    } else {
      await runRound(node, peer)
    }

    samples.push(await takeSample(node))
    report(samples)
  }
} finally {
  await peer.kill()
  await node.libp2p.stop()
}

judge(samples)

/** Workers transfer and connections die; ends when everything has settled */
async function runRound (node: TestNode, peer: Peer): Promise<void> {
  const controller = new AbortController()
  const isOver = (): boolean => controller.signal.aborted
  const workers = Array.from({ length: WORKERS }, async () => {
    while (!isOver()) {
      await transferOnce(node, peer)
    }
  })
  const killing = killConnections(node, isOver)
  await setTimeout(ROUND_MS)
  controller.abort()
  await settle('a round', Promise.all([killing, ...workers]))
  await settle('the end of all connections', Promise.all(node.libp2p.getConnections().map(async connection => connection.close())))
}

async function transferOnce (node: TestNode, peer: Peer): Promise<void> {
  let connection: Connection | undefined

  try {
    connection = await node.libp2p.dial(peer.address)
    const transfer = TRANSFERS[Math.floor(Math.random() * TRANSFERS.length)]
    await settle(transfer.name, transfer(connection, nextSeed++, Math.floor(Math.random() ** 3 * MAX_TRANSFER_BYTES)))
    tally.completed++
  } catch (err) {
    // what ends a connection is known to its streams first
    await setTimeout(50)

    if (err instanceof WrongBytesError || connection?.status === 'open') {
      failures.push(`a transfer on a connection that lives: ${describe(err)}`)
    }

    tally.cutOff++
  }
}

async function killConnections (node: TestNode, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await setTimeout(Math.random() * 2 * MEAN_LIFE_MS)

    for (const connection of node.libp2p.getConnections()) {
      connection.abort(new Error('Killed at random'))
      tally.kills++
    }
  }
}

/** Peers that were killed do not come back: what libp2p remembers of each would look like a leak */
async function forgetPeers (node: TestNode): Promise<void> {
  for (const { id } of await node.libp2p.peerStore.all()) {
    await node.libp2p.peerStore.delete(id)
  }
}

/** Fails what takes too long instead of waiting for ever */
async function settle (name: string, promise: Promise<unknown>): Promise<void> {
  const controller = new AbortController()
  const late = setTimeout(SETTLE_MS, undefined, { signal: controller.signal }).then(() => {
    failures.push(`${name} has not settled within ${SETTLE_MS} ms`)
  }, () => {})

  try {
    await Promise.race([promise, late])
  } finally {
    controller.abort()
  }
}

async function takeSample (node: TestNode): Promise<Sample> {
  await setTimeout(300)
  await collectGarbage()
  await collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  const handles = process.getActiveResourcesInfo().filter(name => name.includes('Wrap')).sort()

  return {
    minutes: (performance.now() - startMs) / 60_000,
    heapBytes: heapUsed + arrayBuffers,
    handles: handles.join(' '),
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0) +
      ['connection:open', 'connection:close', 'peer:connect', 'peer:disconnect', 'peer:identify'].reduce((sum, name) => sum + (node.libp2p as unknown as { listenerCount (name: string): number }).listenerCount(name), 0)
  }
}

function report (samples: Sample[]): void {
  const { minutes, heapBytes, handles, listeners } = samples[samples.length - 1]
  console.info(`${minutes.toFixed(1)} min: ${tally.completed} transfers, ${tally.cutOff} cut off, ${tally.kills} connections killed; heap ${(heapBytes / 2 ** 20).toFixed(1)} MiB, handles ${handles.split(' ').length}, listeners ${listeners}`)
}

function judge (samples: Sample[]): void {
  const settled = samples.slice(Math.floor(samples.length * WARM_UP_PART))
  const { m: bytesPerMinute } = linearRegression(settled.map(({ minutes, heapBytes }) => [minutes, heapBytes]))
  const lastedMinutes = settled[settled.length - 1].minutes - settled[0].minutes
  const allowed = HEAP_NOISE_BYTES / lastedMinutes
  console.info(`heap slope ${(bytesPerMinute / KIBIBYTE).toFixed(1)} KiB/min over the last ${lastedMinutes.toFixed(1)} min, allowed ${(allowed / KIBIBYTE).toFixed(1)}`)

  if (!(bytesPerMinute <= allowed)) {
    failures.push('the heap grows')
  }

  for (const key of ['handles', 'listeners'] as const) {
    const seen = new Set(settled.map(sample => sample[key]))

    if (seen.size !== 1) {
      failures.push(`${key} differ between rounds: ${[...seen].join(' | ')}`)
    }
  }

  if (tally.completed < 100 || tally.kills < 10) {
    failures.push('too little happened')
  }

  console.info(failures.length === 0 ? 'nothing was left behind' : `FAILED\n${failures.join('\n')}`)
  process.exitCode = failures.length === 0 ? 0 : 1
}

function describe (err: unknown): string {
  return err instanceof Error ? err.stack ?? err.message : String(err)
}
