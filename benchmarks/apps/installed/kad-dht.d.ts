// As much of it as the benchmarks use; what is installed when they first run has its own types.
import type { ContentRouting } from '@libp2p/interface'

export interface Dht {
  routingTable: { size: number }
}

export function dht (): (components: any) => Dht

export function keyOf (text: string): Promise<Parameters<ContentRouting['provide']>[0]>
