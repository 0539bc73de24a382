// Gossip from one node to another that fetches a file from it over bitswap at the same time.
import { setTimeout as sleep } from 'node:timers/promises'
import { gossipsub, StrictNoSign } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import { nowMs } from '../../../testing/programs/clock.ts'
import { createMessage, readMessage } from '../../../testing/lodestar/gossip-message.ts'
import { connect } from './connect.ts'
import { bigFileBytes } from './fetching.ts'
import { addFile, fetchFiles } from './files.ts'
import { addressesOf, createHelia } from './node.ts'
import type { Identify } from '@libp2p/identify'
import type { EndInit, StartEnd } from '../application.ts'
import type { Helia } from '../installed/helia.js'
import type { File } from './files.ts'

type PubSub = ReturnType<ReturnType<typeof gossipsub>>
type GossipingHelia = Helia<{ identify: Identify, pubsub: PubSub }>

/** What the end with the file publishes all the time, and what the other says when it has the file */
const NEWS = 'news'
const DONE = 'done'
const NEWS_BYTES = 300
const NEWS_INTERVAL_MS = 5
const DONE_BYTES = 100
/** The number of the last message */
const LAST = 65_535
const POLL_MS = 10

async function createGossipingHelia (init: EndInit): Promise<GossipingHelia> {
  return createHelia(init, { identify: identify(), pubsub: gossipsub({ globalSignaturePolicy: StrictNoSign }) })
}

async function untilSubscribed (pubsub: PubSub, topic: string): Promise<void> {
  while (pubsub.getSubscribers(topic).length === 0) {
    await sleep(POLL_MS)
  }
}

async function startServer (init: EndInit): ReturnType<StartEnd> {
  const helia = await createGossipingHelia(init)
  const { pubsub } = helia.libp2p.services
  let done = new AbortController()

  async function publish (host: number, publishedAtMs: number): Promise<void> {
    await pubsub.publish(NEWS, createMessage({ host, publishedAtMs }, NEWS_BYTES))
  }

  pubsub.subscribe(DONE)
  pubsub.addEventListener('message', () => { done.abort() })

  return {
    addresses: addressesOf(helia),

    async prepare (round) {
      done = new AbortController()
      await helia.forgetAll()
      await untilSubscribed(pubsub, NEWS)

      return addFile(helia, round, bigFileBytes(init))
    },

    async work () {
      const startMs = nowMs()

      for (let message = 0; !done.signal.aborted; message++) {
        const dueMs = startMs + message * NEWS_INTERVAL_MS
        await sleep(Math.max(0, dueMs - nowMs()))
        await publish(message, dueMs)
      }

      await publish(LAST, nowMs())

      return {}
    }
  }
}

async function startClient (init: EndInit): ReturnType<StartEnd> {
  const helia = await createGossipingHelia(init)
  const { pubsub } = helia.libp2p.services
  let news: Array<{ data: Uint8Array, atMs: number }> = []
  let onLast = (): void => {}

  pubsub.subscribe(NEWS)
  pubsub.addEventListener('message', ({ detail: { data } }) => {
    news.push({ data, atMs: nowMs() })

    if (readMessage(data).host === LAST) {
      onLast()
    }
  })

  return {
    addresses: addressesOf(helia),
    async connect ([server]) { await connect(helia, server) },

    async prepare () {
      news = []
      await helia.forgetAll()
      await untilSubscribed(pubsub, DONE)
    },

    async work ([file]) {
      const { promise: lastNews, resolve } = Promise.withResolvers<void>()
      onLast = resolve
      const { check } = await fetchFiles(helia, [file as File], 1)
      await pubsub.publish(DONE, createMessage({ host: 0, publishedAtMs: nowMs() }, DONE_BYTES))
      await lastNews
      const read = news.map(({ data, atMs }) => ({ ...readMessage(data), atMs })).filter(({ host }) => host !== LAST)

      return {
        latenciesMs: read.map(({ publishedAtMs, atMs }) => atMs - publishedAtMs),
        check () {
          check?.()

          if (new Set(read.map(({ host }) => host)).size !== Math.max(...read.map(({ host }) => host)) + 1) {
            throw new Error(`Of the messages beside the file ${read.length} came, and some are missing`)
          }
        }
      }
    }
  }
}

export const besideGossip: StartEnd[] = [startServer, startClient]
