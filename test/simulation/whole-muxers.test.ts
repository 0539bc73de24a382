// The bound on bytes in flight with whole muxers beside none: bulk on 1 to 20 streams, and requests, over lines of all kinds. The first time is left
// to paths.test.ts: there TCP begins slowly as well.
import { quantile } from 'simple-statistics'
import { beforeAll, describe, expect, test } from 'vitest'
import { NoControl } from '../../src/path-control.ts'
import { linkOptions } from '../../testing/links/links.ts'
import { simulateWork } from '../../testing/links/simulated.ts'
import { muxers } from '../../testing/muxers.ts'
import { Random } from '../../testing/simulation/random.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import { bytesAt } from '../../testing/verified/pattern.ts'
import { replyReader } from '../../testing/verified/streams.ts'
import { between } from './paths/plan.ts'
import type { CreateMuxer } from '../../testing/muxers.ts'
import type { Link } from '../../testing/links/links.ts'

const SEEDS = 25
const TIMEOUT_MS = 120_000
const MBIT_BYTES_PER_MS = 125
const KIBIBYTE = 1024
/** So much of the line's time, but no more bytes than that, or fast lines would take minutes */
const BULK_MS = 4000
const MOST_BYTES = 8_000_000
/** On each stream, one after the other */
const REQUESTS = 10

const streamLimits = { maxInboundStreams: 1000, maxOutboundStreams: 1000, maxEarlyStreams: 1000 }
const bounded = await muxers.ours(streamLimits)
/** With the bounded one's quantum, so that both share the line alike */
const unbounded = await muxers.ours({ ...streamLimits, pathControl: init => new NoControl({ ...init, maxFrameBytes: init.frameBytes }) })

interface Drawn {
  link: Link
  socketBufferBytes: number
  streams: number
  messageBytes: number
  answerBytes: number
}

function draw (seed: number): Drawn {
  const random = new Random(seed)

  return {
    link: { id: `line-${seed}`, label: `line ${seed}`, bytesPerMs: MBIT_BYTES_PER_MS * between(random, 1, 200), roundTripMs: between(random, 1, 300) },
    socketBufferBytes: Math.round(between(random, 64 * KIBIBYTE, 4096 * KIBIBYTE)),
    streams: random.integer(1, 20),
    messageBytes: Math.round(between(random, 100, 256 * KIBIBYTE)),
    answerBytes: Math.round(between(random, KIBIBYTE, 512 * KIBIBYTE))
  }
}

/** Again, on the same streams */
async function bulkMs (createMuxer: CreateMuxer, { link, socketBufferBytes, streams, messageBytes }: Drawn): Promise<number> {
  const messages = Math.ceil(Math.min(MOST_BYTES, BULK_MS * link.bytesPerMs) / streams / messageBytes)
  const work = { id: 'bulk', label: 'bulk', streams, messageBytes, messages }
  const { again } = await simulateWork(link, work, { id: 'ours', label: 'ours', createMuxer, socketBufferBytes })

  return again.tookMs
}

/** Again, on the same streams */
async function requestsMs (createMuxer: CreateMuxer, { link, socketBufferBytes, streams, answerBytes }: Drawn): Promise<number> {
  return simulate({}, async sim => {
    const { dialler, listener } = sim.connect({ ...linkOptions(link), socketBufferBytes }, { dialler: createMuxer, listener: createMuxer })
    const answer = bytesAt(0, answerBytes)

    listener.addEventListener('stream', ({ detail: stream }) => {
      stream.addEventListener('message', () => { stream.send(answer) })
    })

    const opened = await Promise.all(Array.from({ length: streams }, async () => dialler.createStream()))
    const repliesOf = new Map(opened.map(stream => [stream, replyReader(stream, answerBytes)]))

    const ask = async (): Promise<void> => {
      await Promise.all(opened.map(async stream => {
        for (let request = 0; request < REQUESTS; request++) {
          stream.send(Uint8Array.of(request))
          expect((await repliesOf.get(stream)?.())?.byteLength).toBe(answerBytes)
        }
      }))
    }

    await ask()
    const againMs = sim.nowMs
    await ask()

    return sim.nowMs - againMs
  })
}

describe.each([
  ['bulk on 1 to 20 streams', bulkMs],
  ['answers of 1 to 512 KiB to requests on 1 to 20 streams', requestsMs]
])('%s', (_, measureMs) => {
  /** How long each takes with the bound, beside without it */
  let times: number[]

  beforeAll(async () => {
    times = []

    for (let seed = 1; seed <= SEEDS; seed++) {
      const drawn = draw(seed)
      times.push(await measureMs(bounded, drawn) / await measureMs(unbounded, drawn))
    }
  }, TIMEOUT_MS)

  test('take no longer with the bound than without it, within a hundredth in the median', () => {
    expect(quantile(times, 0.5)).toBeLessThanOrEqual(1.01)
  })

  test('take a twentieth longer at most, on whatever line', () => {
    expect(Math.max(...times)).toBeLessThanOrEqual(1.05)
  })
})
