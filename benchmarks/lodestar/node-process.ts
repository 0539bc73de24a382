// A child process: the node that is measured, which publishes, passes gossip on and answers whoever asks for blocks.
import { Registry } from 'prom-client'
import { mean, min } from 'simple-statistics'
import { ATTESTATION_TOPICS } from '../../testing/lodestar/gossip.ts'
import { createErrorLog } from '../../testing/lodestar/log.ts'
import { Participant } from '../../testing/lodestar/participant.ts'
import { eachInterval, nowMs, untilCounted } from '../../testing/programs/clock.ts'
import { countSocketWrites, startCounting } from '../pair/counters.ts'
import { answer } from '../../testing/programs/child.ts'
import { startObserving } from '../pair/runtime.ts'
import { transportOf } from './transport.ts'
import type { Spent } from '../pair/counters.ts'
import type { Runtime } from '../pair/runtime.ts'
import type { Window } from '../uplink/workload.ts'
import type { LodestarMuxer } from './transport.ts'

/** Of the node, or of its peers, which share a process */
export interface Setup {
  muxer: LodestarMuxer
  peers: number
  /** Where it listens; its own machine by default */
  host?: string
}

export interface Usage extends Spent, Runtime {
  /** Messages of gossip that came from peers that stay */
  received: number
  /** Peers in the mesh of a topic, on average */
  meshPeers: number
  /** By gossipsub, of all peers: the mean, and the lowest */
  meanScore: number
  lowestScore: number
}

export interface Published {
  messages: number
  /** How late publish() was called, of each message of the window */
  lateMs: Float64Array
}

const MESH_STALL_MS = 20_000
/** A node whose peers have all come back may be late with what they brought */
const MESSAGES_STALL_MS = 5000

let node: Participant
let failure: unknown
let usageSince: (messages: number) => Promise<Usage>

function fail (err: unknown): void {
  failure ??= err
}

function receivedFrom (firstPeer: number): number {
  return node.counts.attestationsFrom.entries().reduce((sum, [peer, count]) => peer < firstPeer ? sum : sum + count, 0)
}

const commands = {
  /** Returns the address to dial */
  async start ({ muxer, peers, host }: Setup): Promise<string> {
    countSocketWrites()
    node = await Participant.start({
      number: peers,
      ...await transportOf(muxer),
      maxPeers: peers * 2,
      host,
      gossipBlockBytes: 0,
      registry: new Registry(),
      logger: createErrorLog().logger,
      onFailure: (_, err) => { fail(err) }
    })

    return node.address
  },

  /** Of the whole process, also if this is a worker of it. Messages of peers below `firstPeer` do not count. */
  startCounting (firstPeer: number): void {
    const receivedBefore = receivedFrom(firstPeer)
    const observed = startObserving()
    const spent = startCounting(process.cpuUsage)

    usageSince = async messages => {
      await untilCounted(() => receivedFrom(firstPeer) - receivedBefore, messages, MESSAGES_STALL_MS)
      const scores = node.scores()

      return {
        ...spent(),
        ...observed(),
        received: receivedFrom(firstPeer) - receivedBefore,
        meshPeers: mean(ATTESTATION_TOPICS.map(topic => node.meshPeers(topic))),
        meanScore: mean(scores),
        lowestScore: min(scores)
      }
    }
  },

  /** When so many messages have come, or have not for long */
  async usage (messages: number): Promise<Usage> {
    const usage = await usageSince(messages)

    if (failure != null) {
      throw failure
    }

    return usage
  },

  /** Until so many peers are in the mesh of each topic */
  async untilMeshesHave (peers: number): Promise<void> {
    const sizes = (): number[] => ATTESTATION_TOPICS.map(topic => node.meshPeers(topic))

    if (await untilCounted(() => Math.min(...sizes()), peers, MESH_STALL_MS) < peers) {
      throw new Error(`The node's meshes are of ${sizes().join(', ')} instead of ${peers} peers, and have not grown for ${MESH_STALL_MS / 1000} s`)
    }
  },

  /** From now on until the end of the window */
  async publish ({ fromMs, toMs }: Window, intervalMs: number, byteLength: number): Promise<Published> {
    const messages = Math.floor((toMs - nowMs()) / intervalMs)
    const lateMs: number[] = []

    await eachInterval(messages, intervalMs, nowMs, (_, dueMs) => {
      if (dueMs >= fromMs) {
        lateMs.push(nowMs() - dueMs)
      }

      node.attest(byteLength, dueMs).catch(fail)
    })

    if (failure != null) {
      throw failure
    }

    return { messages, lateMs: Float64Array.from(lateMs) }
  }
}

export type NodeCommands = typeof commands

answer(commands)
