// Streams and muxers as an application sees them: what it may call, and what is nobody's but the package's.
import { createLibp2p } from 'libp2p'
import { isYamuxStream, yamux } from 'libp2p-coalescing-yamux'
import { snapshotNode } from 'libp2p-coalescing-yamux/snapshot'
import type { Connection, MessageStream, PeerId, Stream, StreamMuxer } from '@libp2p/interface'
import type { CloseOptions, Lane, YamuxMuxer, YamuxStream } from 'libp2p-coalescing-yamux'
import type { WaitsFor } from 'libp2p-coalescing-yamux/snapshot'

export const node = await createLibp2p({ start: false, streamMuxers: [yamux(null)] })

await node.handle('/app/1.0.0', (stream: Stream, connection: Connection) => {
  if (isYamuxStream(stream)) {
    stream.priority = 'urgent'
  }

  // @ts-expect-error another muxer's streams have no lanes
  stream.priority = 'urgent'
  connection.close().catch(() => {})
})

export async function openUrgent (peer: PeerId): Promise<Stream> {
  const stream = await (await node.dial(peer)).newStream('/app/1.0.0')

  if (isYamuxStream(stream)) {
    stream.priority = 'urgent'
    // @ts-expect-error no lane
    stream.priority = 'fast'
    const lane: Lane = stream.priority
    console.info(lane, stream.protocol, stream.readBufferLength)
  }

  return stream
}

/** What libp2p calls, and the muxer beside it */
export async function useMuxer (connection: MessageStream, options: CloseOptions): Promise<YamuxStream> {
  const muxer: YamuxMuxer = yamux()().createStreamMuxer(connection)
  muxer.addEventListener('stream', ({ detail }) => { detail.priority = 'bulk' })
  const roundTripMs: number = Math.max(await muxer.ping({ signal: AbortSignal.timeout(1000) }), muxer.getRTT())
  console.info(roundTripMs, muxer.streams.map(({ priority }) => priority))
  const stream = await muxer.createStream({ maxReadBufferLength: 1024 })
  await muxer.close(options)

  return stream
}

/** What the streams of the node wait for */
export function causes (): Array<WaitsFor | undefined> {
  return snapshotNode(node).connections.flatMap(({ streams = [] }) => streams.map(({ waitsFor }) => waitsFor))
}

export function callNothingInternal (stream: YamuxStream, muxer: YamuxMuxer): unknown[] {
  return [
    // @ts-expect-error
    stream.onData,
    // @ts-expect-error
    stream.onFinSent,
    // @ts-expect-error
    stream.onTaken,
    // @ts-expect-error
    stream.onEnded,
    // @ts-expect-error
    stream.onClosed,
    // @ts-expect-error
    stream.onRemoteCloseWrite,
    // @ts-expect-error
    stream.onListenerError,
    // @ts-expect-error
    stream.isDispatchingTooDeep,
    // @ts-expect-error
    stream.writeBuffer,
    // @ts-expect-error
    stream.sendCloseWrite,
    // @ts-expect-error
    muxer.onListenerError,
    // @ts-expect-error
    muxer.isDispatchingTooDeep
  ]
}

type Keys<Type, Base> = Exclude<keyof Type, keyof Base>
type IsNever<Type> = [Type] extends [never] ? true : false

/** Beside what libp2p's own interfaces have */
export const streamHasPriorityAlone: IsNever<Exclude<Keys<YamuxStream, Stream>, 'priority'>> = true
export const muxerHasPingAlone: IsNever<Exclude<Keys<YamuxMuxer, StreamMuxer>, 'ping' | 'getRTT'>> = true
