// An echo target for conformance/ in JavaScript: `node echo.ts <muxer> <host:port> [open | dial | libp2p]`. With `open` it opens a stream on each
// connection too, with `dial` it dials again and again instead of listening, with `libp2p` it is a node with Noise.
