// Messages that find the connection idle, in virtual time.
import { pEvent } from 'p-event'
import { median } from 'simple-statistics'
import { simulate } from '../../../testing/simulation/simulate.ts'
import { bytesAt, isAt } from '../../../testing/verified/pattern.ts'
import { setLane } from './variants.ts'
import { FAST_LINK, IDLE_DELAYS_MS, IDLE_INTERVAL_MS, IDLE_MESSAGES, NEARLY_A_WRITE_BYTES, URGENT_MESSAGE_BYTES, WARM_UP_MS } from './workload.ts'
import type { Stream } from '@libp2p/interface'
import type { Variant } from './variants.ts'

interface IdleMessage {
  lane: 'urgent' | 'others'
  byteLength: number
}

const IDLE_MESSAGES_SENT: IdleMessage[] = [
  { lane: 'urgent', byteLength: URGENT_MESSAGE_BYTES },
  { lane: 'others', byteLength: URGENT_MESSAGE_BYTES },
  { lane: 'others', byteLength: NEARLY_A_WRITE_BYTES }
]

async function latenciesMsOf ({ createMuxer, lanes }: Variant, delayMs: number, { lane, byteLength }: IdleMessage): Promise<number[]> {
  return simulate({}, async sim => {
    const { dialler, listener } = sim.connect({ ...FAST_LINK, delayMs }, { dialler: createMuxer, listener: createMuxer })
    const accepted = pEvent<'stream', CustomEvent<Stream>>(listener, 'stream')
    const stream = await dialler.createStream()
    const latenciesMs: number[] = []
    let verifiedBytes = 0

    if (lanes != null) {
      setLane(stream, lanes[lane])
    }

    const { detail: remote } = await accepted

    remote.addEventListener('message', ({ data }) => {
      if (!isAt(verifiedBytes, data.subarray())) {
        throw new Error(`Wrong bytes after ${verifiedBytes} right ones`)
      }

      verifiedBytes += data.byteLength
    })

    for (let message = 0; message < IDLE_MESSAGES; message++) {
      // the first sleep lets the round trip be measured
      await sim.sleep(message === 0 ? WARM_UP_MS : IDLE_INTERVAL_MS)
      const sentAtMs = sim.nowMs
      stream.send(bytesAt(message * byteLength, byteLength))
      await sim.until(() => verifiedBytes === (message + 1) * byteLength)
      latenciesMs.push(sim.nowMs - sentAtMs)
    }

    return latenciesMs
  })
}

/** p50 for each delay and in it for each message */
export async function simulateIdle (variant: Variant): Promise<number[]> {
  const p50sMs: number[] = []

  for (const delayMs of IDLE_DELAYS_MS) {
    for (const message of IDLE_MESSAGES_SENT) {
      p50sMs.push(median(await latenciesMsOf(variant, delayMs, message)))
    }
  }

  return p50sMs
}
