// What a TypeScript project does with the package, type-checked as it is installed.
import { createLibp2p } from 'libp2p'
import { GoAwayCode, ProtocolError, yamux } from 'libp2p-coalescing-yamux'
import type { Lane, Strategy, YamuxMuxer, YamuxMuxerInit, YamuxStream } from 'libp2p-coalescing-yamux'

const strategy: Strategy = 'delay'
const init: YamuxMuxerInit = {
  maxInboundStreams: 256,
  coalesce: { strategy, delayMs: 2 },
  priority: { '/meshsub/*': 'urgent' }
}

export const node = await createLibp2p({ start: false, streamMuxers: [yamux(init)] })

export function laneOf (stream: YamuxStream): Lane {
  return stream.priority
}

export async function measure (muxer: YamuxMuxer): Promise<number> {
  return muxer.ping()
}

export function isViolation (err: unknown): boolean {
  return err instanceof ProtocolError && err.goAwayCode === GoAwayCode.ProtocolError
}

// @ts-expect-error the types are those of the package, not any
yamux({ maxInboundStreams: 'many' })
