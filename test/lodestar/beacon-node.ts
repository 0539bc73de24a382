// A child process: the beacon node whose muxer is under test, with metrics and a log to look at.
import { peerIdFromString } from '@libp2p/peer-id'
import { mplex } from '@libp2p/mplex'
import { Registry } from 'prom-client'
import { answer } from '../../testing/programs/child.ts'
import { yamux } from '../../src/index.ts'
import { ATTESTATION_BYTES, BEACON_ATTESTATION_INTERVAL_MS, GOSSIP_BLOCK_BYTES, PEERS, RANGE_BLOCKS, RANGE_INTERVAL_MS, SLOT_MS } from './plan.ts'
import { collectFailures, createErrorLog } from '../../testing/lodestar/log.ts'
import { Participant } from '../../testing/lodestar/participant.ts'
import type { Counts } from '../../testing/lodestar/participant.ts'

export const BEACON_NUMBER = 0xffff
const SCRAPE_INTERVAL_MS = 1000
/** Lodestar's own limit is as much above its target */
const MAX_PEERS = PEERS * 2
/** As Lodestar sets it, where peers are served that know no yamux */
const MPLEX_NEW_STREAMS_PER_SECOND = 50

export interface BeaconReport {
  counts: Counts
  /** Everything that went wrong */
  failures: string[]
  logErrors: string[]
  openStreams: string[]
  /** How many connections use which muxer */
  multiplexers: Map<string, number>
  scrapes: number
  /** The values of this muxer's metrics, by name and labels */
  metrics: Map<string, number>
}

const registry = new Registry()
const { errors: logErrors, logger } = createErrorLog()
const { failures, onFailure } = collectFailures()
let beacon: Participant
let scrapes = 0
let lastSlot = 0

async function scrape (): Promise<Map<string, number>> {
  const text = await registry.metrics()
  scrapes++

  return new Map(text.split('\n')
    .filter(line => line.startsWith('libp2p_coalescing_yamux_'))
    .map(line => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }))
}

/** From one peer after the other; a peer that leaves meanwhile may fail to answer */
async function requestFromNext (): Promise<void> {
  const peers = beacon.node.getPeers()
  const startSlot = lastSlot
  lastSlot += RANGE_BLOCKS

  if (peers.length > 0) {
    const peer = peers[startSlot / RANGE_BLOCKS % peers.length].toString()

    await beacon.requestBlocks(peer, startSlot, RANGE_BLOCKS).catch(err => {
      if (beacon.hasPeer(peer)) {
        throw err
      }
    })
  }
}

const commands = {
  async start (): Promise<string> {
    beacon = await Participant.start({
      number: BEACON_NUMBER,
      muxers: [yamux(), mplex({ disconnectThreshold: MPLEX_NEW_STREAMS_PER_SECOND })],
      maxPeers: MAX_PEERS,
      gossipBlockBytes: GOSSIP_BLOCK_BYTES,
      registry,
      logger,
      onFailure
    })

    return beacon.address
  },

  async dial (address: string): Promise<void> {
    await beacon.dial(address)
  },

  begin (): void {
    beacon.every(BEACON_ATTESTATION_INTERVAL_MS, 'attest', async () => beacon.attest(ATTESTATION_BYTES))
    beacon.every(SLOT_MS, 'block', async () => beacon.gossipBlock())
    beacon.every(RANGE_INTERVAL_MS, 'blocks by range', requestFromNext)
    beacon.every(SCRAPE_INTERVAL_MS, 'scrape', async () => { await scrape() })
  },

  async hangUp (peer: string): Promise<void> {
    await beacon.node.hangUp(peerIdFromString(peer))
  },

  async settle (): Promise<void> {
    await beacon.settle()
  },

  async report (): Promise<BeaconReport> {
    const multiplexers = new Map<string, number>()

    for (const { multiplexer = 'none' } of beacon.node.getConnections()) {
      multiplexers.set(multiplexer, (multiplexers.get(multiplexer) ?? 0) + 1)
    }

    return { counts: beacon.counts, failures, logErrors, openStreams: beacon.openStreams(), multiplexers, scrapes, metrics: await scrape() }
  },

  async stop (): Promise<void> {
    await beacon.stop()
  }
}

export type BeaconCommands = typeof commands

answer(commands)
