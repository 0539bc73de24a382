// A child process: all peers of the validator's node, at the other end of the line.
import { setTimeout as sleep } from 'node:timers/promises'
import { createErrorLog } from '../../../test/lodestar/stack/log.ts'
import { Participant } from '../../../test/lodestar/stack/participant.ts'
import { answer } from '../../harness/child.ts'
import { nowMs } from '../../clock.ts'
import { muxers } from '../../muxers.ts'
import { LATEST_ECHO_MS } from '../workload.ts'
import { ASKERS, BLOCKS_PER_REQUEST, PEERS, REQUESTS_AT_ONCE, topicsOf } from './workload.ts'
import type { MuxerName } from '../../muxers.ts'
import type { Window } from '../workload.ts'

/** How long each message of the window took from when it was due, to peers that ask for blocks and to those that do not */
export interface Gossiped {
  askersMs: Float64Array
  othersMs: Float64Array
}

const POLL_MS = 10

const peers: Participant[] = []
const deliveries: Array<{ peer: number, dueMs: number, latencyMs: number }> = []
let nodeId = ''
let failure: unknown

function fail (err: unknown): void {
  failure ??= err
}

const commands = {
  async start (muxer: MuxerName, host: string, nodeAddress: string): Promise<void> {
    const createMuxer = await muxers[muxer]()
    nodeId = nodeAddress.split('/p2p/')[1]

    for (let number = 0; number < PEERS; number++) {
      const peer = await Participant.start({
        number,
        muxers: [createMuxer],
        maxPeers: PEERS,
        host,
        topics: topicsOf(number),
        gossipBlockBytes: 0,
        logger: createErrorLog().logger,
        onAttestation: ({ publishedAtMs }) => { deliveries.push({ peer: number, dueMs: publishedAtMs, latencyMs: nowMs() - publishedAtMs }) },
        onFailure: (_, err) => { fail(err) }
      })

      await peer.dial(nodeAddress)
      peers.push(peer)
    }
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
