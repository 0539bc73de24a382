// An echo target for conformance/ in JavaScript: `node echo.ts <muxer> <host:port> [open | dial | libp2p]`. With `open` it opens a stream on each
// connection too, with `dial` it dials again and again instead of listening, with `libp2p` it is a node with Noise, and agrees on protocols.
import { dialAgainAndAgain, echo, listen, toAddress, toMultiaddr } from '../../testing/conformance/echo-target.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import { muxers } from '../../testing/muxers.ts'

const MAX_STREAMS = 1_000

const [muxerName, address, mode] = process.argv.slice(2)
const factory = (await muxers[muxerName as keyof typeof muxers]())({})

if (mode === 'dial') {
  await dialAgainAndAgain(address, { factory }, new AbortController().signal)
} else if (mode === 'libp2p') {
  const node = await createNode('ours', { addresses: { listen: [toMultiaddr(address).toString()] }, streamMuxers: [() => factory] })
  await node.handle('/echo/1.0.0', echo, { maxInboundStreams: MAX_STREAMS })
  console.info(toAddress(node.getMultiaddrs()[0]))
} else {
  console.info((await listen(address, { factory, opens: mode === 'open' })).address)
}
