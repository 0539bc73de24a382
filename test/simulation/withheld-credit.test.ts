// Bulk and small messages of a stock muxer, over links of a fixed rate, to a receiver that withholds credit and to one that does not.
import { describe, expect, test } from 'vitest'
import { ForwardingControl, fullControl } from '../../src/path-control.ts'
import { muxers } from '../../testing/muxers.ts'
import { KERNEL, MBIT_BYTES_PER_S, measureBulk } from '../../testing/simulation/bulk.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { CreateMuxer } from '../../testing/muxers.ts'
import type { Arrived } from '../../testing/simulation/bulk.ts'

const MESSAGE_BYTES = 100
/** A Noise record */
const SEGMENT_BYTES = 65_519
const TIMEOUT_MS = 60_000

const limits = { maxInboundStreams: 100, maxOutboundStreams: 100, maxEarlyStreams: 100 }
const stock = await muxers.stock(limits)
const usual = await muxers.ours(limits)
/** Its windows grow by the whole round trip */
const light = await muxers.light(limits)
const withholding = await muxers.ours({ ...limits, coalesce: { maxPeerQueueDelayMs: 25 } })

interface Work {
  mbit: number
  streams: number
  roundTripMs: number
  measuredMs?: number
}

/** What the sender's bulk and messages do */
async function measure (receiver: CreateMuxer, { mbit, streams, ...work }: Work, sender = stock): Promise<Arrived> {
  const [arrived] = await measureBulk({ createMuxer: sender, mbit, streams }, { createMuxer: receiver, mbit, streams: 0 }, { ...work, segmentBytes: SEGMENT_BYTES })

  return arrived
}

describe('while a stock muxer sends all it can', () => {
  test.each<Work>([
    { mbit: 2, streams: 5, roundTripMs: 0 },
    { mbit: 10, streams: 1, roundTripMs: 40 },
    { mbit: 10, streams: 5, roundTripMs: 40 },
    { mbit: 50, streams: 20, roundTripMs: 40 }
  ])('its messages take a sixth of the time at $mbit Mbit/s, $streams streams and $roundTripMs ms, and bulk loses a fortieth at most', async work => {
    const [before, now] = [await measure(usual, work), await measure(withholding, work)]

    expect(now.p99Ms).toBeLessThan(before.p99Ms / 6)
    expect(now.bulkBytes).toBeGreaterThan(before.bulkBytes * 0.975)
  }, TIMEOUT_MS)

  test.each([1, 5])('%d windows that do not grow by its queue leave it shorter on a short path, also where nothing is withheld', async streams => {
    const work = { mbit: 10, streams, roundTripMs: 0 }
    const [before, now] = [await measure(light, work), await measure(usual, work)]

    expect(now.p99Ms).toBeLessThan(0.6 * before.p99Ms)
    expect(now.bulkBytes).toBeGreaterThan(before.bulkBytes * 0.99)
  }, TIMEOUT_MS)

  test('over 1 Gbit/s nothing changes', async () => {
    const work = { mbit: 1000, streams: 5, roundTripMs: 1, measuredMs: 4000 }

    expect((await measure(withholding, work)).bulkBytes).toBeGreaterThan((await measure(usual, work)).bulkBytes * 0.99)
  }, TIMEOUT_MS)
})

// 200 times a second, by a timer for held data
test('while nothing of this side is held, its path control is not asked to look', async () => {
  let looks = 0
  const createControl = fullControl()

  class CountingControl extends ForwardingControl {
    override look (nowMs: number): void {
      looks++
      super.look(nowMs)
    }
  }

  const counting = await muxers.ours({ ...limits, coalesce: { maxPeerQueueDelayMs: 25 }, pathControl: (init, positions) => new CountingControl(createControl(init, positions)) })
  const { p99Ms } = await measure(counting, { mbit: 10, streams: 5, roundTripMs: 40 })

  expect(p99Ms).toBeLessThan(200)
  expect(looks).toBe(0)
}, TIMEOUT_MS)

test('beside a sender that bounds its own data it withholds nothing', async () => {
  const work = { mbit: 10, streams: 5, roundTripMs: 40 }

  const [before, now] = [await measure(usual, work, usual), await measure(withholding, work, usual)]

  expect(now.p99Ms).toBeCloseTo(before.p99Ms, 0)
  expect(now.bulkBytes / before.bulkBytes).toBeCloseTo(1, 2)
}, TIMEOUT_MS)

describe('an answer on a new stream', () => {
  test.each([[2, 100], [10, 0], [10, 40], [10, 200], [50, 20], [50, 200], [1000, 20], [1000, 200]])('takes no longer at %d Mbit/s and %d ms', async (mbit, roundTripMs) => {
    const answersMs = async (receiver: CreateMuxer, answerBytes: number): Promise<number[]> => simulate({}, async sim => {
      const { dialler, listener } = sim.connect({ ...KERNEL, segmentBytes: SEGMENT_BYTES, rateBytesPerS: mbit * MBIT_BYTES_PER_S, delayMs: roundTripMs / 2 + 0.1 }, { dialler: receiver, listener: stock })
      const took: number[] = []

      listener.addEventListener('stream', ({ detail: stream }) => {
        stream.addEventListener('message', () => {
          stream.send(new Uint8Array(answerBytes))
          stream.close().catch(() => {})
        }, { once: true })
      })
      await sim.sleep(4 * roundTripMs + 20)

      for (let request = 0; request < 8; request++) {
        const fromMs = sim.nowMs
        const stream = await dialler.createStream()
        let receivedBytes = 0

        stream.addEventListener('message', ({ data }) => { receivedBytes += data.byteLength })
        stream.send(new Uint8Array(MESSAGE_BYTES))
        await sim.until(() => receivedBytes === answerBytes)
        took.push(sim.nowMs - fromMs)
        stream.close().catch(() => {})
        await sim.sleep(roundTripMs)
      }

      return took
    })

    for (const answerBytes of [65_536, 1_048_576, 4_194_304]) {
      const [before, now] = [await answersMs(usual, answerBytes), await answersMs(withholding, answerBytes)]

      now.forEach((tookMs, index) => { expect(tookMs).toBeLessThan(1.03 * before[index]) })
    }
  }, TIMEOUT_MS)
})
