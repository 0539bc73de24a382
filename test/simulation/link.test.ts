// The link by itself: what wire.test.ts has no model of, which are other rates, sizes that differ, two directions, and ends.
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, it } from 'vitest'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { LinkOptions } from '../../testing/simulation/link.ts'

/** A byte takes a microsecond */
const MEGABYTE_PER_S: LinkOptions = { rateBytesPerS: 1_000_000, delayMs: 0.05 }
const MICROSECOND_DIGITS = 6

interface Arrival {
  atMs: number
  byteLength: number
}

/** What arrives at the listener of a link on which `application` sends */
async function arrivals (options: LinkOptions, application: (send: (byteLength: number) => boolean, sleep: (forMs: number) => Promise<void>) => Promise<void> | void): Promise<Arrival[]> {
  return simulate({}, async sim => {
    const { diallerEnd, listenerEnd } = sim.link(options)
    const arrived: Arrival[] = []

    listenerEnd.addEventListener('message', evt => {
      arrived.push({ atMs: performance.now(), byteLength: evt.data.byteLength })
    })
    await application(byteLength => diallerEnd.send(new Uint8Array(byteLength)), async forMs => sim.sleep(forMs))
    await sim.idle()

    return arrived
  })
}

function expectArrivals (arrived: Arrival[], expected: Array<[atMs: number, byteLength: number]>): void {
  expect(arrived.map(({ byteLength }) => byteLength)).toEqual(expected.map(([, byteLength]) => byteLength))

  for (const [i, [atMs]] of expected.entries()) {
    expect(arrived[i].atMs).toBeCloseTo(atMs, MICROSECOND_DIGITS)
  }
}

describe('the instants at which bytes arrive', () => {
  it('are those of pieces of sizes that differ, if told to', async () => {
    const sizes = [1, 12, 500]

    expectArrivals(await arrivals({ ...MEGABYTE_PER_S, segmentBytes: () => sizes.shift() ?? 2000 }, send => { send(600) }), [[0.051, 1], [0.063, 12], [0.563, 500], [0.65, 87]])
  })

  it('are the delay alone where the rate has no limit', async () => {
    expectArrivals(await arrivals({ rateBytesPerS: Infinity, delayMs: 20 }, send => { send(100_000) }), [[20, 65_536], [20, 34_464]])
  })

  it('do not drift over many messages without a pause', async () => {
    const arrived = await arrivals({ rateBytesPerS: 7_000_000, delayMs: 1 }, send => {
      for (let i = 0; i < 10_000; i++) {
        send(333)
      }
    })

    expect(arrived.at(-1)?.atMs).toBeCloseTo(3_330_000 / 7000 + 1, MICROSECOND_DIGITS)
  })

  it('differ by direction where the link does', async () => {
    const [toListenerMs, toDiallerMs] = await simulate({}, async sim => {
      const { diallerEnd, listenerEnd } = sim.link({ ...MEGABYTE_PER_S, toDialler: { rateBytesPerS: 100_000, delayMs: 3 } })
      const arrived = [diallerEnd, listenerEnd].map(async end => new Promise<number>(resolve => {
        end.addEventListener('message', () => { resolve(sim.nowMs) })
      }))
      diallerEnd.send(new Uint8Array(1000))
      listenerEnd.send(new Uint8Array(1000))

      return Promise.all(arrived.reverse())
    })

    expect(toListenerMs).toBeCloseTo(1.05, MICROSECOND_DIGITS)
    expect(toDiallerMs).toBeCloseTo(13, MICROSECOND_DIGITS)
  })
})

describe('the socket buffer', () => {
  const small = { ...MEGABYTE_PER_S, socketBufferBytes: 3000 }

  it('takes what is sent after send() has returned false once it is empty, and says then to go on', async () => {
    await simulate({}, async sim => {
      const { diallerEnd } = sim.link(small)
      const drainedAtMs: number[] = []
      diallerEnd.addEventListener('drain', () => { drainedAtMs.push(performance.now()) })

      diallerEnd.send(new Uint8Array(4000))
      expect(diallerEnd.writableNeedsDrain).toBe(true)
      await sim.sleep(3.9)
      expect(diallerEnd.send(new Uint8Array(1000))).toBe(false)
      await diallerEnd.onDrain()
      expect(diallerEnd.writableNeedsDrain).toBe(false)

      diallerEnd.send(new Uint8Array(3000))
      await diallerEnd.onDrain()
      await sim.idle()

      expect(drainedAtMs).toEqual([expect.closeTo(4, MICROSECOND_DIGITS), expect.closeTo(8, MICROSECOND_DIGITS)])
    })
  })

  it('drains without time passing where the rate has no limit', async () => {
    await simulate({}, async sim => {
      const { diallerEnd } = sim.link({ ...small, rateBytesPerS: Infinity })

      expect(diallerEnd.send(new Uint8Array(3000))).toBe(false)
      await diallerEnd.onDrain()
      expect(sim.nowMs).toBe(0)
    })
  })
})

describe('an end of a link', () => {
  it('brings the bytes that were sent, although the sender uses its memory again', async () => {
    await simulate({}, async sim => {
      const { diallerEnd, listenerEnd } = sim.link(MEGABYTE_PER_S)
      const bytes = Uint8Array.of(1, 2, 3)
      const arrived = new Uint8ArrayList()
      listenerEnd.addEventListener('message', evt => { arrived.append(evt.data) })

      diallerEnd.send(bytes)
      diallerEnd.send(new Uint8ArrayList(bytes, Uint8Array.of(4)))
      bytes.fill(0)
      await sim.idle()

      expect(arrived.subarray()).toEqual(Uint8Array.of(1, 2, 3, 1, 2, 3, 4))
    })
  })

  it('closes when all is on the wire, the other one when all has arrived', async () => {
    await simulate({}, async sim => {
      const { diallerEnd, listenerEnd, toListener } = sim.link({ ...MEGABYTE_PER_S, delayMs: 7 })
      let closedAtMs = 0
      listenerEnd.addEventListener('close', () => { closedAtMs = sim.nowMs })

      diallerEnd.send(new Uint8Array(2000))
      await diallerEnd.close()
      expect(sim.nowMs).toBeCloseTo(2, MICROSECOND_DIGITS)
      await sim.idle()

      expect(closedAtMs).toBeCloseTo(9, MICROSECOND_DIGITS)
      expect(toListener.bytesArrived).toBe(2000)
      expect([diallerEnd.status, listenerEnd.status]).toEqual(['closed', 'closed'])
    })
  })

  it('that is aborted loses what is not on the wire, which the other one sees behind the rest', async () => {
    await simulate({}, async sim => {
      const { diallerEnd, listenerEnd, toListener } = sim.link({ ...MEGABYTE_PER_S, delayMs: 7, socketBufferBytes: 100 })
      let resetAtMs = 0
      listenerEnd.addEventListener('close', () => { resetAtMs = sim.nowMs })

      ;[1000, 1000, 1000].forEach(byteLength => diallerEnd.send(new Uint8Array(byteLength)))
      await sim.sleep(1.5)
      diallerEnd.abort(new Error('Out of order'))
      await sim.idle()

      expect(resetAtMs).toBeCloseTo(8.5, MICROSECOND_DIGITS)
      expect(toListener).toMatchObject({ bytesArrived: 1000, unsentBytes: 0 })
      expect([diallerEnd.status, listenerEnd.status]).toEqual(['aborted', 'reset'])
    })
  })
})
