// As much of it as the benchmarks use; what is installed when they first run has its own types.
import type { Libp2p, ServiceMap } from '@libp2p/interface'
import type { Libp2pOptions } from 'libp2p'

export interface Helia<Services extends ServiceMap = ServiceMap> {
  libp2p: Libp2p<Services>
  /** Returns its CID */
  add (bytes: Uint8Array, blockBytes: number): Promise<string>
  cat (cid: string): AsyncIterable<Uint8Array>
  forgetAll (): Promise<void>
}

export function startHelia<Services extends ServiceMap> (libp2pOptions: Libp2pOptions<Services>): Promise<Helia<Services>>
