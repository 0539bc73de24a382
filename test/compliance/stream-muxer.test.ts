import './mocha-globals.ts'
import streamMuxerSuite from '@libp2p/interface-compliance-tests/stream-muxer'
import { yamux } from '../../src/index.ts'

streamMuxerSuite({
  async setup () {
    return yamux({ coalesce: { mergeMessages: false } })()
  },
  async teardown () {}
})
