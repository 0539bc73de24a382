// One of the hosts: a libp2p node with gossipsub that publishes on command and checks what arrives.
import { gossipsub, StrictNoSign, StrictSign } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import { multiaddr } from '@multiformats/multiaddr'
import { nowMs } from '../clock.ts'
import { createMuxer } from '../endpoints/muxer.ts'
import { transportInit } from '../endpoints/transport-init.ts'
import { createNodeWith, manyConnections } from '../node.ts'
import { createMessage, readMessage } from './message.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Publication } from './workload.ts'
import type { Libp2p } from 'libp2p'

export interface HostInit {
  host: number
  muxer: ContestantMuxer
  isSigned: boolean
  topics: string[]
  onDelivery (latencyMs: number): void
  onError (err: Error): void
}

export interface Host {
  address: string
  dial (address: string): Promise<void>
  /** The peers whose subscriptions it knows */
  peersOf (topic: string): number
  publish (publication: Publication): void
}

async function createNode (muxer: ContestantMuxer, isSigned: boolean): Promise<Libp2p<{ pubsub: ReturnType<ReturnType<typeof gossipsub>> }>> {
  return createNodeWith(await createMuxer(muxer), {
    ...await transportInit(muxer, 'tcp-noise'),
    ...manyConnections,
    services: {
      identify: identify(),
      pubsub: gossipsub({
        globalSignaturePolicy: isSigned ? StrictSign : StrictNoSign,
        // and gossipsub for one sybil
        scoreParams: { IPColocationFactorWeight: 0 }
      })
    }
  })
}

export async function startHost ({ host, muxer, isSigned, topics, onDelivery, onError }: HostInit): Promise<Host> {
  const node = await createNode(muxer, isSigned)
  const { pubsub } = node.services

  pubsub.addEventListener('message', ({ detail: { data } }) => {
    try {
      onDelivery(nowMs() - readMessage(data).publishedAtMs)
    } catch (err: any) {
      onError(err)
    }
  })

  for (const topic of topics) {
    pubsub.subscribe(topic)
  }

  return {
    address: node.getMultiaddrs()[0].toString(),

    async dial (address) {
      await node.dial(multiaddr(address))
    },

    peersOf (topic) {
      return pubsub.getSubscribers(topic).length
    },

    publish ({ topic, byteLength }) {
      pubsub.publish(topic, createMessage({ host, publishedAtMs: nowMs() }, byteLength)).catch(onError)
    }
  }
}
