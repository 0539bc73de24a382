// A child process: all peers of the node that is measured, which publish, ask it for blocks, and note when its gossip comes.
import { setTimeout as sleep } from 'node:timers/promises'
import { raceSignal } from 'race-signal'
import { ATTESTATION_TOPICS } from '../../testing/lodestar/gossip.ts'
import { createErrorLog } from '../../testing/lodestar/log.ts'
import { Participant } from '../../testing/lodestar/participant.ts'
import { Random } from '../../testing/simulation/random.ts'
import { nowMs, untilCounted } from '../../testing/programs/clock.ts'
import { answer } from '../../testing/programs/child.ts'
import { LATEST_ECHO_MS } from '../uplink/workload.ts'
import { ASKERS, BLOCKS_PER_REQUEST, REQUESTS_AT_ONCE } from './uplink-workload.ts'
import { transportOf } from './transport.ts'
import { GOSSIP_INTERVAL_MS, MAX_GOSSIP_BYTES, MIN_GOSSIP_BYTES, requests } from './workload.ts'
import type { Window } from '../uplink/workload.ts'
import type { Setup } from './node-process.ts'

export interface Done {
  /** By peers that stay */
  published: number
  /** Of each request that was answered */
  requestMs: number[]
  /** Requests whose answer was cut off, or did not come in time */
  failed: number
  /** Of this process, user and system */
  cpuMs: number
}

/** How long each message of the window took from when it was due, to peers that ask for blocks and to those that do not */
export interface Gossiped {
  askersMs: Float64Array
  othersMs: Float64Array
}

/** As Lodestar waits for a response */
const ANSWER_TIMEOUT_MS = 10_000
const DIAL_PAUSE_MS = 200
/** Of a round, that a peer which leaves is away */
const AWAY_PART = 10

/** Undefined while one is away */
const peers: Array<Participant | undefined> = []
let startPeer: (number: number) => Promise<void>
const deliveries: Array<{ peer: number, dueMs: number, latencyMs: number }> = []
let nodeId = ''
let failure: unknown

function fail (err: unknown): void {
  failure ??= err
}

function publishedFrom (firstPeer: number): number {
  return peers.slice(firstPeer).reduce((sum, peer) => sum + (peer?.counts.attestationsSent ?? 0), 0)
}

/** The node takes few connections at once, and refuses who comes in a crowd */
async function dialPatiently (peer: Participant, address: string, attempts = 25): Promise<void> {
  await peer.dial(address).catch(async err => {
    if (attempts === 1) {
      throw err
    }

    await sleep(DIAL_PAUSE_MS)
    await dialPatiently(peer, address, attempts - 1)
  })
}

/** Leaves somewhere in this time, and comes back before its end, so that there are as many again for the next */
async function leaveAndReturn (number: number, durationMs: number, random: Random): Promise<void> {
  await sleep(random.next() * durationMs / 2)
  const peer = peers[number]
  peers[number] = undefined
  await peer?.sayGoodbye(nodeId)
  await peer?.stop()
  await sleep(durationMs / AWAY_PART)
  await startPeer(number)
}

/** Of one peer, other topics than of the next */
function topicsOf (peer: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => ATTESTATION_TOPICS[(peer + index) % ATTESTATION_TOPICS.length])
}

const commands = {
  /** Peers that subscribe to few topics note when messages come */
  async start ({ muxer, peers: count, host }: Setup, nodeAddress: string, topicsEach?: number): Promise<void> {
    const transport = await transportOf(muxer)
    nodeId = nodeAddress.split('/p2p/')[1]

    startPeer = async number => {
      const peer = await Participant.start({
        number,
        ...transport,
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

      await dialPatiently(peer, nodeAddress)
      peers[number] = peer
    }

    for (let number = 0; number < count; number++) {
      await startPeer(number)
    }
  },

  /** Gossip and requests for so long; the timers of peers are spread evenly. So many of the peers leave, and come back. */
  async load (durationMs: number, leaving: number): Promise<Done> {
    const random = new Random(1)
    const before = publishedFrom(leaving)
    const cpuBefore = process.cpuUsage()
    const staying = peers.length - leaving
    const requestMs: number[] = []
    let failed = 0
    const endMs = performance.now() + durationMs
    let next = 0
    let asked = 0

    const gossiper = setInterval(() => {
      while (next < (Math.min(performance.now(), endMs) - endMs + durationMs) / GOSSIP_INTERVAL_MS * peers.length) {
        const byteLength = random.integer(MIN_GOSSIP_BYTES, MAX_GOSSIP_BYTES)
        peers[next++ % peers.length]?.attest(byteLength).catch(fail)
      }
    }, 1)

    const left = Promise.all(Array.from({ length: leaving }, async (_, number) => leaveAndReturn(number, durationMs, random).catch(fail)))

    await Promise.all(requests.map(async ({ slot, intervalMs }) => {
      const inFlight: Array<Promise<void>> = []

      for (let atMs = performance.now(); atMs < endMs; atMs += intervalMs) {
        const waitMs = atMs - performance.now()

        if (waitMs > 0) {
          await sleep(waitMs)
        }

        const startMs = performance.now()

        inFlight.push(raceSignal((peers[leaving + asked++ * 7 % staying] as Participant).requestBlocks(nodeId, slot, 1), AbortSignal.timeout(ANSWER_TIMEOUT_MS)).then(
          () => { requestMs.push(performance.now() - startMs) },
          () => { failed++ }
        ))
      }

      await Promise.all(inFlight)
    }))

    clearInterval(gossiper)
    await left

    if (failure != null) {
      throw failure
    }

    const { user, system } = process.cpuUsage(cpuBefore)

    return { published: publishedFrom(leaving) - before, requestMs, failed, cpuMs: (user + system) / 1000 }
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

    const askers = peers.slice(0, ASKERS) as Participant[]
    await Promise.all(askers.flatMap(peer => Array.from({ length: REQUESTS_AT_ONCE }, async () => keepAsking(peer))))

    return receivedBytes
  },

  /** Resolves when so many messages have come in all */
  async gossiped (expected: number, { fromMs }: Window): Promise<Gossiped> {
    await untilCounted(() => deliveries.length, expected, LATEST_ECHO_MS)

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
