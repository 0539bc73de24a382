// What libp2p does about networks that let nobody in, with either muxer at the two ends: autonat finds out whether an
// address can be dialled, dcutr replaces a relayed connection by a direct one.
import { autoNAT } from '@libp2p/autonat'
import { autoNATv2 } from '@libp2p/autonat-v2'
import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { dcutr } from '@libp2p/dcutr'
import { echo } from '@libp2p/echo'
import { identify } from '@libp2p/identify'
import { multiaddr } from '@multiformats/multiaddr'
import { Circuit } from '@multiformats/multiaddr-matcher'
import { pEvent } from 'p-event'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createNode } from '../../testing/libp2p/node.ts'
import { ALL_PAIRS } from '../../testing/muxers.ts'
import { pattern } from '../../testing/pattern.ts'
import { readAll, sendAndClose } from '../../testing/libp2p/streams.ts'
import { publicTcp, toPublic } from './fixtures/public-tcp.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { ConnectionGater, Libp2p, StreamCloseEvent } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

describe.each(ALL_PAIRS)('$dialler that dials $listener', names => {
  const nodes: Libp2p[] = []

  afterEach(async () => {
    await Promise.all(nodes.splice(0).map(async node => node.stop()))
  })

  async function create (...args: Parameters<typeof createNode>): Promise<Libp2p> {
    const node = await createNode(...args)
    nodes.push(node)

    return node
  }

  test('learns by autonat 2 that it can be dialled, once it has paid for that with data', async () => {
    const services = { identify: identify(), autonat: autoNATv2() }
    const server = await create(names.listener, { transports: [publicTcp(false)], services })
    const client = await create(names.dialler, { transports: [publicTcp(true)], services })
    expect(client.getMultiaddrs()).toEqual([])
    // dialled back from another address than that of the connection: it has to send 30 to 100 kB first
    await client.dial(server.getMultiaddrs())

    await vi.waitFor(() => {
      expect(client.getMultiaddrs().map(String)).toEqual([expect.stringMatching(/^\/ip4\/8\.0\.0\.1\/tcp\/\d+\/p2p\//)])
      // the one that was dialled back is closed behind that
      expect(client.getConnections().map(({ status }) => status)).toEqual(['open'])
    }, { timeout: 5_000 })
  })

  test('is refused by autonat 1 what has another address than the connection', async () => {
    const server = await create(names.listener, { transports: [publicTcp(false)], services: { identify: identify(), autonat: autoNAT() } })
    const client = await create(names.dialler, { services: { identify: identify() } })
    const connection = await client.dial(server.getMultiaddrs())
    const stream = await connection.newStream('/libp2p/autonat/1.0.0')
    const [answer] = await Promise.all([readAll(stream), sendAndClose(stream, [dialRequest(client)])])

    expect(new TextDecoder().decode(answer)).toContain('no dialable addresses')
  })

  describe('replaces a relayed connection by a direct one', () => {
    let relay: Libp2p

    async function createEnd (muxer: MuxerName, listen: string[], isPublic: boolean, connectionGater: ConnectionGater = {}): Promise<Libp2p> {
      const announce = (addresses: Multiaddr[]): Multiaddr[] => addresses.map(address => Circuit.matches(address) ? address : toPublic(address))

      return create(muxer, {
        addresses: { listen: ['/ip4/127.0.0.1/tcp/0', ...listen], announceFilter: isPublic ? announce : undefined },
        transports: [publicTcp(false), circuitRelayTransport()],
        connectionGater,
        services: { identify: identify(), echo: echo(), dcutr: dcutr() }
      })
    }

    async function createTarget (isPublic: boolean, connectionGater?: ConnectionGater): Promise<Libp2p> {
      relay = await create(names.listener, { services: { identify: identify(), relay: circuitRelayServer() } })

      return createEnd(names.listener, [`${relay.getMultiaddrs()[0]}/p2p-circuit`], isPublic, connectionGater)
    }

    async function expectReplaced (dialler: Libp2p, target: Libp2p, direction: string): Promise<void> {
      const relayed = await dialler.dial(target.getMultiaddrs().filter(address => Circuit.matches(address)))
      expect(relayed.limits).toBeDefined()
      const closed = pEvent<'close', StreamCloseEvent>(relayed, 'close')

      await vi.waitFor(() => {
        expect([dialler, target].map(node => node.getConnections().filter(({ remotePeer }) => !remotePeer.equals(relay.peerId)).map(({ direct }) => direct))).toEqual([[true], [true]])
      }, { timeout: 10_000 })
      expect((await closed).error).toBeUndefined()
      expect(relayed.status).toBe('closed')

      const [connection] = dialler.getConnections(target.peerId)
      expect(connection).toMatchObject({ direction, direct: true, limits: undefined, multiplexer: '/yamux/1.0.0' })
      const payload = pattern(100_000, 1)
      const stream = await connection.newStream('/echo/1.0.0')
      const [echoed] = await Promise.all([readAll(stream), sendAndClose(stream, [payload])])
      expect(Buffer.compare(echoed, payload)).toBe(0)
    }

    test('that the target opens, where the dialler can be reached', async () => {
      const target = await createTarget(false)

      await expectReplaced(await createEnd(names.dialler, [], true), target, 'inbound')
    })

    test('that the dialler opens at a sign of the target, where that cannot', async () => {
      const target = await createTarget(true, { denyDialPeer: async peerId => !peerId.equals(relay.peerId) })

      await expectReplaced(await createEnd(names.dialler, [], true), target, 'outbound')
    })
  })
})

/** A message of autonat 1 behind its length: `{ type: DIAL, dial: { peer: { id, addrs: [addr] } } }`, all of it short */
function dialRequest (node: Libp2p): Uint8Array {
  const field = (tag: number, bytes: Iterable<number>): number[] => [tag << 3 | 2, [...bytes].length, ...bytes]
  const address = multiaddr('/ip4/8.0.0.2/tcp/1').bytes
  const peer = [...field(1, node.peerId.toMultihash().bytes), ...field(2, address)]
  const message = [1 << 3, 0, ...field(2, field(1, peer))]

  return Uint8Array.from([message.length, ...message])
}
