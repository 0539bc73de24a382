// docs/examples/pushable: a slow reader in a process, and a writer in another one, or in Chromium.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MAX_QUEUED_BYTES, Outbox } from '../../docs/examples/pushable/outbox.ts'
import { Site } from './fixtures/site.ts'
import { startExample, startWaiting } from './fixtures/terminal.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import { closeOf } from '../../testing/libp2p/streams.ts'
import type { Terminal } from './fixtures/terminal.ts'
import type { Libp2p, Stream } from '@libp2p/interface'

const RESULT = /^8192 KiB came back in order\. On their way at most: (\d+) KiB, (\d+) KiB of them in the queue\.$/m
/** One message more than it asks for */
const QUEUE_KIB = MAX_QUEUED_BYTES / 1024 + 16
/** Both queues, what streams hold at either end, and both windows. All of it would be 8,192. */
const ON_THE_WAY_KIB = 3072

let reader: Terminal
let address: string

beforeAll(async () => {
  [reader, address] = await startWaiting('pushable/reader.ts')
})

function expectBounded ([onTheWayKiB, queuedKiB]: string[]): void {
  expect(Number(queuedKiB)).toBeGreaterThan(0)
  expect(Number(queuedKiB)).toBeLessThanOrEqual(QUEUE_KIB)
  expect(Number(onTheWayKiB)).toBeLessThanOrEqual(ON_THE_WAY_KIB)
}

test('a slow reader holds the writer back', async () => {
  const writer = startExample('pushable/writer.ts', address)

  expectBounded(await writer.shows(RESULT))
  expect(await writer.exitCode).toBe(0)
  await reader.shows(/^All is sent back$/m)
})

describe('in a page', () => {
  let site: Site

  beforeAll(async () => { site = await Site.serve('pushable') })

  afterAll(async () => { await site?.close() })

  test('a slow reader holds the writer back', async () => {
    const [link] = await reader.shows(/^A page: +(\S+)$/m)
    const page = await site.open(link)

    const result = page.getByText('came back')
    await result.waitFor()
    expectBounded(RESULT.exec(await result.innerText())?.slice(1) ?? [])
  })
})

describe('a peer that goes away in the middle', () => {
  test('is an error of the writer', async () => {
    const [reader, address] = await startWaiting('pushable/reader.ts')
    const writer = startExample('pushable/writer.ts', address)
    await reader.shows(/^Somebody writes$/m)
    await reader.kill()

    await writer.shows(/^Not all came back: /m)
    expect(await writer.exitCode).toBe(1)
  })

  test('is an error of the reader', async () => {
    const [reader, address] = await startWaiting('pushable/reader.ts')
    const writer = startExample('pushable/writer.ts', address)
    await reader.shows(/^Somebody writes$/m)
    await writer.kill()

    await reader.shows(/^Not all is sent back: /m)
  })
})

describe('an outbox whose stream the peer resets', () => {
  let peer: Libp2p
  let node: Libp2p

  beforeAll(async () => { [peer, node] = await Promise.all([createNode(), createNode()]) })

  afterAll(async () => { await Promise.all([peer?.stop(), node?.stop()]) })

  /** And what resets it */
  async function open (protocol: string): Promise<{ outbox: Outbox, reset: () => Promise<void> }> {
    const { promise: accepted, resolve } = Promise.withResolvers<Stream>()
    await peer.handle(protocol, resolve)
    const stream = await node.dialProtocol(peer.getMultiaddrs(), protocol)
    const closed = closeOf(stream)

    return {
      outbox: new Outbox(stream),
      reset: async () => {
        (await accepted).abort(new Error('enough'))
        await closed
      }
    }
  }

  test('rejects for whoever waits for room in it, and for who comes later', async () => {
    const { outbox, reset } = await open('/unread/1')
    // more than the stream and the window hold
    const pushes = Promise.allSettled(Array.from({ length: 100 }, async () => outbox.push(new Uint8Array(16_384))))
    await reset()

    expect((await pushes).at(-1)).toMatchObject({ status: 'rejected', reason: { name: 'StreamResetError' } })
    await expect(outbox.push(new Uint8Array(1))).rejects.toThrow('reset')
    await expect(outbox.end()).rejects.toThrow('reset')
  })

  test('does not end well, even if all was sent before', async () => {
    const { outbox, reset } = await open('/idle/1')
    await outbox.push(new Uint8Array(1))
    await reset()

    await expect(outbox.end()).rejects.toThrow('reset')
  })
})
