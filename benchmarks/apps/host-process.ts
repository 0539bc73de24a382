// A child process: one end of one application.
import { answer } from '../../testing/programs/child.ts'
import { countSocketWrites, startCounting } from '../pair/counters.ts'
import { watchRss } from '../pair/runtime.ts'
import { findRow } from '../rows.ts'
import { allApplications } from './applications.ts'
import type { Spent } from '../pair/counters.ts'
import type { End, EndInit, Worked } from './application.ts'

export interface Counted extends Spent {
  maxRssBytes: number
}

export interface Timed {
  durationMs: number
  latenciesMs: number[]
}

let end: End
let worked: Worked
let spentSince: () => Spent
let maxRssBytes: () => number

const commands = {
  /** Returns where others reach it */
  async start (applicationId: string, index: number, init: EndInit): Promise<string[]> {
    countSocketWrites()
    const ends = await findRow(applicationId, allApplications).load?.() ?? []
    end = await ends[index](init)

    return end.addresses
  },

  async connect (addresses: string[][]): Promise<void> {
    await end.connect?.(addresses)
  },

  async prepare (round: number): Promise<unknown> {
    return end.prepare?.(round)
  },

  startCounting (): void {
    maxRssBytes = watchRss()
    spentSince = startCounting()
  },

  async work (told: unknown[]): Promise<Timed> {
    const startMs = performance.now()
    worked = await end.work?.(told) ?? {}

    return { durationMs: performance.now() - startMs, latenciesMs: worked.latenciesMs ?? [] }
  },

  counted (): Counted {
    return { ...spentSince(), maxRssBytes: maxRssBytes() }
  },

  check (): void {
    worked.check?.()
  }
}

export type PeerCommands = typeof commands

answer(commands)
