// A child process: all peers of the node that is measured.
import { setTimeout as sleep } from 'node:timers/promises'
import { raceSignal } from 'race-signal'
import { createErrorLog } from '../../test/lodestar/stack/log.ts'
import { Participant } from '../../test/lodestar/stack/participant.ts'
import { answer } from '../harness/child.ts'
import { muxers } from '../muxers.ts'
import { Random } from '../../test/simulation/random.ts'
import { GOSSIP_INTERVAL_MS, MAX_GOSSIP_BYTES, MIN_GOSSIP_BYTES, PEERS, requests } from './workload.ts'
import type { MuxerName } from '../muxers.ts'

export interface Done {
  published: number
  /** Of each request that was answered */
  requestMs: number[]
  /** Requests whose answer was cut off, or did not come in time */
  failed: number
}

/** As Lodestar waits for a response */
const ANSWER_TIMEOUT_MS = 10_000

const peers: Participant[] = []
let failure: unknown
let address = ''

function publishedInAll (): number {
  return peers.reduce((sum, { counts }) => sum + counts.attestationsSent, 0)
}

const commands = {
  async start (muxer: MuxerName, nodeAddress: string): Promise<void> {
    address = nodeAddress
    const createMuxer = await muxers[muxer]()

    for (let number = 0; number < PEERS; number++) {
      const peer = await Participant.start({
        number,
        muxers: [createMuxer],
        maxPeers: PEERS,
        gossipBlockBytes: 0,
        logger: createErrorLog().logger,
        onFailure: (_, err) => { failure ??= err }
      })

      await peer.dial(address)
      peers.push(peer)
    }
  },

  /** For so long; the timers of peers are spread evenly */
  async load (durationMs: number): Promise<Done> {
    const random = new Random(1)
    const before = publishedInAll()
    const requestMs: number[] = []
    let failed = 0
    const nodeId = address.split('/p2p/')[1]
    const endMs = performance.now() + durationMs
    let next = 0
    let asked = 0

    const gossiper = setInterval(() => {
      while (next < (Math.min(performance.now(), endMs) - endMs + durationMs) / GOSSIP_INTERVAL_MS * PEERS) {
        const byteLength = random.integer(MIN_GOSSIP_BYTES, MAX_GOSSIP_BYTES)
        peers[next++ % PEERS].attest(byteLength).catch(err => { failure ??= err })
      }
    }, 1)

    await Promise.all(requests.map(async ({ slot, intervalMs }) => {
      const underWay: Array<Promise<void>> = []

      for (let atMs = performance.now(); atMs < endMs; atMs += intervalMs) {
        const waitMs = atMs - performance.now()

        if (waitMs > 0) {
          await sleep(waitMs)
        }

        const startMs = performance.now()

        underWay.push(raceSignal(peers[asked++ * 7 % PEERS].requestBlocks(nodeId, slot, 1), AbortSignal.timeout(ANSWER_TIMEOUT_MS)).then(
          () => { requestMs.push(performance.now() - startMs) },
          () => { failed++ }
        ))
      }

      await Promise.all(underWay)
    }))

    clearInterval(gossiper)

    if (failure != null) {
      throw failure
    }

    return { published: publishedInAll() - before, requestMs, failed }
  }
}

export type PeersCommands = typeof commands

answer(commands)
