// All that two libp2p nodes show in @libp2p/prometheus-metrics of the same work, beside what they show with stock.
import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { pEvent } from 'p-event'
import { Registry } from 'prom-client'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { createNode } from '../../testing/libp2p/node.ts'
import { closeOf } from '../../testing/libp2p/streams.ts'
import { OWN_MUXERS } from '../../testing/muxers.ts'
import { WAYS } from './fixtures/ways.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { Identify } from '@libp2p/identify'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import type { Ping } from '@libp2p/ping'

/** What is not the same by its nature, and why */
const LEFT_OUT: Array<[lines: RegExp, reason: string]> = [
  [/^nodejs_/, 'memory of the process and space on the disk'],
  [/^libp2p_coalescing_yamux_/, 'what this muxer shows of itself'],
  [/^libp2p_noise_(en|de)crypted_packets_total/, 'how many writes there are is what this muxer changes'],
  [/"global (sent|received)"/, 'with fewer frames there are fewer headers: they are looked at below']
]

interface Counted {
  registry: Registry
  libp2p: Libp2p<{ identify: Identify, ping: Ping }>
}

/** What a node shows: while all streams of the work are open, and once the connection is closed */
interface Shown {
  open: string[]
  closed: string[]
}

const NODES = ['dialler', 'listener'] as const

// @libp2p/prometheus-metrics keeps the metrics of the node that was made last: others have to be there by then
async function createCounted (muxer: MuxerName): Promise<Counted> {
  const registry = new Registry()
  const libp2p = await createNode(muxer, {
    metrics: prometheusMetrics({ registry, collectDefaultMetrics: false }),
    services: { identify: identify(), ping: ping() }
  })

  return { registry, libp2p }
}

/** Every sample, with ports that are the same in all runs */
async function show ({ registry }: Counted): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n')

  return lines.filter(line => line !== '').map(line => line.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:PORT')).sort()
}

/** A stream for each way that protocols read, which has carried its messages */
async function doWork (dialler: Counted, listener: Counted): Promise<Array<[opened: Stream, accepted: Stream]>> {
  const pairs: Array<[Stream, Stream]> = []
  const [connection] = dialler.libp2p.getConnections()

  for (const [i, way] of Object.values(WAYS).entries()) {
    const protocol = `/counted/${i}`
    const accepting = Promise.withResolvers<Stream>()
    await listener.libp2p.handle(protocol, stream => { accepting.resolve(stream) })
    const opened = await connection.newStream(protocol)
    const accepted = await accepting.promise
    await Promise.all([way.write(opened), way.read(accepted)])
    pairs.push([opened, accepted])
  }

  await dialler.libp2p.services.ping.ping(listener.libp2p.peerId)

  return pairs
}

async function shownWith (muxer: MuxerName): Promise<Record<typeof NODES[number], Shown>> {
  const dialler = await createCounted(muxer)
  const listener = await createCounted(muxer)

  try {
    const identified = Promise.all([dialler, listener].map(async node => pEvent(node.libp2p, 'peer:identify')))
    await dialler.libp2p.dial(listener.libp2p.getMultiaddrs())
    await identified
    const pairs = await doWork(dialler, listener)
    const connections = [dialler, listener].map<Connection>(node => node.libp2p.getConnections()[0])
    // those of libp2p's own services go when both sides have closed them
    await vi.waitFor(() => {
      expect(connections.map(connection => connection.streams.length)).toEqual([pairs.length, pairs.length])
    })
    const open = [await show(dialler), await show(listener)]

    const closes = pairs.flat().map(closeOf)
    await Promise.all(pairs.flat().map(async stream => stream.close()))
    await Promise.all(closes)
    const disconnected = pEvent(listener.libp2p, 'peer:disconnect')
    await dialler.libp2p.hangUp(listener.libp2p.peerId)
    await disconnected
    const closed = [await show(dialler), await show(listener)]

    return { dialler: { open: open[0], closed: closed[0] }, listener: { open: open[1], closed: closed[1] } }
  } finally {
    await Promise.all([dialler.libp2p.stop(), listener.libp2p.stop()])
  }
}

function comparable (lines: string[]): string[] {
  return lines
    .filter(line => !line.startsWith('#') || line.startsWith('# TYPE'))
    .filter(line => !LEFT_OUT.some(([left]) => left.test(line.replace('# TYPE ', ''))))
}

describe.each(OWN_MUXERS.flatMap(muxer => NODES.map(node => ({ muxer, node }))))('with $muxer the $node shows the same as with stock', ({ muxer, node }) => {
  let ours: Shown
  let stock: Shown

  beforeAll(async () => {
    ours = (await shownWith(muxer))[node]
    stock = (await shownWith('stock'))[node]
  })

  test.each(['open', 'closed'] as const)('when the streams and the connection are %s', when => {
    expect(comparable(ours[when]).length).toBeGreaterThan(20)
    expect(comparable(ours[when])).toEqual(comparable(stock[when]))
  })

  test('and counts all bytes of the connection, which are those of the streams and more', () => {
    const bytesOf = (direction: string): [global: number, streams: number] => {
      const lines = ours.closed.filter(line => line.startsWith('libp2p_data_transfer_bytes_total') && line.includes(` ${direction}"`))
      const valueOf = (line: string): number => Number(line.split(' ').at(-1))
      const [global, streams] = [lines.filter(line => line.includes('"global ')), lines.filter(line => !line.includes('"global '))]

      return [global, streams].map(some => some.map(valueOf).reduce((sum, value) => sum + value, 0)) as [number, number]
    }

    for (const direction of ['sent', 'received']) {
      const [global, streams] = bytesOf(direction)
      expect(streams).toBeGreaterThan(0)
      expect(global).toBeGreaterThan(streams)
      expect(global).toBeLessThan(streams + 10_000)
    }
  })
})
