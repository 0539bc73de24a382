// What libp2p's services make of either muxer at the two ends: echo, ping, identify, fetch and perf.
import { echo } from '@libp2p/echo'
import { fetch } from '@libp2p/fetch'
import { identify, identifyPush } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { pEvent } from 'p-event'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createNode } from '../../testing/libp2p/node.ts'
import { ALL_PAIRS } from '../../testing/muxers.ts'
import { pattern } from '../../testing/pattern.ts'
import { measure, servePerf } from './fixtures/perf.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { Connection, IdentifyResult } from '@libp2p/interface'

const MEBIBYTE = 2 ** 20

/** What identify tells of a node that has all of these services */
const PROTOCOLS = ['/echo/1.0.0', '/ipfs/id/1.0.0', '/ipfs/id/push/1.0.0', '/ipfs/ping/1.0.0', '/libp2p/fetch/0.0.1', '/perf/1.0.0']

async function createWithAll (muxer: MuxerName) {
  const node = await createNode(muxer, {
    services: { echo: echo(), fetch: fetch(), identify: identify(), identifyPush: identifyPush({ debounce: 10 }), ping: ping() }
  })
  await servePerf(node)

  return node
}

type Node = Awaited<ReturnType<typeof createWithAll>>

describe.each(ALL_PAIRS)('$dialler that dials $listener', names => {
  let dialler: Node
  let listener: Node
  let connection: Connection
  let identified: IdentifyResult[]

  beforeAll(async () => {
    [dialler, listener] = await Promise.all([createWithAll(names.dialler), createWithAll(names.listener)])
    const identifying = Promise.all([dialler, listener].map(async node => pEvent<'peer:identify', CustomEvent<IdentifyResult>>(node, 'peer:identify')))
    connection = await dialler.dial(listener.getMultiaddrs())
    identified = (await identifying).map(evt => evt.detail)
  })

  afterAll(async () => {
    await Promise.all([dialler?.stop(), listener?.stop()])
  })

  test('identifies both to each other', () => {
    for (const [identity, node] of [[identified[0], listener], [identified[1], dialler]] as const) {
      expect(identity.peerId.toString()).toBe(node.peerId.toString())
      expect([...identity.protocols].sort()).toEqual(PROTOCOLS)
      expect(identity.listenAddrs.map(address => `${address}/p2p/${node.peerId}`)).toEqual(node.getMultiaddrs().map(String))
      expect(identity.signedPeerRecord?.addresses.map(String)).toEqual(identity.listenAddrs.map(String))
    }
  })

  test('tells each other of a protocol that both speak from now on', async () => {
    const protocol = '/new/1.0.0'
    const nodes = [dialler, listener]
    await Promise.all(nodes.map(async node => node.handle(protocol, () => {})))

    await vi.waitFor(async () => {
      const known = await Promise.all([dialler.peerStore.get(listener.peerId), listener.peerStore.get(dialler.peerId)])
      expect(known.map(({ protocols }) => protocols.includes(protocol))).toEqual([true, true])
    }, { timeout: 10_000 })
  })

  test('pings in both directions, again and again', async () => {
    for (const [from, to] of [[dialler, listener], [listener, dialler]]) {
      for (let i = 0; i < 3; i++) {
        expect(await from.services.ping.ping(to.peerId)).toBeGreaterThanOrEqual(0)
      }
    }
  })

  test.each([0, 1, 1_000, MEBIBYTE, 5 * MEBIBYTE])('echoes %i bytes', async byteLength => {
    const payload = pattern(byteLength, 1)
    const echoed = await dialler.services.echo.echo(listener.peerId, payload)

    expect(Buffer.compare(echoed.subarray(), payload)).toBe(0)
  })

  test('fetches what is there, and learns what is not', async () => {
    listener.services.fetch.registerLookupFunction('/there/', async key => {
      const [, , seed, byteLength] = new TextDecoder().decode(key).split('/')

      return pattern(Number(byteLength), Number(seed))
    })
    listener.services.fetch.registerLookupFunction('/empty/', async () => undefined)

    for (const byteLength of [1, 10_000, 3 * MEBIBYTE]) {
      const value = await dialler.services.fetch.fetch(listener.peerId, `/there/7/${byteLength}`)
      expect(Buffer.compare(value ?? new Uint8Array(), pattern(byteLength, 7))).toBe(0)
    }

    expect(await dialler.services.fetch.fetch(listener.peerId, '/empty/1')).toBeUndefined()
    await expect(dialler.services.fetch.fetch(listener.peerId, '/unknown/1')).rejects.toThrow(/No lookup function/)
  })

  test.each([
    [0, 0],
    [0, 4 * MEBIBYTE],
    [4 * MEBIBYTE, 0],
    [2 * MEBIBYTE, 2 * MEBIBYTE]
  ])('gets what it asks of perf: %i bytes up, %i down', async (uploadBytes, downloadBytes) => {
    expect(await measure(connection, uploadBytes, downloadBytes)).toBe(downloadBytes)
  })

  test('keeps no stream when all is done', async () => {
    await vi.waitFor(() => {
      expect([dialler, listener].map(node => node.getConnections().map(({ streams }) => streams.length))).toEqual([[0], [0]])
    }, { timeout: 5_000 })
  })
})
