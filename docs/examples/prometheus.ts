// A node that Prometheus can ask how it is. What the muxer counts begins with libp2p_coalescing_yamux_.
//
//   npm run example docs/examples/prometheus.ts
//   curl -s localhost:9464/metrics | grep coalescing_yamux
import { createServer } from 'node:http'
import { noise } from '@chainsafe/libp2p-noise'
import { ping } from '@libp2p/ping'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import { register } from 'prom-client'
import type { AddressInfo } from 'node:net'

const { METRICS_PORT = '9464' } = process.env

const node = await createLibp2p({
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  metrics: prometheusMetrics(),
  services: { ping: ping() }
})

const server = createServer(async ({ url }, response) => {
  if (url !== '/metrics') {
    response.writeHead(404).end()
    return
  }

  const metrics = await register.metrics()
  response.writeHead(200, { 'content-type': register.contentType }).end(metrics)
})

server.listen(Number(METRICS_PORT), '127.0.0.1', () => {
  console.log(`Listening at ${node.getMultiaddrs()[0]}`)
  console.log(`Metrics at http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`)
})
