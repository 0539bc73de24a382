// What libp2p's own metrics count of a stream, whoever reads it and however: what they count with stock.
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { byteStream, lpStream } from '@libp2p/utils'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { pattern } from '../fixtures/frames.ts'
import { connect, openBoth } from './fixtures/connected-pair.ts'
import type { MuxerName } from '../libp2p/fixtures/muxers.ts'
import type { Stream } from '@libp2p/interface'

const PROTOCOL = '/counted/1'
const MESSAGES = 20
const MESSAGE_BYTES = 5000

interface Way {
  write (stream: Stream): Promise<void>
  /** All that is written */
  read (stream: Stream): Promise<void>
}

async function sendAll (stream: Stream): Promise<void> {
  for (let i = 0; i < MESSAGES; i++) {
    stream.send(pattern(MESSAGE_BYTES, i))
  }
}

/** Resolves when all has come */
async function countAll (listen: (onBytes: (byteLength: number) => void) => void): Promise<void> {
  await new Promise<void>(resolve => {
    let left = MESSAGES * MESSAGE_BYTES
    listen(byteLength => {
      left -= byteLength

      if (left === 0) {
        resolve()
      }
    })
  })
}

const ways: Record<string, Way> = {
  'with a listener': {
    write: sendAll,
    read: async stream => countAll(onBytes => {
      stream.addEventListener('message', ({ data }) => { onBytes(data.byteLength) })
    })
  },
  'with a loop': {
    write: sendAll,
    read: async stream => countAll(onBytes => {
      const loop = async (): Promise<void> => {
        for await (const chunk of stream) {
          onBytes(chunk.byteLength)
        }
      }
      loop().catch(() => {})
    })
  },
  'through byteStream()': {
    write: sendAll,
    read: async stream => {
      const bytes = byteStream(stream)

      for (let i = 0; i < MESSAGES; i++) {
        await bytes.read({ bytes: MESSAGE_BYTES })
      }
    }
  },
  'through lpStream()': {
    write: async stream => {
      const messages = lpStream(stream)

      for (let i = 0; i < MESSAGES; i++) {
        await messages.write(pattern(MESSAGE_BYTES, i))
      }
    },
    read: async stream => {
      const messages = lpStream(stream)

      for (let i = 0; i < MESSAGES; i++) {
        await messages.read()
      }
    }
  }
}

/** The lines of a scrape that speak of the protocol */
async function countedOf (muxer: MuxerName, { write, read }: Way): Promise<string[]> {
  const pair = await connect({ dialler: muxer, listener: muxer })
  const registry = new Registry()
  const metrics = prometheusMetrics({ registry, collectDefaultMetrics: false })({ logger: { forComponent: () => () => {} } } as any)

  try {
    const streams = await openBoth(pair)

    for (const stream of streams) {
      stream.protocol = PROTOCOL
      metrics.trackProtocolStream(stream)
    }

    await Promise.all([write(streams[0]), read(streams[1])])

    return (await registry.metrics()).split('\n').filter(line => line.includes(PROTOCOL))
  } finally {
    pair.disconnect()
  }
}

test.each(Object.keys(ways))('a stream that is read %s', async name => {
  const ours = await countedOf('ours', ways[name])

  // what it sent, and what it received
  expect(ours).toHaveLength(2)
  expect(ours.sort()).toEqual((await countedOf('stock', ways[name])).sort())
})
