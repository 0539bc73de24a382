// A row of `npm start`: urgent messages beside bulk over a link that a process imitates, for which nobody has to be root.
import { named } from '../../testing/programs/run.ts'
import { layRelay } from './link.ts'
import { startSession } from './session.ts'
import { MBIT_BYTES_PER_MS, SEGMENT_BYTES, URGENT_INTERVAL_MS, URGENT_MESSAGE_BYTES } from './workload.ts'
import type { MuxerName } from '../contestants.ts'
import type { ConstantLink } from '../../testing/relay/link.ts'
import type { Metrics } from '../report/metrics.ts'
import type { TableRow } from '../report/table.ts'
import type { StopAtEnd } from '../../testing/programs/run.ts'
import type { Work } from './workload.ts'

/** An uplink of 10 Mbit/s, with what a router at home buffers */
const LINK: ConstantLink = { bytesPerMs: 10 * MBIT_BYTES_PER_MS, delayMs: 10, bufferBytes: 1_000_000, segmentBytes: SEGMENT_BYTES }
const WORK: Work = { scenario: 'plain', streams: 5, urgentIntervalMs: URGENT_INTERVAL_MS, warmUpMs: 2000, measuredMs: 3000 }

export const relayedUplink: TableRow = {
  id: 'uplink',
  label: `urgent ${URGENT_MESSAGE_BYTES} B beside\nbulk at 10 Mbit/s`,
  comparedBy: { metric: 'p99Ms', label: 'p99' }
}

export const relayedUplinkLegend = [
  `urgent    ${URGENT_MESSAGE_BYTES} B there and back every ${URGENT_INTERVAL_MS} ms, marked where the muxer has marks, beside ${WORK.streams} streams that send all`,
  `          they can through a relay that buffers ${LINK.bufferBytes / 1e6} MB and adds ${LINK.delayMs} ms each way. MB/s and CPU are of bulk; × stock`,
  '          and × mplex of p99, less is better. All muxers at once, each with a relay, in the first round; with --rounds in each'
]

/** All of them at once, for at this rate they take a tenth of a core each; in their order */
export async function measureRelayedUplinks (muxers: MuxerName[], nodeOptions: string[], stopAtEnd: StopAtEnd): Promise<Metrics[]> {
  const sessions = muxers.map(muxer => startSession({ id: muxer, label: muxer, muxer, isMarked: true }, layRelay(relayedUplink.id, LINK), WORK, nodeOptions))
  stopAtEnd(sessions)

  try {
    return await Promise.all(sessions.map(async (session, index) => {
      const metrics = await named(`${relayedUplink.id}, ${muxers[index]}`, session.measure)

      return { ...metrics, megabytesPerS: metrics.besideMegabytesPerS }
    }))
  } finally {
    await Promise.all(sessions.map(async session => session.stop()))
  }
}
