// The link by itself: when bytes arrive, and when the socket buffer is full.
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
  it('are their size by the rate, and the delay, on an empty link', async () => {
    expectArrivals(await arrivals(MEGABYTE_PER_S, send => { send(1000) }), [[1.05, 1000]])
    expectArrivals(await arrivals({ rateBytesPerS: 3e9, delayMs: 0 }, send => { send(10) }), [[10 / 3e6, 10]])
  })

  it('count from when the message is sent', async () => {
    expectArrivals(await arrivals(MEGABYTE_PER_S, async (send, sleep) => {
      await sleep(0.333)
      send(1000)
      await sleep(50)
      send(1)
    }), [[1.383, 1000], [50.384, 1]])
  })

  it('are one behind the other for messages that queue', async () => {
    expectArrivals(await arrivals(MEGABYTE_PER_S, async (send, sleep) => {
      send(1000)
      send(500)
      await sleep(1.2)
      send(100)
    }), [[1.05, 1000], [1.55, 500], [1.65, 100]])
  })

  it('are those of pieces no larger than a socket reads, each with its last byte', async () => {
    expectArrivals(await arrivals(MEGABYTE_PER_S, send => { send(150_000) }), [[65.586, 65_536], [131.122, 65_536], [150.05, 18_928]])
    expectArrivals(await arrivals({ ...MEGABYTE_PER_S, segmentBytes: 1460 }, send => { send(2000) }), [[1.51, 1460], [2.05, 540]])
  })

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

describe('a stall', () => {
  it('keeps what is sent from leaving, and what has left from arriving', async () => {
    const stalled = { ...MEGABYTE_PER_S, delayMs: 2, stalls: [{ atMs: 2.5, forMs: 100 }] }

    // the first is on its way, the second half sent, the third waits
    expectArrivals(await arrivals(stalled, send => { [1000, 1000, 1000].forEach(send) }), [[103, 1000], [104, 1000], [105, 1000]])
  })

  it('does not touch what arrives before it, or when it begins, and starts what is sent within it', async () => {
    const stalled = { ...MEGABYTE_PER_S, delayMs: 0, stalls: [{ atMs: 5, forMs: 3 }, { atMs: 1, forMs: 1 }, { atMs: 1.5, forMs: 1.5 }] }

    expectArrivals(await arrivals(stalled, async (send, sleep) => {
      send(1000)
      await sleep(2)
      send(500)
      await sleep(4)
      send(10)
    }), [[1, 1000], [3.5, 500], [8.01, 10]])
  })
})

describe('the socket buffer', () => {
  const small = { ...MEGABYTE_PER_S, socketBufferBytes: 3000 }

  it('says to wait when what is not on the wire reaches its size, and takes it all the same', async () => {
    await simulate({}, async sim => {
      const { diallerEnd, toListener } = sim.link(small)
      const answers = [1000, 1999, 1, 5000].map(byteLength => diallerEnd.send(new Uint8Array(byteLength)))

      expect(answers).toEqual([true, true, false, false])
      expect(toListener).toMatchObject({ sends: 4, largestSendBytes: 5000, bytesHandedDown: 8000, bytesOnWire: 0, unsentBytes: 8000, refusals: 2 })

      await sim.sleep(2.5)
      expect(toListener).toMatchObject({ bytesOnWire: 2500, bytesArrived: 1000 })
      await sim.idle()
      expect(toListener).toMatchObject({ bytesOnWire: 8000, bytesArrived: 8000, unsentBytes: 0, drains: 1 })
    })
  })

  it('says to go on once, when it is empty', async () => {
    await simulate({}, async sim => {
      const { diallerEnd } = sim.link(small)
      const drainedAtMs: number[] = []
      diallerEnd.addEventListener('drain', () => { drainedAtMs.push(performance.now()) })

      diallerEnd.send(new Uint8Array(4000))
      expect(diallerEnd.writableNeedsDrain).toBe(true)
      await sim.sleep(3.9)
      expect(diallerEnd.send(new Uint8Array(1000))).toBe(true)
      await diallerEnd.onDrain()
      expect(diallerEnd.writableNeedsDrain).toBe(false)

      diallerEnd.send(new Uint8Array(3000))
      await diallerEnd.onDrain()
      await sim.idle()

      expect(drainedAtMs).toEqual([expect.closeTo(5, MICROSECOND_DIGITS), expect.closeTo(8, MICROSECOND_DIGITS)])
    })
  })

  it('says to go on at its low mark, where it has one', async () => {
    await simulate({}, async sim => {
      const { diallerEnd, toListener } = sim.link({ ...small, drainAtBytes: 1000 })
      diallerEnd.send(new Uint8Array(4500))
      await diallerEnd.onDrain()

      expect(sim.nowMs).toBeCloseTo(3.5, MICROSECOND_DIGITS)
      expect(toListener.unsentBytes).toBe(1000)
      expect(diallerEnd.send(new Uint8Array(1999))).toBe(true)
      expect(diallerEnd.send(new Uint8Array(1))).toBe(false)
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
