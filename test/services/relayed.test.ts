// Two nodes that reach each other through a circuit relay, up to the limits that the relay sets, with either muxer at each
// of the three. A relayed connection is a stream of the relay's connections, with a muxer of its own in it.
import { circuitRelayServer, circuitRelayTransport, RELAY_V2_HOP_CODEC, RELAY_V2_STOP_CODEC } from '@libp2p/circuit-relay-v2'
import { echo } from '@libp2p/echo'
import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { pEvent } from 'p-event'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createNode } from '../../testing/libp2p/node.ts'
import { pattern, patternPieces } from '../../testing/pattern.ts'
import { readAll, sendAll, sendAndClose } from '../../testing/libp2p/streams.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { ServerReservationStoreInit } from '@libp2p/circuit-relay-v2'
import type { Connection, Libp2p, Stream, StreamCloseEvent } from '@libp2p/interface'

const MEBIBYTE = 2 ** 20
/** Long enough to get there and open a stream, also when others use the machine: with 600 a busy one was too slow once */
const DURATION_MS = 2000
const LIMITED = { runOnLimitedConnection: true }
const SINK = '/sink/1.0.0'

/** The first is the reference: what stock makes of it */
const TRIPLES: Array<{ dialler: MuxerName, relay: MuxerName, target: MuxerName }> = [
  { dialler: 'stock', relay: 'stock', target: 'stock' },
  { dialler: 'ours', relay: 'ours', target: 'ours' },
  { dialler: 'ours', relay: 'stock', target: 'ours' },
  { dialler: 'stock', relay: 'ours', target: 'stock' },
  { dialler: 'ours', relay: 'ours', target: 'stock' },
  { dialler: 'stock', relay: 'ours', target: 'ours' },
  { dialler: 'light', relay: 'ours', target: 'light' },
  { dialler: 'stock', relay: 'light', target: 'ours' }
]

const RESERVATIONS = {
  unlimited: { applyDefaultLimit: false },
  ofData: { defaultDataLimit: BigInt(MEBIBYTE) },
  ofDuration: { defaultDurationLimit: DURATION_MS }
} satisfies Record<string, ServerReservationStoreInit>

type RelayName = keyof typeof RESERVATIONS

async function createRelay (muxer: MuxerName, reservations: ServerReservationStoreInit): Promise<Libp2p> {
  return createNode(muxer, { services: { identify: identify(), relay: circuitRelayServer({ reservations }) } })
}

async function createEnd (muxer: MuxerName, relays: Libp2p[]) {
  return createNode(muxer, {
    addresses: { listen: relays.map(relay => `${relay.getMultiaddrs()[0]}/p2p-circuit`) },
    // one by one, listening on several never ends
    transports: [tcp(), circuitRelayTransport({ reservationConcurrency: Math.max(1, relays.length) })],
    services: { identify: identify(), ping: ping(LIMITED), echo: echo(LIMITED) }
  })
}

async function closesOf (all: Array<Connection | Stream>): Promise<StreamCloseEvent[]> {
  return Promise.all(all.map(async one => pEvent<'close', StreamCloseEvent>(one, 'close')))
}

describe.each(TRIPLES)('$dialler that reaches $target through $relay', names => {
  let dialler: Awaited<ReturnType<typeof createEnd>>
  let target: Awaited<ReturnType<typeof createEnd>>
  let relays: Record<RelayName, Libp2p>
  let accepted: PromiseWithResolvers<Stream>

  beforeAll(async () => {
    const kinds = Object.keys(RESERVATIONS) as RelayName[]
    const created = await Promise.all(kinds.map(async name => createRelay(names.relay, RESERVATIONS[name])))
    relays = Object.fromEntries(kinds.map((name, i) => [name, created[i]])) as Record<RelayName, Libp2p>
    dialler = await createEnd(names.dialler, [])
    target = await createEnd(names.target, created)
    await target.handle(SINK, stream => { accepted.resolve(stream) }, LIMITED)
  })

  afterAll(async () => {
    await Promise.all([dialler, target, ...Object.values(relays ?? {})].map(async node => node?.stop()))
  })

  /** The relayed connection, as the dialler and as the target have it */
  async function reach (name: RelayName): Promise<[Connection, Connection]> {
    const relay = relays[name].peerId.toString()
    const address = target.getMultiaddrs().find(address => address.toString().includes(relay))
    expect(address).toBeDefined()
    const connection = await dialler.dial(address!)
    const remote = await vi.waitFor(() => {
      const [found] = target.getConnections(dialler.peerId)
      expect(found).toBeDefined()

      return found
    })

    return [connection, remote]
  }

  async function openSink (connection: Connection): Promise<[Stream, Stream]> {
    accepted = Promise.withResolvers<Stream>()
    const opened = await connection.newStream(SINK, LIMITED)

    return [opened, await accepted.promise]
  }

  /** On this very connection: by the id of the peer libp2p looks for a connection without limits first */
  async function echoes (connection: Connection, byteLength: number): Promise<boolean> {
    const payload = pattern(byteLength, 1)
    const stream = await connection.newStream(dialler.services.echo.protocol, LIMITED)
    const [echoed] = await Promise.all([readAll(stream), sendAndClose(stream, [payload])])

    return Buffer.compare(echoed, payload) === 0
  }

  /** What a relay leaves behind when it has cut a relayed connection */
  async function expectNothingLeft (name: RelayName): Promise<void> {
    const hops = [RELAY_V2_HOP_CODEC, RELAY_V2_STOP_CODEC]

    await vi.waitFor(() => {
      expect({
        ofDialler: dialler.getConnections(target.peerId).map(({ status }) => status),
        ofTarget: target.getConnections(dialler.peerId).map(({ status }) => status),
        ofRelay: relays[name].getConnections().map(({ status, streams }) => [status, streams.filter(({ protocol }) => hops.includes(protocol)).length])
      }).toEqual({ ofDialler: [], ofTarget: [], ofRelay: [['open', 0], ['open', 0]] })
    }, { timeout: 5_000 })
  }

  test('pings, and gets 3 MiB back from an echo', async () => {
    const [connection] = await reach('unlimited')

    expect(connection).toMatchObject({ multiplexer: '/yamux/1.0.0', direct: false, limits: undefined })
    expect(await dialler.services.ping.ping(target.peerId)).toBeGreaterThanOrEqual(0)
    expect(await echoes(connection, 3 * MEBIBYTE)).toBe(true)
    await connection.close()
    await expectNothingLeft('unlimited')
  })

  test('is cut off at the limit of data, with the beginning of what was sent, and may come again', async () => {
    const [connection, remote] = await reach('ofData')
    expect(connection.limits?.bytes).toBeGreaterThan(0n)
    expect(await echoes(connection, 1_000)).toBe(true)

    const [opened, sink] = await openSink(connection)
    const received: Uint8Array[] = []
    sink.addEventListener('message', ({ data }) => { received.push(data.subarray()) })
    const closes = closesOf([connection, remote, opened, sink])
    const writing = sendAll(opened, patternPieces(64 * MEBIBYTE, 2))

    await expect(writing).rejects.toThrow()
    const errors = (await closes).map(({ error }) => error?.name)
    expect(errors.slice(0, 2)).toEqual(['StreamResetError', 'StreamResetError'])
    expect([connection, remote].map(({ status }) => status)).toEqual(['aborted', 'aborted'])
    expect([opened.status, sink.status]).not.toContain('open')
    const bytes = Buffer.concat(received)
    expect(bytes.byteLength).toBeGreaterThan(0)
    expect(bytes.byteLength).toBeLessThan(MEBIBYTE)
    expect(Buffer.compare(bytes, pattern(bytes.byteLength, 2))).toBe(0)

    await expectNothingLeft('ofData')
    const [again] = await reach('ofData')
    expect(await echoes(again, 1_000)).toBe(true)
    await dialler.hangUp(target.peerId)
  })

  test('is cut off at the limit of time, and may come again', async () => {
    const [connection, remote] = await reach('ofDuration')
    const [opened, sink] = await openSink(connection)
    const closes = closesOf([connection, remote, opened, sink])
    opened.send(pattern(10, 3))
    const errors = (await closes).map(({ error }) => error?.name)

    expect(errors.slice(0, 2)).toEqual(['StreamResetError', 'StreamResetError'])
    expect([connection, remote].map(({ status }) => status)).toEqual(['aborted', 'aborted'])
    expect([opened.status, sink.status]).not.toContain('open')
    await expectNothingLeft('ofDuration')
    const [again] = await reach('ofDuration')
    expect(again.status).toBe('open')
    await dialler.hangUp(target.peerId)
  })
})
