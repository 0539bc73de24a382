// Captures of real nodes: what one end has sent is what the other has received, from the first frame of a connection on.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { captureFrames } from '../../src/capture.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import { concat } from '../../testing/protocol/frames.ts'
import { readCapture } from '../../testing/protocol/pcapng.ts'
import type { CapturedPacket } from '../../testing/protocol/pcapng.ts'
import type { Libp2p } from '@libp2p/interface'

const PROTOCOL = '/test/capture/1.0.0'

let nodes: Libp2p[]

beforeAll(async () => {
  nodes = [await createNode('ours'), await createNode('light')]
  await Promise.all(nodes.map(node => node.handle(PROTOCOL, async stream => {
    for await (const chunk of stream) {
      stream.send(chunk)
    }

    await stream.close()
  })))
})

afterAll(async () => {
  await Promise.all(nodes.map(node => node.stop()))
})

test('a capture that has ended leaves nothing behind', () => {
  const [factory] = (nodes[0] as any).components.upgrader.getStreamMuxers().values()
  const { createStreamMuxer } = factory
  const captures = [1, 2].map(() => captureFrames(nodes[0], { write: () => {} }))
  expect(factory.createStreamMuxer).not.toBe(createStreamMuxer)
  captures.toReversed().forEach(capture => { capture.stop() })

  expect(factory.createStreamMuxer).toBe(createStreamMuxer)
})

test('both ends have the same frames, whole payloads included', async () => {
  const recordings = nodes.map(node => {
    const parts: Uint8Array[] = []
    captureFrames(node, { write: bytes => { parts.push(bytes) }, payloadBytes: Infinity })

    return parts
  })
  const [node, peer] = nodes
  const stream = await node.dialProtocol(peer.getMultiaddrs(), PROTOCOL)
  stream.send(new Uint8Array(300_000).fill(7))
  await stream.close()
  let echoedBytes = 0

  for await (const chunk of stream) {
    echoedBytes += chunk.byteLength
  }

  expect(echoedBytes).toBe(300_000)
  await node.stop()
  await vi.waitFor(() => { expect(peer.getConnections()).toEqual([]) })

  const [ours, theirs] = recordings.map(parts => readCapture(concat(...parts)))
  const bytesOf = (packets: CapturedPacket[], direction: string): Uint8Array => concat(...packets.filter(packet => packet.direction === direction).map(({ bytes }) => bytes))

  expect([ours, theirs].map(({ interfaces }) => interfaces.map(({ name }) => name))).toEqual([[peer.peerId.toString()], [node.peerId.toString()]])

  // the last frames of a connection may meet an end that reads no more
  for (const [from, to] of [[ours, theirs], [theirs, ours]]) {
    const receivedBytes = bytesOf(to.packets, 'in')
    expect(receivedBytes.byteLength).toBeGreaterThan(300_000)
    expect(receivedBytes).toEqual(bytesOf(from.packets, 'out').subarray(0, receivedBytes.byteLength))
  }

  for (const { packets } of [ours, theirs]) {
    expect(packets.map(({ unixMs }) => unixMs)).toEqual(packets.map(({ unixMs }) => unixMs).toSorted((a, b) => a - b))
    expect(Math.abs(packets[0].unixMs - Date.now())).toBeLessThan(60_000)
  }
})
