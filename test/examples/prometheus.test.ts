// docs/examples/prometheus.ts, asked as Prometheus asks.
import { ping } from '@libp2p/ping'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { startWaiting } from './fixtures/terminal.ts'
import { createNode } from '../../testing/libp2p/node.ts'

test('Prometheus is told what the muxer has done', async () => {
  const [terminal, address] = await startWaiting('prometheus.ts')
  const [url] = await terminal.shows(/Metrics at (\S+)/)
  const peer = await createNode('ours', { services: { ping: ping() } })

  try {
    await peer.services.ping.ping(multiaddr(address))
    const response = await fetch(url)

    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=/)
    expect(await response.text()).toMatch(/^libp2p_coalescing_yamux_flush_frames_sum [1-9]/m)
    expect((await fetch(new URL('/', url))).status).toBe(404)
  } finally {
    await peer.stop()
  }
})
