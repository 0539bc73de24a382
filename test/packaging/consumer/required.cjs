// As a CommonJS module has the package: Node requires modules without top-level await.
const { yamux, GoAwayCode } = require('libp2p-coalescing-yamux')
const factory = yamux({ coalesce: { delayMs: 2 } })()

if (factory.protocol !== '/yamux/1.0.0' || GoAwayCode.InternalError !== 2) {
  throw new Error('The package is not what it is when it is imported')
}
