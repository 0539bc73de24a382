// The parent's view of one application with one muxer: how to start it, and one round of its work.
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '../../testing/programs/child.ts'
import type { Child } from '../../testing/programs/child.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Spent } from '../pair/counters.ts'
import type { EndInit } from './application.ts'
import type { Application } from './applications.ts'
import type { Counted, PeerCommands } from './host-process.ts'

export interface Measured {
  durationMs: number
  latenciesMs: number[]
  /** By all processes; what nobody can see is left out */
  spent: Partial<Spent> & Pick<Spent, 'cpuMs'>
  /** Of all processes together, while they worked */
  maxRssBytes?: number
}

export interface Session {
  /** Resolves when all ends are connected */
  start (): Promise<void>
  measure (round: number): Promise<Measured>
  stop (): Promise<void>
}

/** For what is in flight when the work is done: the ends of streams, what gossip sends twice */
export const QUIET_MS = 100
const ENDS = 2

const peer = new URL('./host-process.ts', import.meta.url)

export function startEnds (label: string, count: number): Array<Child<PeerCommands>> {
  return Array.from({ length: count }, (_, index) => startChild<PeerCommands>(peer, `process ${index + 1} of ${label}`))
}

export function sumOf (counted: Counted[], what: keyof Counted): number {
  return counted.reduce((sum, { [what]: value }) => sum + value, 0)
}

/** `muxers` has one for each end */
export function startSession ({ id, label, transport = 'tcp-noise' }: Application, muxers: ContestantMuxer[], isShort: boolean): Session {
  const children = startEnds(`${label.replaceAll('\n', ' ')}, ${muxers.join(' and ')}`, ENDS)
  const ends = children.map(({ commands }) => commands)

  return {
    async start () {
      const inits = muxers.map((muxer): EndInit => ({ muxer, transport, isShort }))
      const addresses = await Promise.all(ends.map(async (end, index) => end.start(id, index, inits[index])))
      await Promise.all(ends.map(async end => end.connect(addresses)))
    },

    async measure (round) {
      const told = await Promise.all(ends.map(async end => end.prepare(round)))
      await Promise.all(ends.map(async end => end.startCounting()))
      const timed = await Promise.all(ends.map(async end => end.work(told)))
      await sleep(QUIET_MS)
      const counted = await Promise.all(ends.map(async end => end.counted()))
      await Promise.all(ends.map(async end => end.check()))

      return {
        durationMs: Math.max(...timed.map(({ durationMs }) => durationMs)),
        latenciesMs: timed.flatMap(({ latenciesMs }) => latenciesMs),
        spent: {
          cpuMs: sumOf(counted, 'cpuMs'),
          // QUIC writes unseen
          ...!muxers.includes('quic') && { socketWrites: sumOf(counted, 'socketWrites'), noiseRecords: sumOf(counted, 'noiseRecords') }
        },
        maxRssBytes: sumOf(counted, 'maxRssBytes')
      }
    },

    async stop () {
      await Promise.all(children.map(async child => child.stop()))
    }
  }
}
