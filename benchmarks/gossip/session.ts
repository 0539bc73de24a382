// The parent's view of one muxer's processes, which share its hosts.
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from 'simple-statistics'
import { startChild } from '../../testing/programs/child.ts'
import { untilCounted } from '../../testing/programs/clock.ts'
import { topics } from './workload.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Spent } from '../pair/counters.ts'
import type { Gossiped, PeerCommands } from './hosts-process.ts'
import type { Topology } from './topology.ts'
import type { Publication } from './workload.ts'

export interface Metrics {
  deliveries: number
  deliveriesPerS: number
  cpuUsPerDelivery: number
  cpuPercent: number
  socketWritesPerDelivery: number
  noiseRecordsPerDelivery: number
  p50Ms: number
  p99Ms: number
}

/** Of all processes together */
export interface Measured {
  latenciesMs: number[]
  durationMs: number
  spent: Spent
  maxRssBytes: number
}

export interface Session {
  /** Resolves when all hosts run, are connected and know of each other's topics */
  ready: Promise<void>
  measure (plan: Publication[]): Promise<Measured>
  stop (): Promise<void>
}

export function toMetrics ({ latenciesMs, durationMs, spent }: Measured): Metrics {
  const deliveries = latenciesMs.length

  return {
    deliveries,
    deliveriesPerS: deliveries / durationMs * 1000,
    cpuUsPerDelivery: spent.cpuMs / deliveries * 1000,
    cpuPercent: spent.cpuMs / durationMs * 100,
    socketWritesPerDelivery: spent.socketWrites / deliveries,
    noiseRecordsPerDelivery: spent.noiseRecords / deliveries,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99)
  }
}

const POLL_MS = 50
/** Beyond the last publication, between deliveries */
const DELIVERIES_STALL_MS = 20_000
/** For meshes to form: heartbeats, one a second, and answers to them */
const MESH_MS = 4000
/** For what is in flight when the last message is delivered: copies of it, which gossipsub drops */
const QUIET_MS = 100

const peer = new URL('./hosts-process.ts', import.meta.url)

export function startSession (muxer: ContestantMuxer, isSigned: boolean, { connections, subscribers }: Topology): Session {
  const title = (index: number): string => `process ${index + 1} of ${muxer}`
  const children = Array.from({ length: availableParallelism() }, (_, index) => startChild<PeerCommands>(peer, title(index)))
  const processes = children.map(child => child.commands)
  const processOf = (host: number): number => host % processes.length
  const hosts = new Set(connections.flat()).values().toArray().sort((a, b) => a - b)

  function topicsOf (process: number): Map<number, string[]> {
    return new Map(hosts.filter(host => processOf(host) === process).map(host => [
      host,
      topics.map(({ name }) => name).filter(topic => subscribers[topic].has(host))
    ]))
  }

  /** Of its neighbours, so many subscribe to the topic */
  function expectedPeers (host: number, topic: string): number {
    return connections.filter(([a, b]) => (a === host && subscribers[topic].has(b)) || (b === host && subscribers[topic].has(a))).length
  }

  async function untilPeersAreKnown (): Promise<void> {
    for (const host of hosts) {
      for (const { name } of topics) {
        while (await processes[processOf(host)].peersOf(host, name) < expectedPeers(host, name)) {
          await sleep(POLL_MS)
        }
      }
    }
  }

  async function connect (): Promise<void> {
    const started = await Promise.all(processes.map(async (process, index) => process.start({ muxer, isSigned, topicsOf: topicsOf(index) })))
    const addresses = new Map(started.flatMap(addresses => [...addresses]))

    for (const [from, to] of connections) {
      await processes[processOf(from)].dial(from, addresses.get(to) ?? '')
    }

    await untilPeersAreKnown()
    await sleep(MESH_MS)
  }

  function expectedDeliveries (plan: Publication[]): number {
    return plan.reduce((sum, { host, topic }) => sum + subscribers[topic].size - (subscribers[topic].has(host) ? 1 : 0), 0)
  }

  async function untilDelivered (expected: number): Promise<void> {
    const count = async (): Promise<number> => (await Promise.all(processes.map(async process => process.deliveries()))).reduce((a, b) => a + b)
    const deliveries = await untilCounted(count, expected, DELIVERIES_STALL_MS)

    if (deliveries !== expected) {
      throw new Error(`${deliveries} deliveries instead of ${expected}`)
    }
  }

  return {
    ready: connect(),

    async measure (plan) {
      const startMs = performance.now()
      await Promise.all(processes.map(async process => process.startCounting()))
      await Promise.all(processes.map(async (process, index) => process.publish(plan.filter(({ host }) => processOf(host) === index).sort((a, b) => a.atMs - b.atMs))))
      await untilDelivered(expectedDeliveries(plan))
      const durationMs = performance.now() - startMs
      await sleep(QUIET_MS)
      const gossiped = await Promise.all(processes.map(async process => process.stopCounting()))
      const sum = (of: (gossiped: Gossiped) => number): number => gossiped.reduce((sum, one) => sum + of(one), 0)

      return {
        latenciesMs: gossiped.flatMap(({ latenciesMs }) => Array.from(latenciesMs)),
        durationMs,
        spent: { cpuMs: sum(({ spent }) => spent.cpuMs), socketWrites: sum(({ spent }) => spent.socketWrites), noiseRecords: sum(({ spent }) => spent.noiseRecords) },
        maxRssBytes: sum(({ maxRssBytes }) => maxRssBytes)
      }
    },

    async stop () {
      await Promise.all(children.map(async child => child.stop()))
    }
  }
}
