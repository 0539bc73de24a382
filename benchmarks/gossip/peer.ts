// A child process: some of the hosts of one muxer.
import { setTimeout as sleep } from 'node:timers/promises'
import { answer } from '../child.ts'
import { countSocketWrites, startCounting } from '../counters.ts'
import { startProfiling } from '../profile.ts'
import { watchRss } from '../runtime.ts'
import { startHost } from './host.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Spent } from '../counters.ts'
import type { Host } from './host.ts'
import type { Publication } from './workload.ts'

export interface StartOptions {
  muxer: ContestantMuxer
  isSigned: boolean
  /** The topics of each host of this process */
  topicsOf: Map<number, string[]>
}

export interface Gossiped {
  latenciesMs: Float64Array
  spent: Spent
  maxRssBytes: number
}

const hosts = new Map<number, Host>()
let latenciesMs: number[] = []
let failure: Error | undefined
let spentSince: () => Spent
let maxRssBytes: () => number
let stopProfiling: (() => Promise<void>) | undefined

function onError (err: Error): void {
  failure ??= err
}

function findHost (host: number): Host {
  const found = hosts.get(host)

  if (found == null) {
    throw new Error(`Host ${host} is not in this process`)
  }

  return found
}

/** Publications come in the order of their time, each host at times of its own */
async function publishAll (publications: Publication[]): Promise<void> {
  const startMs = performance.now()

  for (const publication of publications) {
    const waitMs = startMs + publication.atMs - performance.now()

    if (waitMs > 0) {
      await sleep(waitMs)
    }

    findHost(publication.host).publish(publication)
  }
}

const commands = {
  /** Returns the address of each host */
  async start ({ muxer, isSigned, topicsOf }: StartOptions): Promise<Map<number, string>> {
    countSocketWrites()

    for (const [host, topics] of topicsOf) {
      hosts.set(host, await startHost({ host, muxer, isSigned, topics, onError, onDelivery: latencyMs => { latenciesMs.push(latencyMs) } }))
    }

    return new Map(hosts.entries().map(([host, { address }]) => [host, address]))
  },

  async dial (host: number, address: string): Promise<void> {
    await findHost(host).dial(address)
  },

  peersOf (host: number, topic: string): number {
    return findHost(host).peersOf(topic)
  },

  async startCounting (profilePath?: string): Promise<void> {
    latenciesMs = []
    stopProfiling = profilePath == null ? undefined : await startProfiling(profilePath)
    maxRssBytes = watchRss()
    spentSince = startCounting()
  },

  async publish (publications: Publication[]): Promise<void> {
    await publishAll(publications)
  },

  deliveries (): number {
    if (failure != null) {
      throw failure
    }

    return latenciesMs.length
  },

  async stopCounting (): Promise<Gossiped> {
    const spent = spentSince()
    await stopProfiling?.()

    return { latenciesMs: Float64Array.from(latenciesMs), spent, maxRssBytes: maxRssBytes() }
  }
}

export type PeerCommands = typeof commands

answer(commands)
