// A child process: all peers of the node that is measured, which publish, ask it for blocks, and note when its gossip comes.
import { setTimeout as sleep } from 'node:timers/promises'
import { raceSignal } from 'race-signal'
import { ATTESTATION_TOPICS } from '../../test/lodestar/stack/gossip.ts'
import { createErrorLog } from '../../test/lodestar/stack/log.ts'
import { Participant } from '../../test/lodestar/stack/participant.ts'
import { Random } from '../../test/simulation/random.ts'
import { nowMs } from '../clock.ts'
import { answer } from '../harness/child.ts'
import { muxers } from '../muxers.ts'
import { LATEST_ECHO_MS } from '../uplink/workload.ts'
import { ASKERS, BLOCKS_PER_REQUEST, REQUESTS_AT_ONCE } from './uplink-workload.ts'
import { GOSSIP_INTERVAL_MS, MAX_GOSSIP_BYTES, MIN_GOSSIP_BYTES, requests } from './workload.ts'
import type { Window } from '../uplink/workload.ts'
import type { Setup } from './node-process.ts'

export interface Done {
  published: number
  /** Of each request that was answered */
  requestMs: number[]
  /** Requests whose answer was cut off, or did not come in time */
  failed: number
}

/** How long each message of the window took from when it was due, to peers that ask for blocks and to those that do not */
export interface Gossiped {
  askersMs: Float64Array
  othersMs: Float64Array
}

/** As Lodestar waits for a response */
const ANSWER_TIMEOUT_MS = 10_000
const POLL_MS = 10

const peers: Participant[] = []
const deliveries: Array<{ peer: number, dueMs: number, latencyMs: number }> = []
let nodeId = ''
let failure: unknown

function fail (err: unknown): void {
  failure ??= err
}

function publishedInAll (): number {
  return peers.reduce((sum, { counts }) => sum + counts.attestationsSent, 0)
}

/** Of one peer, other topics than of the next */
function topicsOf (peer: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => ATTESTATION_TOPICS[(peer + index) % ATTESTATION_TOPICS.length])
}

const commands = {
  /** Peers that subscribe to few topics note when messages come */
  async start ({ muxer, peers: count, host }: Setup, nodeAddress: string, topicsEach?: number): Promise<void> {
    const createMuxer = await muxers[muxer]()
    nodeId = nodeAddress.split('/p2p/')[1]

    for (let number = 0; number < count; number++) {
      const peer = await Participant.start({
        number,
        muxers: [createMuxer],
        maxPeers: count,
        host,
        gossipBlockBytes: 0,
        logger: createErrorLog().logger,
        onFailure: (_, err) => { fail(err) },
        ...topicsEach != null && {
          topics: topicsOf(number, topicsEach),
          onAttestation: ({ publishedAtMs }) => { deliveries.push({ peer: number, dueMs: publishedAtMs, latencyMs: nowMs() - publishedAtMs }) }
        }
      })

      await peer.dial(nodeAddress)
      peers.push(peer)
    }
  },

  /** Gossip and requests for so long; the timers of peers are spread evenly */
  async load (durationMs: number): Promise<Done> {
    const random = new Random(1)
    const before = publishedInAll()
    const requestMs: number[] = []
    let failed = 0
    const endMs = performance.now() + durationMs
    let next = 0
    let asked = 0

    const gossiper = setInterval(() => {
      while (next < (Math.min(performance.now(), endMs) - endMs + durationMs) / GOSSIP_INTERVAL_MS * peers.length) {
        const byteLength = random.integer(MIN_GOSSIP_BYTES, MAX_GOSSIP_BYTES)
        peers[next++ % peers.length].attest(byteLength).catch(fail)
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

        underWay.push(raceSignal(peers[asked++ * 7 % peers.length].requestBlocks(nodeId, slot, 1), AbortSignal.timeout(ANSWER_TIMEOUT_MS)).then(
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
  },

  /** Asks until the end of the window, and checks what comes after it as well. Returns the bytes that came in the window. */
  async askForBlocks ({ fromMs, toMs }: Window): Promise<number> {
    let receivedBytes = 0

    function onBytes (byteLength: number): void {
      const atMs = nowMs()

      if (atMs >= fromMs && atMs < toMs) {
        receivedBytes += byteLength
      }
    }

    async function keepAsking (peer: Participant): Promise<void> {
      while (nowMs() < toMs) {
        await peer.requestBlocks(nodeId, 0, BLOCKS_PER_REQUEST, onBytes)
      }
    }

    const askers = peers.slice(0, ASKERS)
    await Promise.all(askers.flatMap(peer => Array.from({ length: REQUESTS_AT_ONCE }, async () => keepAsking(peer))))

    return receivedBytes
  },

  /** Resolves when so many messages have come in all */
  async gossiped (expected: number, { fromMs }: Window): Promise<Gossiped> {
    const deadlineMs = nowMs() + LATEST_ECHO_MS

    while (deliveries.length < expected && nowMs() < deadlineMs) {
      await sleep(POLL_MS)
    }

    if (failure != null) {
      throw failure
    }

    if (deliveries.length !== expected) {
      throw new Error(`${deliveries.length} deliveries of gossip instead of ${expected}`)
    }

    const measured = deliveries.filter(({ dueMs }) => dueMs >= fromMs)
    const latenciesOf = (isOf: (peer: number) => boolean): Float64Array => Float64Array.from(measured.filter(({ peer }) => isOf(peer)), ({ latencyMs }) => latencyMs)

    return { askersMs: latenciesOf(peer => peer < ASKERS), othersMs: latenciesOf(peer => peer >= ASKERS) }
  }
}

export type PeersCommands = typeof commands

answer(commands)
