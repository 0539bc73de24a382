// One of two processes is killed in the middle of its transfers: nothing in the other one may wait for ever.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { MUXER_PAIRS } from './fixtures/muxers.ts'
import { createNode } from './fixtures/node.ts'
import { open } from './fixtures/operations.ts'
import { pattern, patternBytes } from './fixtures/pattern.ts'
import { startPeer } from './fixtures/spawn.ts'
import { closeOf, drained, firstMessage, sendAll } from './fixtures/streams.ts'
import type { ProtocolName } from './fixtures/handlers.ts'
import type { TestNode } from './fixtures/node.ts'
import type { Peer } from './fixtures/spawn.ts'
import type { Stream, StreamCloseEvent } from '@libp2p/interface'

const TEST_TIMEOUT_MS = 40_000
/** Guards the test only: what is meant is "not after a timeout of somebody's" */
const SETTLE_TIMEOUT_MS = 5_000
const MEBIBYTE = 2 ** 20
/** Far more than the few milliseconds up to the kill can carry */
const ENDLESS_BYTES = 2 ** 40
const STREAMS_OF_EACH_KIND = 5

/** The outcome of every promise, `pending` for those that miss the deadline */
async function outcomes (promises: Array<Promise<unknown>>): Promise<string[]> {
  const deadline = AbortSignal.timeout(SETTLE_TIMEOUT_MS)
  const missed = new Promise<string>(resolve => {
    deadline.addEventListener('abort', () => { resolve('pending') })
  })

  return Promise.all(promises.map(async promise => Promise.race([
    promise.then(() => 'fulfilled', () => 'rejected'),
    missed
  ])))
}

/** Streams to the peer in every state in which the end of the peer may find them */
class Traffic {
  closes: Array<Promise<StreamCloseEvent>> = []
  writes: Array<Promise<unknown>> = []
  reads: Array<Promise<unknown>> = []
  drains: Array<Promise<unknown>> = []
  stuckCloses: Array<Promise<unknown>> = []
  writtenBytes: number[] = []
  readBytes: number[] = []
  readonly #node: TestNode

  constructor (node: TestNode) {
    this.#node = node
  }

  async start (): Promise<void> {
    // all are open before the first one fills the connection
    const [hash, source, stuck] = await Promise.all([
      this.#openEach('hash'), this.#openEach('source'), this.#openEach('hang'), this.#openEach('hang')
    ])

    stuck.forEach(stream => { this.#stick(stream) })
    hash.forEach((stream, index) => { this.#write(stream, index) })
    source.forEach((stream, index) => { this.#read(stream, index) })
  }

  async #openEach (protocol: ProtocolName): Promise<Stream[]> {
    return Promise.all(Array.from({ length: STREAMS_OF_EACH_KIND }, async () => {
      const stream = await open(this.#node, protocol)
      this.closes.push(closeOf(stream))

      if (protocol === 'hang') {
        await firstMessage(stream)
      }

      return stream
    }))
  }

  #write (stream: Stream, index: number): void {
    this.writtenBytes[index] = 0
    this.writes.push(sendAll(stream, pattern(index, ENDLESS_BYTES), sentBytes => { this.writtenBytes[index] += sentBytes }))
  }

  #read (stream: Stream, index: number): void {
    this.readBytes[index] = 0
    stream.send(new TextEncoder().encode(JSON.stringify({ seed: index, byteLength: ENDLESS_BYTES })))
    this.reads.push(stream.close().then(async () => {
      for await (const bytes of stream) {
        this.readBytes[index] += bytes.byteLength
      }
    }))
  }

  /** More than a window to a side that does not read: the queue stays, and whoever waits for it waits */
  #stick (stream: Stream): void {
    expect(stream.send(patternBytes(1, 3 * MEBIBYTE))).toBe(false)
    this.drains.push(drained(stream))
    this.stuckCloses.push(stream.close())
  }
}

describe.each(MUXER_PAIRS)('a node with $dialler whose peer with $listener is killed', ({ dialler, listener }) => {
  let node: TestNode | undefined
  const peers: Peer[] = []

  afterEach(async () => {
    await node?.libp2p.stop()
    await Promise.all(peers.splice(0).map(async peer => { await peer.kill() }))
  })

  test('ends all its streams, settles all that waits, and serves the next peer', async () => {
    node = await createNode(dialler)
    const [victim, next] = await Promise.all([startPeer(listener), startPeer(listener)])
    peers.push(victim, next)
    const connection = await node.libp2p.dial(victim.address)
    const traffic = new Traffic(node)

    await victim.call('hang', { streamCount: STREAMS_OF_EACH_KIND })
    await traffic.start()
    await vi.waitFor(() => {
      expect(Math.min(...traffic.writtenBytes, ...traffic.readBytes)).toBeGreaterThan(MEBIBYTE)
    }, { timeout: SETTLE_TIMEOUT_MS })
    const { closes, writes, reads, drains, stuckCloses } = traffic
    const { hangEnds } = node
    const settled = Promise.all([closes, hangEnds, writes, reads, drains, stuckCloses].map(outcomes))
    await victim.kill()
    const [closed, accepted, written, read, drainedOnes, stuck] = await settled

    expect(closed).toEqual(Array(4 * STREAMS_OF_EACH_KIND).fill('fulfilled'))
    expect(accepted).toEqual(Array(STREAMS_OF_EACH_KIND).fill('fulfilled'))
    expect(written).toEqual(Array(STREAMS_OF_EACH_KIND).fill('rejected'))
    expect([...read ?? [], ...drainedOnes ?? [], ...stuck ?? []]).not.toContain('pending')

    // stock closes its streams as if all were said, so its loops end as if complete
    if (dialler === 'ours') {
      const errors = (await Promise.all(closes)).map(evt => evt.error)
      expect(errors.filter(error => error instanceof Error)).toHaveLength(closes.length)
      expect(await Promise.all(hangEnds)).not.toContain('none')
      expect(read).toEqual(Array(STREAMS_OF_EACH_KIND).fill('rejected'))
      expect(drainedOnes).toEqual(Array(STREAMS_OF_EACH_KIND).fill('rejected'))
    }

    expect(node.libp2p.getConnections(connection.remotePeer)).toEqual([])
    expect(node.libp2p.status).toBe('started')

    await next.call('dial', { address: String(node.libp2p.getMultiaddrs()[0]) })
    expect(await next.call('echo', { streamCount: 3, byteLength: 10_000 })).toEqual({ openAtOnce: 3, matching: 3 })
  }, TEST_TIMEOUT_MS)
})
