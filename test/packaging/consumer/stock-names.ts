// A program for @libp2p/yamux with another name in its imports.
import { createLibp2p } from 'libp2p'
import { GoAwayCode, yamux } from 'libp2p-coalescing-yamux'
import type { MessageStream, StreamMuxerFactory } from '@libp2p/interface'
import type { YamuxMuxerInit } from 'libp2p-coalescing-yamux'

const init: YamuxMuxerInit = {
  enableKeepAlive: true,
  keepAliveInterval: 30_000,
  maxInboundStreams: 1000,
  maxOutboundStreams: 1000,
  maxMessageSize: 65_536,
  maxEarlyStreams: 10,
  streamOptions: {
    initialStreamWindowSize: 262_144,
    maxStreamWindowSize: 16_777_216,
    inactivityTimeout: 120_000,
    maxReadBufferLength: 4_194_304,
    maxWriteBufferLength: Infinity
  }
}

export const node = await createLibp2p({ start: false, streamMuxers: [yamux(init)] })

export const factory: StreamMuxerFactory = yamux()()

export async function leave (connection: MessageStream): Promise<void> {
  const muxer = yamux()().createStreamMuxer(connection)
  const reason: GoAwayCode = GoAwayCode.ProtocolError
  await muxer.ping()
  await muxer.close({ reason })
  muxer.abort(new Error(`${muxer.getRTT()} ms, ${muxer.streams.length} streams`))
}
