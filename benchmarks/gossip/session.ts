// The parent's view of one muxer's processes, which share its hosts.
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '../child.ts'
import { topics } from './workload.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Spent } from '../counters.ts'
import type { PeerCommands } from './peer.ts'
import type { Topology } from './topology.ts'
import type { Publication } from './workload.ts'

export interface Measured {
  publications: number
  latenciesMs: number[]
  durationMs: number
  spent: Spent
  /** Of all processes together */
  maxRssBytes: number
}

export interface Session {
  muxer: ContestantMuxer
  /** Resolves when all hosts run, are connected and know of each other's topics */
  ready: Promise<void>
  /** With a path, the first process writes a CPU profile to it */
  measure (plan: Publication[], profilePath?: string): Promise<Measured>
  stop (): Promise<void>
}

const COMMAND_TIMEOUT_MS = 120_000
const POLL_MS = 50
/** Beyond the last publication, for the last delivery */
const LATEST_DELIVERY_MS = 20_000
/** For meshes to form: heartbeats, one a second, and answers to them */
const MESH_MS = 4000
/** For what is under way when the last message is delivered: copies of it, which gossipsub drops */
const QUIET_MS = 100

const peer = new URL('peer.ts', import.meta.url)

export function startSession (muxer: ContestantMuxer, isSigned: boolean, { connections, subscribers }: Topology): Session {
  const title = (index: number): string => `process ${index + 1} of ${muxer}`
  const children = Array.from({ length: availableParallelism() }, (_, index) => startChild<PeerCommands>(peer, title(index), { timeoutMs: COMMAND_TIMEOUT_MS }))
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
    const deadlineMs = performance.now() + LATEST_DELIVERY_MS

    while (true) {
      const deliveries = (await Promise.all(processes.map(async process => process.deliveries()))).reduce((a, b) => a + b)

      if (deliveries === expected) {
        return
      }

      if (deliveries > expected || performance.now() > deadlineMs) {
        throw new Error(`${deliveries} deliveries instead of ${expected}`)
      }

      await sleep(POLL_MS)
    }
  }

  return {
    muxer,
    ready: connect(),

    async measure (plan, profilePath) {
      try {
        const startMs = performance.now()
        await Promise.all(processes.map(async (process, index) => process.startCounting(index === 0 ? profilePath : undefined)))
        await Promise.all(processes.map(async (process, index) => process.publish(plan.filter(({ host }) => processOf(host) === index).sort((a, b) => a.atMs - b.atMs))))
        await untilDelivered(expectedDeliveries(plan))
        const durationMs = performance.now() - startMs
        await sleep(QUIET_MS)
        const gossiped = await Promise.all(processes.map(async process => process.stopCounting()))
        const sum = (what: keyof Spent): number => gossiped.reduce((sum, { spent }) => sum + spent[what], 0)

        return {
          publications: plan.length,
          latenciesMs: gossiped.flatMap(({ latenciesMs }) => Array.from(latenciesMs)),
          durationMs,
          spent: { cpuMs: sum('cpuMs'), socketWrites: sum('socketWrites'), noiseRecords: sum('noiseRecords') },
          maxRssBytes: gossiped.reduce((sum, { maxRssBytes }) => sum + maxRssBytes, 0)
        }
      } catch (err) {
        throw new Error(`${muxer}: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
      }
    },

    async stop () {
      await Promise.all(children.map(async child => child.stop()))
    }
  }
}
