// Which of the streams that libp2p hands out are this package's: both of its entries tell.
import { streamPair } from '@libp2p/utils'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { isYamuxStream } from '../../src/index.ts'
import { isYamuxStream as isYamuxStreamOfLight } from '../../src/light.ts'
import { isOwn, MUXER_PAIRS } from '../../testing/muxers.ts'
import { createServingNode } from '../../testing/libp2p/serving-node.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { TestNode } from '../../testing/libp2p/serving-node.ts'
import type { Stream } from '@libp2p/interface'

const PROTOCOL = '/test/told-apart/1.0.0'

let nodes: Record<MuxerName, TestNode>
let handled: Stream[] = []

beforeAll(async () => {
  nodes = { ours: await createServingNode('ours'), light: await createServingNode('light'), stock: await createServingNode('stock') }
  await Promise.all(Object.values(nodes).map(({ libp2p }) => libp2p.handle(PROTOCOL, stream => { handled.push(stream) })))
})

afterAll(async () => {
  await Promise.all(Object.values(nodes).map(({ libp2p }) => libp2p.stop()))
})

test.each(MUXER_PAIRS.filter(({ dialler, listener }) => dialler !== listener))('newStream() and handlers return streams of the muxer of their node: $dialler dials $listener', async ({ dialler, listener }) => {
  handled = []
  const connection = await nodes[dialler].libp2p.dial(nodes[listener].libp2p.getMultiaddrs(), { force: true })
  const stream = await connection.newStream(PROTOCOL)
  await vi.waitFor(() => { expect(handled).toHaveLength(1) })

  expect(isYamuxStream(stream)).toBe(isOwn(dialler))
  expect(isYamuxStream(handled[0])).toBe(isOwn(listener))

  for (const each of [stream, ...handled]) {
    expect(isYamuxStreamOfLight(each)).toBe(isYamuxStream(each))

    if (isYamuxStream(each)) {
      each.priority = 'urgent'
      expect(each.priority).toBe('urgent')
    }
  }

  await connection.close()
})

test('streams of another copy of this package are ours too', async () => {
  const connection = await nodes.ours.libp2p.dial(nodes.stock.libp2p.getMultiaddrs(), { force: true })
  const stream = await connection.newStream(PROTOCOL)
  vi.resetModules()
  const copy = await import('../../src/index.ts')

  expect(copy.isYamuxStream).not.toBe(isYamuxStream)
  expect(copy.isYamuxStream(stream)).toBe(true)
  await connection.close()
})

test('streams with a priority of another kind are not', async () => {
  const [stream] = await streamPair()

  expect(isYamuxStream(stream)).toBe(false)
  expect(isYamuxStream(Object.assign(stream, { priority: 7 }))).toBe(false)
})
