// A child process: some of the hosts of one muxer, libp2p nodes with gossipsub that publish on command and check what arrives.
import { setTimeout as sleep } from 'node:timers/promises'
import { gossipsub, StrictNoSign, StrictSign } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import { multiaddr } from '@multiformats/multiaddr'
import { nowMs } from '../../testing/programs/clock.ts'
import { countSocketWrites, startCounting } from '../pair/counters.ts'
import { answer } from '../../testing/programs/child.ts'
import { createMuxer } from '../pair/endpoints/muxer.ts'
import { transportInit } from '../pair/endpoints/transport-init.ts'
import { createNodeWith, manyConnections } from '../node.ts'
import { watchRss } from '../pair/runtime.ts'
import { createMessage, readMessage } from '../../testing/lodestar/gossip-message.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Spent } from '../pair/counters.ts'
import type { Publication } from './workload.ts'
import type { Libp2p } from 'libp2p'

interface StartOptions {
  muxer: ContestantMuxer
  isSigned: boolean
  /** The topics of each host of this process */
  topicsOf: Map<number, string[]>
}

type Host = Libp2p<{ pubsub: ReturnType<ReturnType<typeof gossipsub>> }>

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

async function startHost (muxer: ContestantMuxer, isSigned: boolean, topics: string[]): Promise<Host> {
  const node = await createNodeWith(await createMuxer(muxer), {
    ...await transportInit(muxer, 'tcp-noise'),
    // all hosts have one address, which libp2p takes for one impatient dialler
    ...manyConnections,
    services: {
      identify: identify(),
      pubsub: gossipsub({
        globalSignaturePolicy: isSigned ? StrictSign : StrictNoSign,
        // and gossipsub for one sybil
        scoreParams: { IPColocationFactorWeight: 0 }
      })
    }
  })
  const { pubsub } = node.services

  pubsub.addEventListener('message', ({ detail: { data } }) => {
    try {
      latenciesMs.push(nowMs() - readMessage(data).publishedAtMs)
    } catch (err: any) {
      onError(err)
    }
  })
  topics.forEach(topic => { pubsub.subscribe(topic) })

  return node
}

const commands = {
  /** Returns the address of each host */
  async start ({ muxer, isSigned, topicsOf }: StartOptions): Promise<Map<number, string>> {
    countSocketWrites()

    for (const [host, topics] of topicsOf) {
      hosts.set(host, await startHost(muxer, isSigned, topics))
    }

    return new Map(hosts.entries().map(([host, node]) => [host, node.getMultiaddrs()[0].toString()]))
  },

  async dial (host: number, address: string): Promise<void> {
    await findHost(host).dial(multiaddr(address))
  },

  /** The peers whose subscriptions a host knows */
  peersOf (host: number, topic: string): number {
    return findHost(host).services.pubsub.getSubscribers(topic).length
  },

  startCounting (): void {
    latenciesMs = []
    maxRssBytes = watchRss()
    spentSince = startCounting()
  },

  /** In the order of their time, each host at times of its own */
  async publish (publications: Publication[]): Promise<void> {
    const startMs = performance.now()

    for (const { host, atMs, topic, byteLength } of publications) {
      const waitMs = startMs + atMs - performance.now()

      if (waitMs > 0) {
        await sleep(waitMs)
      }

      findHost(host).services.pubsub.publish(topic, createMessage({ host, publishedAtMs: nowMs() }, byteLength)).catch(onError)
    }
  },

  deliveries (): number {
    if (failure != null) {
      throw failure
    }

    return latenciesMs.length
  },

  stopCounting (): Gossiped {
    return { latenciesMs: Float64Array.from(latenciesMs), spent: spentSince(), maxRssBytes: maxRssBytes() }
  }
}

export type PeerCommands = typeof commands

answer(commands)
