// The two entries of the package: what light leaves out, and that the rest is the same.
import { StreamMessageEvent } from '@libp2p/interface'
import { equals } from 'uint8arrays/equals'
import { describe, expect, test } from 'vitest'
import * as index from '../../src/index.ts'
import * as light from '../../src/light.ts'
import { FIRST_MARK_VALUE } from '../../src/core/wire/frame.ts'
import { fullControl, NoControl } from '../../src/path-control.ts'
import { ACK, concat, parseFrames, pattern, PING, ping, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn, RawTransport, turnsUntil } from '../../testing/protocol/raw-peer.ts'
import { marksOf, payloadBytes } from './fixtures/marks.ts'
import { createSink } from './fixtures/recording-log.ts'
import { RecordingMetrics } from './fixtures/recording-metrics.ts'
import type { Logger, MessageStream } from '@libp2p/interface'
import type { YamuxComponents, YamuxMuxer, YamuxMuxerInit, YamuxStream } from '../../src/index.ts'
import type { Frame } from '../../testing/protocol/frames.ts'

type Entry = typeof index | typeof light

interface Peer {
  muxer: YamuxMuxer
  deliver (...parts: Uint8Array[]): void
  /** All bytes written since the last call */
  takeBytes (): Uint8Array
  takeFrames (): Frame[]
}

const ENTRIES = { index, light }
const BULK_BYTES = 1_000_000

function connect ({ yamux }: Entry, init: YamuxMuxerInit = {}, components?: YamuxComponents, log?: Logger): Peer {
  const transport = new RawTransport('outbound', log)
  const muxer = yamux({ enableKeepAlive: false, ...init })(components).createStreamMuxer(transport as unknown as MessageStream)
  const takeBytes = (): Uint8Array => concat(...transport.writes.splice(0).map(write => write.subarray()))

  return {
    muxer,
    deliver: (...parts) => { transport.dispatchEvent(new StreamMessageEvent(concat(...parts))) },
    takeBytes,
    takeFrames: () => parseFrames(takeBytes())
  }
}

/** From here on a full control would write marks */
async function measureRoundTrip ({ muxer, deliver, takeFrames }: Peer): Promise<void> {
  const measured = muxer.ping()
  await nextTurn()
  const [{ length }] = takeFrames()
  deliver(ping(length, ACK))
  await measured
}

/** The peer has acknowledged it, and gives credit for megabytes */
async function openStream ({ muxer, deliver }: Peer): Promise<YamuxStream> {
  const stream = await muxer.createStream()
  deliver(windowUpdate(Number(stream.id), 2 ** 24, ACK))
  await nextTurn()

  return stream
}

/** What is written of a transfer whose marks nobody answers, in up to a thousand turns */
async function transfer (peer: Peer, byteLength = BULK_BYTES): Promise<Frame[]> {
  await measureRoundTrip(peer)
  const stream = await openStream(peer)
  stream.send(pattern(byteLength))
  await turnsUntil(() => stream.writeBufferLength === 0)

  return peer.takeFrames()
}

test('both entries export the same names', () => {
  expect(Object.keys(light).sort()).toEqual(Object.keys(index).sort())
})

describe('metrics', () => {
  test.each([
    ['index', 'all'],
    ['light', 'none']
  ] as const)('of %s: %s are registered', async (name, expected) => {
    const sink = new RecordingMetrics()
    await transfer(connect(ENTRIES[name], {}, { metrics: sink.asMetrics }))

    expect(sink.names.length > 0).toBe(expected === 'all')
  })
})

describe('the trace', () => {
  test.each([
    ['index', 'every frame'],
    ['light', 'no frame']
  ] as const)('of %s has %s', async (name, expected) => {
    const { sink, log } = createSink()
    await transfer(connect(ENTRIES[name], {}, {}, log))
    const frames = sink.lines.filter(line => /:trace$/.test(String(line[0])))

    expect(frames.length > 0).toBe(expected === 'every frame')
  })
})

describe('bytes in flight', () => {
  test('of index are bounded, and marks follow the data', async () => {
    expect(marksOf(await transfer(connect(index))).length).toBeGreaterThan(0)
  })

  // it is an option of a control, and an application may change its import and nothing else
  test.each([1, 10, Infinity])('of light are all that there are, without a mark, with a maxQueueDelayMs of %d', async maxQueueDelayMs => {
    const frames = await transfer(connect(light, { coalesce: { maxQueueDelayMs } }))

    expect(payloadBytes(frames)).toBe(BULK_BYTES)
    expect(frames.filter(({ type }) => type === PING)).toEqual([])
  })

  test('of light are bounded by a control that is given', async () => {
    expect(marksOf(await transfer(connect(light, { pathControl: fullControl() }))).length).toBeGreaterThan(0)
  })

  test('of index are not bounded without a control: it writes what light does, byte for byte', async () => {
    const bytesOf = async (entry: Entry, init?: YamuxMuxerInit): Promise<Uint8Array> => {
      const peer = connect(entry, { priority: { '/urgent': 'urgent', '/bulk': 'bulk' }, ...init })
      const streams = [await openStream(peer), await openStream(peer), await openStream(peer)]
      ;['/urgent', '', '/bulk'].forEach((protocol, i) => { streams[i].protocol = protocol })

      for (const stream of streams) {
        stream.send(pattern(10))
        stream.send(pattern(300_000))
      }

      peer.muxer.ping().catch(() => {})
      peer.deliver(ping(FIRST_MARK_VALUE, SYN), windowUpdate(2, 0, SYN))
      await turnsUntil(() => streams.every(({ writeBufferLength }) => writeBufferLength === 0))
      streams.forEach(stream => { stream.abort(new Error('over')) })
      await nextTurn()

      return peer.takeBytes()
    }

    const bytes = await bytesOf(light)
    expect(payloadBytes(parseFrames(bytes))).toBe(3 * 300_010)
    expect(equals(bytes, await bytesOf(index, { pathControl: init => new NoControl(init) }))).toBe(true)
  })
})
