// One node of the network and what it does all the time: gossips, asks for blocks and answers, keeps count.
import { setTimeout as sleep } from 'node:timers/promises'
import { peerIdFromString } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { nowMs } from '../programs/clock.ts'
import { createMessage, readMessage } from './gossip-message.ts'
import { blocksOf, checkBlock, createBlock, encodeRange } from './blocks.ts'
import { ATTESTATION_TOPICS, BLOCK_TOPIC, startGossip, TOPICS } from './gossip.ts'
import { createNode } from './node.ts'
import { request, serve } from './req-resp.ts'
import type { Stamp } from './gossip-message.ts'
import type { Gossip } from './gossip.ts'
import type { LodestarLibp2p, NodeInit } from './node.ts'
import type { Connection } from '@libp2p/interface'

/** What it has done, and what has come of it */
export interface Counts {
  attestationsSent: number
  /** By the number of who published them */
  attestationsFrom: Map<number, number>
  blocksGossiped: number
  blocksReceived: number
  requests: number
  blocksRequested: number
}

export interface ParticipantInit extends NodeInit {
  number: number
  gossipBlockBytes: number
  /** That it subscribes to; all of them by default */
  topics?: string[]
  onAttestation? (stamp: Stamp): void
  /** What must not happen */
  onFailure (what: string, err: unknown): void
}

const STATUS_BYTES = 84
const GOODBYE = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0)

async function * echo (bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export class Participant {
  readonly node: LodestarLibp2p
  readonly counts: Counts = { attestationsSent: 0, attestationsFrom: new Map(), blocksGossiped: 0, blocksReceived: 0, requests: 0, blocksRequested: 0 }
  readonly #init: ParticipantInit
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #inFlight = new Set<Promise<unknown>>()
  #pubsub!: Gossip

  static async start (init: ParticipantInit): Promise<Participant> {
    const participant = new Participant(init, await createNode(init))
    await participant.#start()

    return participant
  }

  private constructor (init: ParticipantInit, node: LodestarLibp2p) {
    this.#init = init
    this.node = node
  }

  get address (): string {
    return this.node.getMultiaddrs()[0].toString()
  }

  /** Whether the connection is still there: what fails on one that is gone is no failure */
  hasPeer (peer: string): boolean {
    return this.node.getConnections(peerIdFromString(peer)).some(({ status }) => status === 'open')
  }

  /** Who dials says how far along its chain is */
  async dial (address: string): Promise<void> {
    const { remotePeer } = await this.node.dial(multiaddr(address))
    await request(this.node, remotePeer, 'status/1', new Uint8Array(STATUS_BYTES))
  }

  every (intervalMs: number, what: string, task: () => Promise<void> | undefined, firstMs = intervalMs): void {
    this.#timers.add(setTimeout(() => {
      this.#track(what, task())
      this.#timers.add(setInterval(() => { this.#track(what, task()) }, intervalMs))
    }, firstMs))
  }

  /** `dueMs` is when it says that it was published */
  async attest (byteLength: number, dueMs = nowMs()): Promise<void> {
    const { number } = this.#init
    const topic = ATTESTATION_TOPICS[this.counts.attestationsSent++ % ATTESTATION_TOPICS.length]

    await this.#pubsub.publish(topic, createMessage({ host: number, publishedAtMs: dueMs }, byteLength))
  }

  async gossipBlock (): Promise<void> {
    const block = createBlock(this.counts.blocksGossiped++, this.#init.gossipBlockBytes)
    await this.#pubsub.publish(BLOCK_TOPIC, block)
  }

  /** Of each peer that it is connected with */
  scores (): number[] {
    return this.node.getPeers().map(peer => this.#pubsub.getScore(peer.toString()))
  }

  meshPeers (topic: string): number {
    return this.#pubsub.getMeshPeers(topic).length
  }

  /** `onBytes` hears of what comes before it is checked */
  async requestBlocks (peer: string, startSlot: number, count: number, onBytes?: (byteLength: number) => void): Promise<void> {
    const blocks = await request(this.node, peerIdFromString(peer), 'beacon_blocks_by_range/2', encodeRange({ startSlot, count }), onBytes)

    if (blocks.length !== count) {
      throw new Error(`${blocks.length} blocks came, ${count} were asked for`)
    }

    blocks.forEach((block, index) => { checkBlock(block, startSlot + index) })
    this.counts.requests++
    this.counts.blocksRequested += count
  }

  async sayGoodbye (peer: string): Promise<void> {
    await request(this.node, peerIdFromString(peer), 'goodbye/1', GOODBYE)
  }

  /** Begins nothing new, and waits for what is in flight */
  async settle (): Promise<void> {
    this.#timers.forEach(timer => { clearInterval(timer) })
    this.#timers.clear()
    await Promise.all(this.#inFlight)
  }

  async stop (): Promise<void> {
    await this.settle()
    await this.#pubsub.stop()
    await this.node.stop()
  }

  /** The protocols of all streams that are open, each as often as there are */
  openStreams (): string[] {
    return this.node.getConnections().flatMap(({ streams }) => streams.map(({ protocol, direction }) => `${direction} ${protocol}`))
  }

  async #start (): Promise<void> {
    const { onFailure, topics = TOPICS } = this.#init

    for (const method of ['status/1', 'ping/1', 'goodbye/1'] as const) {
      await serve(this.node, method, echo, err => { onFailure(method, err) })
    }

    await serve(this.node, 'beacon_blocks_by_range/2', blocksOf, err => { onFailure('answer of blocks', err) })
    this.node.addEventListener('connection:open', ({ detail }) => { this.#track('identify', this.#identify(detail)) })
    this.#pubsub = await startGossip(this.node, {
      topics,
      onMessage: (topic, data) => {
        try {
          this.#onMessage(topic, data)
        } catch (err) {
          onFailure('gossip', err)
        }
      }
    })
  }

  #onMessage (topic: string, data: Uint8Array): void {
    if (topic === BLOCK_TOPIC) {
      checkBlock(data, new DataView(data.buffer, data.byteOffset).getUint32(0, true), this.#init.gossipBlockBytes)
      this.counts.blocksReceived++
    } else {
      const stamp = readMessage(data)
      const { attestationsFrom } = this.counts
      attestationsFrom.set(stamp.host, (attestationsFrom.get(stamp.host) ?? 0) + 1)
      this.#init.onAttestation?.(stamp)
    }
  }

  async #identify (connection: Connection): Promise<void> {
    // as Lodestar does, for who has dialled us to speak first
    await sleep(100)

    if (connection.status === 'open') {
      await this.node.services.identify.identify(connection).catch(err => {
        if (connection.status === 'open') {
          throw err
        }
      })
    }
  }

  #track (what: string, task: Promise<void> | undefined): void {
    if (task == null) {
      return
    }

    const tracked = task
      .catch(err => { this.#init.onFailure(what, err) })
      .finally(() => { this.#inFlight.delete(tracked) })

    this.#inFlight.add(tracked)
  }
}
