// libp2p's own suite for transports, between nodes that have either muxer of the package as configured by default.
import './mocha-globals.ts'
import { noise } from '@chainsafe/libp2p-noise'
import transportSuite from '@libp2p/interface-compliance-tests/transport'
import { memory } from '@libp2p/memory'
import { tcp } from '@libp2p/tcp'
import { webSockets } from '@libp2p/websockets'
import { Memory, TCP, WebSockets } from '@multiformats/multiaddr-matcher'
import { describe } from 'vitest'
import { yamux } from '../../src/index.ts'
import { yamux as light } from '../../src/light.ts'
import type { MultiaddrMatcher } from '@multiformats/multiaddr-matcher'
import type { Libp2pInit } from 'libp2p'

interface Medium {
  transport: NonNullable<Libp2pInit['transports']>[number]
  /** Two, as a test of the suite dials both */
  addresses: [string, string]
  matcher: MultiaddrMatcher
}

const media: Record<string, Medium> = {
  '@libp2p/memory': {
    transport: memory(),
    addresses: ['/memory/one', '/memory/other'],
    matcher: Memory
  },
  '@libp2p/tcp': {
    transport: tcp(),
    addresses: ['/ip4/127.0.0.1/tcp/0', '/ip4/127.0.0.1/tcp/0'],
    matcher: TCP
  },
  '@libp2p/websockets': {
    transport: webSockets(),
    addresses: ['/ip4/127.0.0.1/tcp/0/ws', '/ip4/127.0.0.1/tcp/0/ws'],
    matcher: WebSockets
  }
}

/** Light over one of them: a transport takes 15 s */
const stacks = [
  ...Object.keys(media).map(name => ({ name, muxer: 'ours', createMuxer: yamux() })),
  { name: '@libp2p/tcp', muxer: 'light', createMuxer: light() }
]

describe.each(stacks)('$muxer over $name', ({ name, createMuxer }) => {
  const { transport, addresses, matcher } = media[name]

  transportSuite({
    async setup () {
      const stack: Libp2pInit = {
        transports: [transport],
        connectionEncrypters: [noise()],
        streamMuxers: [createMuxer],
        // it closes connections whose ping is late, which depends on the machine
        connectionMonitor: { enabled: false }
      }

      return {
        dialer: stack,
        listener: { ...stack, addresses: { listen: addresses } },
        dialMultiaddrMatcher: matcher,
        listenMultiaddrMatcher: matcher
      }
    },
    async teardown () {}
  })
})
