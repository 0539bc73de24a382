// Gossip as `npm run bench gossip` has it, as one of the applications.
import { findRow } from '../rows.ts'
import { startSession } from '../gossip/session.ts'
import { drawTopology } from '../gossip/topology.ts'
import { planRound, rows } from '../gossip/workload.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Session } from './session.ts'

export function startGossipSession (muxer: ContestantMuxer, isShort: boolean): Session {
  // that of the profile that it repeats, or a tenth of its rate
  const row = findRow(isShort ? 'small-slow' : 'small', rows)
  const { ready, measure, stop } = startSession(muxer, row.isSigned, drawTopology())

  return {
    start: async () => ready,

    async measure (round) {
      const { spent: { cpuMs, ...writes }, ...measured } = await measure(planRound(row, round))

      return { ...measured, spent: { cpuMs, ...muxer !== 'quic' && writes } }
    },

    stop
  }
}
