// A child process: the node that is measured, which publishes, passes gossip on and answers whoever asks for blocks.
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { ATTESTATION_TOPICS } from '../../test/lodestar/stack/gossip.ts'
import { createErrorLog } from '../../test/lodestar/stack/log.ts'
import { Participant } from '../../test/lodestar/stack/participant.ts'
import { eachInterval, nowMs } from '../clock.ts'
import { countSocketWrites, startCounting } from '../counters.ts'
import { answer } from '../harness/child.ts'
import { startProfiling } from '../harness/profile.ts'
import { muxers } from '../muxers.ts'
import { startObserving } from '../runtime.ts'
import type { Spent } from '../counters.ts'
import type { MuxerName } from '../muxers.ts'
import type { Runtime } from '../runtime.ts'
import type { Window } from '../uplink/workload.ts'

/** Of the node, or of its peers, which share a process */
export interface Setup {
  muxer: MuxerName
  peers: number
  /** Where it listens; its own machine by default */
  host?: string
}

export interface Usage extends Spent, Runtime {
  /** Messages of gossip that came */
  received: number
}

export interface Published {
  messages: number
  /** How late publish() was called, of each message of the window */
  lateMs: Float64Array
}

const POLL_MS = 50
const LATEST_MESH_MS = 20_000

let node: Participant
let failure: unknown
let usageSince: () => Promise<Usage>

function fail (err: unknown): void {
  failure ??= err
}

function received (): number {
  return node.counts.attestationsFrom.values().reduce((a, b) => a + b, 0)
}

const commands = {
  /** Returns the address to dial */
  async start ({ muxer, peers, host }: Setup): Promise<string> {
    countSocketWrites()
    node = await Participant.start({
      number: peers,
      muxers: [await muxers[muxer]()],
      maxPeers: peers * 2,
      host,
      gossipBlockBytes: 0,
      registry: new Registry(),
      logger: createErrorLog().logger,
      onFailure: (_, err) => { fail(err) }
    })

    return node.address
  },

  async startCounting (profilePath?: string): Promise<void> {
    const stopProfiling = profilePath == null ? undefined : await startProfiling(profilePath)
    const receivedBefore = received()
    const observed = startObserving()
    const spent = startCounting()

    usageSince = async () => {
      const usage = { ...spent(), ...observed(), received: received() - receivedBefore }
      await stopProfiling?.()

      return usage
    }
  },

  async usage (): Promise<Usage> {
    const usage = await usageSince()

    if (failure != null) {
      throw failure
    }

    return usage
  },

  /** Until so many peers are in the mesh of each topic */
  async untilMeshesHave (peers: number): Promise<void> {
    const deadlineMs = nowMs() + LATEST_MESH_MS
    const sizes = (): number[] => ATTESTATION_TOPICS.map(topic => node.meshPeers(topic))

    while (sizes().some(size => size < peers)) {
      if (nowMs() > deadlineMs) {
        throw new Error(`After ${LATEST_MESH_MS / 1000} s the node's meshes are of ${sizes().join(', ')} instead of ${peers} peers`)
      }

      await sleep(POLL_MS)
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
