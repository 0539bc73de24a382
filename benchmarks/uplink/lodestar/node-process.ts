// A child process: the validator's node, which publishes at fixed times and answers whoever asks for blocks.
import { setTimeout as sleep } from 'node:timers/promises'
import { ATTESTATION_TOPICS } from '../../../test/lodestar/stack/gossip.ts'
import { createErrorLog } from '../../../test/lodestar/stack/log.ts'
import { Participant } from '../../../test/lodestar/stack/participant.ts'
import { eachInterval } from '../../studies/levels/sender.ts'
import { answer } from '../../harness/child.ts'
import { nowMs } from '../../clock.ts'
import { muxers } from '../../muxers.ts'
import { GOSSIP_BYTES, GOSSIP_INTERVAL_MS, PEERS, SUBSCRIBERS } from './workload.ts'
import type { MuxerName } from '../../muxers.ts'
import type { Window } from '../workload.ts'

export interface Published {
  messages: number
  /** How late publish() was called, of each message of the window */
  lateMs: Float64Array
}

const POLL_MS = 50
const LATEST_MESH_MS = 20_000

let node: Participant
let failure: unknown

function fail (err: unknown): void {
  failure ??= err
}

const commands = {
  async start (muxer: MuxerName, host: string): Promise<string> {
    node = await Participant.start({
      number: PEERS,
      muxers: [await muxers[muxer]()],
      maxPeers: PEERS,
      host,
      gossipBlockBytes: 0,
      logger: createErrorLog().logger,
      onFailure: (_, err) => { fail(err) }
    })

    return node.address
  },

  async untilMeshesAreWhole (): Promise<void> {
    const deadlineMs = nowMs() + LATEST_MESH_MS
    const sizes = (): number[] => ATTESTATION_TOPICS.map(topic => node.meshPeers(topic))

    while (sizes().some(size => size < SUBSCRIBERS)) {
      if (nowMs() > deadlineMs) {
        throw new Error(`After ${LATEST_MESH_MS / 1000} s the node's meshes are of ${sizes().join(', ')} instead of ${SUBSCRIBERS} peers`)
      }

      await sleep(POLL_MS)
    }
  },

  /** From now on until the end of the window */
  async publish ({ fromMs, toMs }: Window): Promise<Published> {
    const messages = Math.floor((toMs - nowMs()) / GOSSIP_INTERVAL_MS)
    const lateMs: number[] = []

    await eachInterval(messages, GOSSIP_INTERVAL_MS, nowMs, (_, dueMs) => {
      if (dueMs >= fromMs) {
        lateMs.push(nowMs() - dueMs)
      }

      node.attest(GOSSIP_BYTES, dueMs).catch(fail)
    })

    if (failure != null) {
      throw failure
    }

    return { messages, lateMs: Float64Array.from(lateMs) }
  }
}

export type NodeCommands = typeof commands

answer(commands)
