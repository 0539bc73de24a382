// Requests and their answers as Lodestar makes them, a stream each.
import { multiaddr } from '@multiformats/multiaddr'
import { blocksOf, checkBlock, encodeRange } from '../../testing/lodestar/blocks.ts'
import { request, serve } from '../../testing/lodestar/req-resp.ts'
import { createMuxer } from '../pair/endpoints/muxer.ts'
import { transportInit } from '../pair/endpoints/transport-init.ts'
import { createNodeWith, manyConnections } from '../node.ts'
import { bytesAt } from '../../testing/verified/pattern.ts'
import { timeEach } from './application.ts'
import type { EndInit, StartEnd } from './application.ts'
import type { Connection, PeerId } from '@libp2p/interface'
import type { Libp2p } from 'libp2p'

/** One request, and the check of its answer */
type Ask = (node: Libp2p, peer: PeerId, index: number) => Promise<void>

interface Load {
  requests (isShort: boolean): number
  atOnce: number
  ask: Ask
}

const STATUS_BYTES = 84
const BLOCKS = 10

async function createNode ({ muxer, transport }: EndInit): Promise<Libp2p> {
  return createNodeWith(await createMuxer(muxer), { ...await transportInit(muxer, transport), ...manyConnections })
}

async function * echo (bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function startServer (init: EndInit): ReturnType<StartEnd> {
  const node = await createNode(init)
  let failure: unknown
  const fail = (err: unknown): void => { failure ??= err }

  await serve(node, 'status/1', echo, fail)
  await serve(node, 'beacon_blocks_by_range/2', blocksOf, fail)

  return {
    addresses: node.getMultiaddrs().map(String),
    work: async () => ({
      check () {
        if (failure != null) {
          throw failure
        }
      }
    })
  }
}

function createEnds ({ requests, atOnce, ask }: Load): StartEnd[] {
  return [startServer, async init => {
    const node = await createNode(init)
    let connection: Connection

    return {
      addresses: [],
      async connect ([server]) { connection = await node.dial(server.map(address => multiaddr(address))) },
      work: async () => ({
        latenciesMs: await timeEach(Array(requests(init.isShort)).keys(), atOnce, async index => ask(node, connection.remotePeer, index))
      })
    }
  }]
}

export const statuses = createEnds({
  // with 3,000 the full collections of one muxer fell into what is measured, and those of others into what warms up
  requests: isShort => isShort ? 200 : 12_000,
  atOnce: 8,
  async ask (node, peer, index) {
    const status = bytesAt(index, STATUS_BYTES)
    const answers = await request(node, peer, 'status/1', status)

    if (answers.length !== 1 || Buffer.compare(answers[0], status) !== 0) {
      throw new Error(`Request ${index} has ${answers.length} answers, and not the one that it should have`)
    }
  }
})

/** 2.5 MB each, in chunks of 64 KiB to 1 MiB before they are compressed */
export const blocks = createEnds({
  requests: isShort => isShort ? 4 : 40,
  atOnce: 2,
  async ask (node, peer) {
    const answers = await request(node, peer, 'beacon_blocks_by_range/2', encodeRange({ startSlot: 0, count: BLOCKS }))

    if (answers.length !== BLOCKS) {
      throw new Error(`${answers.length} blocks came, ${BLOCKS} were asked for`)
    }

    answers.forEach((block, slot) => { checkBlock(block, slot) })
  }
})
