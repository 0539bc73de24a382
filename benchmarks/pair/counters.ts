// Counts what a process spends: socket writes, Noise records and CPU time.
import { Socket } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { noise } from '@chainsafe/libp2p-noise'
import type { NoiseComponents } from '@chainsafe/libp2p-noise'
import type { ConnectionEncrypter, Counter, Metrics } from '@libp2p/interface'

export interface Spent {
  socketWrites: number
  noiseRecords: number
  cpuMs: number
}

let socketWrites = 0
let noiseRecords = 0

/** Each call of these two hands one write or writev to the kernel */
export function countSocketWrites (): void {
  const { _write: write, _writev: writev } = Socket.prototype

  Socket.prototype._write = function (...args) {
    socketWrites++
    write.apply(this, args)
  }

  Socket.prototype._writev = function (...args) {
    socketWrites++
    writev?.apply(this, args)
  }
}

function counter (increment: () => void): Counter {
  return { increment, reset () {} }
}

const ignored = counter(() => {})
const encryptedPackets = counter(() => { noiseRecords++ })

// Noise asks its metrics for counters and for nothing else
const noiseMetrics = {
  registerCounter: (name: string) => name === 'libp2p_noise_encrypted_packets_total' ? encryptedPackets : ignored
} as unknown as Metrics

export function countedNoise (): (components: NoiseComponents) => ConnectionEncrypter {
  const createNoise = noise()

  // libp2p refuses to tell its upgrader before it has made one
  return components => createNoise({
    peerId: components.peerId,
    privateKey: components.privateKey,
    logger: components.logger,
    get upgrader () { return components.upgrader },
    metrics: noiseMetrics
  })
}

type CpuUsage = (before?: NodeJS.CpuUsage) => NodeJS.CpuUsage

/** Of the thread alone where it is one of several, without the threads that collect its garbage */
function ownCpuUsage (before?: NodeJS.CpuUsage): NodeJS.CpuUsage {
  return isMainThread ? process.cpuUsage(before) : process.threadCpuUsage(before)
}

/** Starts counting, the returned function tells what was spent since */
export function startCounting (cpuUsage: CpuUsage = ownCpuUsage): () => Spent {
  const before = { socketWrites, noiseRecords, cpu: cpuUsage() }

  return () => {
    const { user, system } = cpuUsage(before.cpu)

    return {
      socketWrites: socketWrites - before.socketWrites,
      noiseRecords: noiseRecords - before.noiseRecords,
      cpuMs: (user + system) / 1000
    }
  }
}
