// A program of `peers` as the end that sends bulk, and verifies that of the other end: what end-process.ts does, in the peers' lines.
import { PeerProcess } from '../../peers/process.ts'
import { nowMs } from '../../testing/programs/clock.ts'
import { BULK_MESSAGE_BYTES, LATEST_ECHO_MS, URGENT_MESSAGE_BYTES } from './workload.ts'
import type { PeerKind } from '../../peers/list.ts'
import type { Sender } from './end-process.ts'

/** Of each stream: how often it tells how much is right, if the other end sends too */
const REPLY_EVERY_BYTES = 16_384

/** `runsAt` comes ahead of its command line */
export function startNativeSender ({ name, command }: PeerKind, runsAt: string[]): Sender {
  const program = new PeerProcess({ name, command: [...runsAt, ...command] })

  return {
    commands: {
      // it listens nowhere
      start: async () => [],
      async dial ([address]) { await program.call('dial', address) },

      async open (bulkStreams) {
        await program.call('verify-messages', bulkStreams, REPLY_EVERY_BYTES)
        await program.call('open-bulk-and-urgent', bulkStreams)
      },

      async startBulk () { await program.call('send-bulk', BULK_MESSAGE_BYTES) },

      async measure ({ fromMs, toMs }, urgentIntervalMs) {
        const beginMs = nowMs()
        const timesMs = [fromMs, toMs, toMs + LATEST_ECHO_MS].map(atMs => Math.round(atMs - beginMs))
        const { latenciesMs, lateMs, spent } = JSON.parse(await program.call('send-urgent', URGENT_MESSAGE_BYTES, urgentIntervalMs, ...timesMs))

        // what it hands down is not known, and the other end counts what it has verified
        return { latenciesMs: Float64Array.from(latenciesMs), lateMs: Float64Array.from(lateMs), bulkBytes: 0, verifiedBytes: 0, cpuMs: spent.cpuMs, instants: [] }
      }
    },

    stop: async () => program.kill()
  }
}
