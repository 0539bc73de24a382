// As much of it as the benchmarks use; what is installed when they first run has its own types.
import type { Transport } from '@libp2p/interface'

export function quic (init?: { maxConcurrentStreamLimit?: number }): (components: any) => Transport
