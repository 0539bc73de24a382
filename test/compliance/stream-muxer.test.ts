// libp2p's own suite for stream muxers, with messages kept apart and as configured by default.
import { leftOut } from './mocha-globals.ts'
import streamMuxerSuite from '@libp2p/interface-compliance-tests/stream-muxer'
import { describe } from 'vitest'
import { yamux } from '../../src/index.ts'

describe('with messages kept apart, all of it', () => {
  streamMuxerSuite({
    async setup () {
      return yamux({ coalesce: { mergeMessages: false } })()
    },
    async teardown () {}
  })
})

describe('by default', () => {
  // sends twice in one turn and expects two chunks: a stream of bytes may deliver them as one
  leftOut.add('can close a stream for writing')

  streamMuxerSuite({
    async setup () {
      return yamux()()
    },
    async teardown () {}
  })
})
