// Who is compared, by name: each muxer, and what does without one, on each transport that can carry it.
import { oneOf } from '../testing/programs/names.ts'

/** What `muxers.ts` makes for libp2p */
export const muxerNames = ['ours', 'ours-off', 'ours-delay', 'ours-adaptive', 'ours-apart', 'ours-unbounded', 'ours-withholding', 'ours-gossip', 'ours-gossip-unbounded', 'ours-merged', 'light', 'stock', 'mplex'] as const

export type MuxerName = typeof muxerNames[number]

/** Programs of `peers`, over plain TCP, which do the benchmarks' commands */
export const nativeNames = ['go-yamux', 'rust-yamux', 'rust-yamux-buffered'] as const

export type NativeMuxer = typeof nativeNames[number]

export const transports = {
  'tcp-noise': 'TCP and Noise',
  tcp: 'plain TCP',
  'ws-noise': 'WebSockets and Noise',
  memory: 'message ports between two threads'
}

export type TransportName = keyof typeof transports
export const transportNames = Object.keys(transports) as TransportName[]

/** Beside the muxers of libp2p, with the transports that they are measured on */
const others = {
  /** No muxer: one connection is the only stream */
  none: transportNames,
  /** A transport of its own, among those that encrypt */
  quic: ['tcp-noise'],
  /** With TLS in Noise's place */
  http2: ['tcp', 'tcp-noise'],
  ...Object.fromEntries(nativeNames.map(name => [name, ['tcp']])) as Record<NativeMuxer, ['tcp']>
} satisfies Record<string, TransportName[]>

type OtherName = keyof typeof others

export type ContestantMuxer = MuxerName | OtherName

/** What readers know them by; tables have no room for it */
const fullNames: Partial<Record<ContestantMuxer, string>> = { stock: '@libp2p/yamux', mplex: '@libp2p/mplex', none: 'no muxer', quic: 'QUIC', http2: 'HTTP/2' }

export function fullNameOf (muxer: ContestantMuxer): string {
  return fullNames[muxer] ?? muxer
}

export interface Contestant {
  muxer: ContestantMuxer
  transport: TransportName
}

/** One that libp2p can be handed */
export function isMuxer (muxer: ContestantMuxer): muxer is MuxerName {
  return !(muxer in others)
}

export function isNative (muxer: ContestantMuxer): muxer is NativeMuxer {
  return nativeNames.some(name => name === muxer)
}

export function isCarriedBy (muxer: ContestantMuxer, transport: TransportName): boolean {
  return isMuxer(muxer) || (others[muxer] as TransportName[]).includes(transport)
}

export function findContestantMuxer (name: string): ContestantMuxer {
  return oneOf('muxer', name, [...muxerNames, ...Object.keys(others) as OtherName[]])
}

export function findTransport (name: string): TransportName {
  return oneOf('transport', name, transportNames)
}
