// libp2p's own suite for stream muxers, all of it, for both entries of the package.
import './mocha-globals.ts'
import streamMuxerSuite from '@libp2p/interface-compliance-tests/stream-muxer'
import { describe } from 'vitest'
import { yamux } from '../../src/index.ts'
import { yamux as light } from '../../src/light.ts'

describe('by default', () => {
  streamMuxerSuite({
    async setup () {
      return yamux()()
    },
    async teardown () {}
  })
})

describe('light', () => {
  streamMuxerSuite({
    async setup () {
      return light()()
    },
    async teardown () {}
  })
})

describe('with messages never merged', () => {
  streamMuxerSuite({
    async setup () {
      return yamux({ coalesce: { mergeMessages: false } })()
    },
    async teardown () {}
  })
})
