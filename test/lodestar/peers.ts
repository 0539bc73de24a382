// A child process: some of the peers of the beacon node, which come and go.
import { mplex } from '@libp2p/mplex'
import { yamux as stockYamux } from '@libp2p/yamux'
import { answer } from '../../testing/programs/child.ts'
import { yamux } from '../../src/index.ts'
import { ATTESTATION_BYTES, GOSSIP_BLOCK_BYTES, PEER_ATTESTATION_INTERVAL_MS, PEER_RANGE_INTERVAL_MS, PEERS, RANGE_BLOCKS } from './plan.ts'
import { collectFailures, createErrorLog } from '../../testing/lodestar/log.ts'
import { Participant } from '../../testing/lodestar/participant.ts'
import type { Departure, PeerMuxer } from './plan.ts'
import type { Counts } from '../../testing/lodestar/participant.ts'

export interface PeerReport {
  number: number
  counts: Counts
  openStreams: string[]
  connections: number
}

const MAX_PEERS = 10
const muxers = {
  ours: yamux(),
  stock: stockYamux(),
  mplex: mplex({ disconnectThreshold: 50 })
}
const { errors: logErrors, logger } = createErrorLog()
const { failures, onFailure } = collectFailures()
const peers = new Map<number, Participant>()
const departed: PeerReport[] = []

function find (number: number): Participant {
  const peer = peers.get(number)

  if (peer == null) {
    throw new Error(`Peer ${number} is not in this process`)
  }

  return peer
}

function reportOf (number: number, peer: Participant): PeerReport {
  return { number, counts: peer.counts, openStreams: peer.openStreams(), connections: peer.node.getConnections().length }
}

const commands = {
  async add (number: number, muxer: PeerMuxer): Promise<{ id: string, address: string }> {
    const peer = await Participant.start({
      number,
      muxers: [muxers[muxer]],
      maxPeers: MAX_PEERS,
      gossipBlockBytes: GOSSIP_BLOCK_BYTES,
      logger,
      onFailure
    })

    peers.set(number, peer)

    return { id: peer.node.peerId.toString(), address: peer.address }
  },

  async dial (number: number, address: string): Promise<void> {
    await find(number).dial(address)
  },

  begin (number: number, beacon: string): void {
    const peer = find(number)

    peer.every(PEER_ATTESTATION_INTERVAL_MS, 'attest', async () => peer.attest(ATTESTATION_BYTES))
    // spread over the interval: together they would all ask at its end, which a short run does not reach
    peer.every(PEER_RANGE_INTERVAL_MS, 'blocks by range', async () => peer.requestBlocks(beacon, number, RANGE_BLOCKS), PEER_RANGE_INTERVAL_MS * (number % PEERS) / PEERS)
  },

  async settle (number: number): Promise<void> {
    await find(number).settle()
  },

  async leave (number: number, how: Departure, beacon: string): Promise<void> {
    const peer = find(number)

    if (how === 'goodbye') {
      await peer.sayGoodbye(beacon)
    } else if (how === 'vanish') {
      peer.node.getConnections().forEach(connection => { connection.abort(new Error('This peer vanishes')) })
    }

    await peer.stop()
    departed.push(reportOf(number, peer))
    peers.delete(number)
  },

  report (): { peers: PeerReport[], departed: PeerReport[], failures: string[], logErrors: string[] } {
    return { peers: [...peers].map(([number, peer]) => reportOf(number, peer)), departed, failures, logErrors }
  },

  async stop (): Promise<void> {
    await Promise.all(peers.values().map(async peer => peer.stop()))
  }
}

export type PeersCommands = typeof commands

answer(commands)
