// Gossipsub as Lodestar makes it: unsigned messages in snappy blocks, validated by the application, made once for all peers.
import { createHash } from 'node:crypto'
import { gossipsub, StrictNoSign, TopicValidatorResult } from '@libp2p/gossipsub'
import { createTopicScoreParams } from '@libp2p/gossipsub/score'
import { compressSync, uncompressSync } from 'snappy'
import type { LodestarLibp2p } from './node.ts'
import type { GossipSub } from '@libp2p/gossipsub'
import type { Startable } from '@libp2p/interface'

const MESSAGE_DOMAIN_VALID_SNAPPY = Uint8Array.of(1, 0, 0, 0)
const ID_BYTES = 20
const SLOT_MS = 12_000
const SLOTS_PER_EPOCH = 32

const prefix = '/eth2/afcaaba0'
export const BLOCK_TOPIC = `${prefix}/beacon_block/ssz_snappy`
export const ATTESTATION_TOPICS = [0, 1, 2, 3].map(subnet => `${prefix}/beacon_attestation_${subnet}/ssz_snappy`)
export const TOPICS = [BLOCK_TOPIC, ...ATTESTATION_TOPICS]

/** Lodestar makes and starts it itself, reports what it thinks of messages and looks at meshes, which the type of the service leaves out */
export type Gossip = GossipSub & Startable & {
  getScore (peer: string): number
  reportMessageValidationResult (messageId: string, source: string, result: TopicValidatorResult): void
  getMeshPeers (topic: string): string[]
}

export interface GossipInit {
  topics: string[]
  onMessage (topic: string, data: Uint8Array): void
}

/** Who stays in the mesh, and is the first to bring messages, is worth more */
const scoreOfSubnet = createTopicScoreParams({
  topicWeight: 0.25,
  timeInMeshWeight: 0.033,
  timeInMeshQuantum: SLOT_MS,
  timeInMeshCap: 300,
  firstMessageDeliveriesWeight: 1,
  firstMessageDeliveriesDecay: 0.97,
  firstMessageDeliveriesCap: 40,
  meshMessageDeliveriesWeight: 0,
  meshFailurePenaltyWeight: 0,
  invalidMessageDeliveriesWeight: -100,
  invalidMessageDeliveriesDecay: 0.9
})

function messageId ({ topic, data }: { topic: string, data: Uint8Array }): Uint8Array {
  const topicBytes = Buffer.from(topic)
  const topicLength = Buffer.alloc(8)

  topicLength.writeBigUInt64LE(BigInt(topicBytes.byteLength))

  return createHash('sha256').update(MESSAGE_DOMAIN_VALID_SNAPPY).update(topicLength).update(topicBytes).update(data).digest().subarray(0, ID_BYTES)
}

export async function startGossip (node: LodestarLibp2p, { topics, onMessage }: GossipInit): Promise<Gossip> {
  const pubsub = gossipsub({
    globalSignaturePolicy: StrictNoSign,
    allowPublishToZeroTopicPeers: true,
    D: 8,
    Dlo: 6,
    Dhi: 12,
    Dlazy: 6,
    heartbeatInterval: 700,
    fanoutTTL: 60_000,
    mcacheLength: 6,
    mcacheGossip: 3,
    seenTTL: SLOT_MS * SLOTS_PER_EPOCH * 2,
    gossipsubIWantFollowupMs: 12_000,
    msgIdFn: messageId,
    msgIdToStrFn: id => Buffer.from(id).toString('hex'),
    dataTransform: {
      inboundTransform: (_, data) => uncompressSync(data) as Buffer,
      outboundTransform: (_, data) => compressSync(data)
    },
    asyncValidation: true,
    maxOutboundBufferSize: 2 ** 24,
    batchPublish: true,
    floodPublish: false,
    idontwantMinDataSize: 16_829,
    scoreParams: {
      // not Lodestar's: here all peers have one address
      IPColocationFactorWeight: 0,
      topics: Object.fromEntries(ATTESTATION_TOPICS.map(topic => [topic, scoreOfSubnet]))
    }
  })(node.services.components) as Gossip

  pubsub.addEventListener('gossipsub:message', ({ detail: { msg, msgId, propagationSource } }) => {
    onMessage(msg.topic, msg.data)
    pubsub.reportMessageValidationResult(msgId, propagationSource.toString(), TopicValidatorResult.Accept)
  })
  await pubsub.start()

  for (const topic of topics) {
    pubsub.subscribe(topic)
  }

  return pubsub
}
