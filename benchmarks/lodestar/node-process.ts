// A child process: the node that is measured.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Registry } from 'prom-client'
import { createErrorLog } from '../../test/lodestar/stack/log.ts'
import { Participant } from '../../test/lodestar/stack/participant.ts'
import { answer } from '../harness/child.ts'
import { countSocketWrites, startCounting } from '../counters.ts'
import { muxers } from '../muxers.ts'
import { startProfiling } from '../harness/profile.ts'
import { PEERS } from './workload.ts'
import type { Spent } from '../counters.ts'
import type { MuxerName } from '../muxers.ts'

export interface Usage extends Spent {
  eventLoopP50Ms: number
  eventLoopP99Ms: number
  rssBytes: number
  heapBytes: number
  /** Messages of gossip that came */
  received: number
}

const RESOLUTION_MS = 1
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
let node: Participant
let failure: unknown
let spentSince: () => Spent
let receivedBefore = 0
let stopProfiling: (() => Promise<void>) | undefined

function received (): number {
  return node.counts.attestationsFrom.values().reduce((a, b) => a + b, 0)
}

const commands = {
  async start (muxer: MuxerName): Promise<string> {
    countSocketWrites()
    node = await Participant.start({
      number: PEERS,
      muxers: [await muxers[muxer]()],
      maxPeers: PEERS * 2,
      gossipBlockBytes: 0,
      registry: new Registry(),
      logger: createErrorLog().logger,
      onFailure: (_, err) => { failure ??= err }
    })

    return node.address
  },

  async startCounting (profilePath?: string): Promise<void> {
    stopProfiling = profilePath == null ? undefined : await startProfiling(profilePath)
    receivedBefore = received()
    delay.reset()
    delay.enable()
    spentSince = startCounting()
  },

  async usage (): Promise<Usage> {
    const spent = spentSince()
    delay.disable()
    await stopProfiling?.()

    if (failure != null) {
      throw failure
    }

    const { rss, heapUsed } = process.memoryUsage()

    return {
      ...spent,
      // what it reports includes the interval at which it looks
      eventLoopP50Ms: delay.percentile(50) / 1e6 - RESOLUTION_MS,
      eventLoopP99Ms: delay.percentile(99) / 1e6 - RESOLUTION_MS,
      rssBytes: rss,
      heapBytes: heapUsed,
      received: received() - receivedBefore
    }
  }
}

export type NodeCommands = typeof commands

answer(commands)
