// The workloads in virtual time, on a simulated link: exact figures, the same in every run.
import { pEvent } from 'p-event'
import { median } from 'simple-statistics'
import { simulate } from '../../../test/simulation/simulate.ts'
import { bytesAt, isAt } from '../../scenarios/pattern.ts'
import { toMetrics } from './measured.ts'
import { createReceiver } from './receiver.ts'
import { createSender, setLane } from './sender.ts'
import { variants } from './variants.ts'
import { FAST_LINK, IDLE_DELAYS_MS, IDLE_INTERVAL_MS, IDLE_MESSAGES, NEARLY_A_WRITE_BYTES, SATURATED, SIMULATED_PHASES, URGENT_MESSAGE_BYTES } from './workload.ts'
import type { Measured, Sample } from './measured.ts'
import type { Variant } from './variants.ts'
import type { LinkOptions } from '../../../test/simulation/link.ts'
import type { ConnectedMuxers, Simulation } from '../../../test/simulation/simulate.ts'
import type { Stream, StreamMuxer } from '@libp2p/interface'

const BYTES_PER_MEGABIT = 125_000
const SEGMENT_BYTES = 1460

function connect (sim: Simulation, variant: Variant, link: LinkOptions): ConnectedMuxers<StreamMuxer, StreamMuxer> {
  return sim.connect(link, { dialler: variant.createMuxer, listener: variant.createMuxer })
}

async function measureSaturated (variant: Variant, link: LinkOptions): Promise<Measured> {
  const { warmUpMs, measuredMs } = SIMULATED_PHASES

  return simulate({}, async sim => {
    const nowMs = (): number => sim.nowMs
    const { dialler, listener, toListener } = connect(sim, variant, link)
    const receiver = createReceiver({ nowMs, passedBytes: () => toListener.bytesArrived })

    listener.addEventListener('stream', evt => { receiver.onStream(evt.detail) })
    const sender = await createSender(async () => dialler.createStream(), variant.lanes, { nowMs, passedBytes: () => toListener.bytesHandedDown })
    const watched = receiver.watch(SIMULATED_PHASES)

    sender.startBulk()
    const [shares, sent] = await Promise.all([watched, sender.sendUrgent(warmUpMs + measuredMs)])
    const arrived = await receiver.arrived(await sender.stopBulk())
    await sender.close()

    return { ...sent, ...arrived, shares, phases: SIMULATED_PHASES }
  })
}

interface IdleMessage {
  lane: 'urgent' | 'others'
  byteLength: number
}

/** The latencies of messages that find the connection idle */
async function measureIdle (variant: Variant, delayMs: number, { lane, byteLength }: IdleMessage): Promise<number[]> {
  return simulate({}, async sim => {
    const { dialler, listener } = connect(sim, variant, { ...FAST_LINK, delayMs })
    const accepted = pEvent<'stream', CustomEvent<Stream>>(listener, 'stream')
    const stream = await dialler.createStream()
    const latenciesMs: number[] = []
    let verifiedBytes = 0

    if (variant.lanes != null) {
      setLane(stream, variant.lanes[lane])
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
      await sim.sleep(message === 0 ? SIMULATED_PHASES.warmUpMs : IDLE_INTERVAL_MS)
      const sentAtMs = sim.nowMs
      stream.send(bytesAt(message * byteLength, byteLength))
      await sim.until(() => verifiedBytes === (message + 1) * byteLength)
      latenciesMs.push(sim.nowMs - sentAtMs)
    }

    return latenciesMs
  })
}

const IDLE_MESSAGES_SENT: IdleMessage[] = [
  { lane: 'urgent', byteLength: URGENT_MESSAGE_BYTES },
  { lane: 'others', byteLength: URGENT_MESSAGE_BYTES },
  { lane: 'others', byteLength: NEARLY_A_WRITE_BYTES }
]

export interface Simulated {
  /** One entry for each of SATURATED */
  saturated: Sample[][]
  /** By variant, p50 for each of IDLE_DELAYS_MS and in it for each message */
  idleP50Ms: Record<string, number[]>
}

export async function simulateAll (): Promise<Simulated> {
  const saturated: Sample[][] = []
  const idleP50Ms: Record<string, number[]> = {}

  for (const { megabitsPerS, roundTripMs, socketBufferBytes } of SATURATED) {
    const link = { rateBytesPerS: megabitsPerS * BYTES_PER_MEGABIT, delayMs: roundTripMs / 2, segmentBytes: SEGMENT_BYTES, socketBufferBytes }
    const samples: Sample[] = []

    for (const variant of variants) {
      samples.push({ variantId: variant.id, round: 1, metrics: toMetrics(await measureSaturated(variant, link)) })
    }

    saturated.push(samples)
  }

  for (const variant of variants) {
    idleP50Ms[variant.id] = []

    for (const delayMs of IDLE_DELAYS_MS) {
      for (const message of IDLE_MESSAGES_SENT) {
        idleP50Ms[variant.id].push(median(await measureIdle(variant, delayMs, message)))
      }
    }
  }

  return { saturated, idleP50Ms }
}
