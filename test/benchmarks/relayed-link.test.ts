// What a relay lets pass, and what it holds: the schedules by themselves, and one direction in virtual time.
import { Readable, Writable } from 'node:stream'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'
import { mbitOf, parseOpportunities } from '../../benchmarks/uplink/recording.ts'
import { carry } from '../../testing/relay/link.ts'
import { atOpportunities, atRate, PACKET_BYTES } from '../../testing/relay/schedule.ts'
import type { RelayedLink } from '../../testing/relay/link.ts'
import type { Schedule, Turn } from '../../testing/relay/schedule.ts'

const recorded = (...opportunitiesMs: number[]): Float64Array => Float64Array.from(opportunitiesMs)

function turnsOf (schedule: Schedule, byteLength: number, nowMs: number): Turn[] {
  const turns: Turn[] = []

  for (let missingBytes = byteLength; missingBytes > 0; missingBytes -= turns[turns.length - 1].byteLength) {
    turns.push(schedule(missingBytes, nowMs))
  }

  return turns
}

describe('a constant rate', () => {
  it('carries one segment after the other, each with its last byte', () => {
    expect(turnsOf(atRate(100, 1000), 2500, 50)).toEqual([{ byteLength: 1000, atMs: 60 }, { byteLength: 1000, atMs: 70 }, { byteLength: 500, atMs: 75 }])
  })

  it('saves up nothing while nothing waits', () => {
    const schedule = atRate(100)

    schedule(1000, 0)
    expect([schedule(1000, 5), schedule(1000, 100)]).toEqual([{ byteLength: 1000, atMs: 20 }, { byteLength: 1000, atMs: 110 }])
  })
})

describe('recorded opportunities', () => {
  it('carry a packet each, several in a millisecond if it was recorded so', () => {
    expect(turnsOf(atOpportunities(recorded(3, 3, 7), 0), 4000, 0)).toEqual([{ byteLength: 1500, atMs: 3 }, { byteLength: 1500, atMs: 3 }, { byteLength: 1000, atMs: 7 }])
  })

  it('carry what comes together in one packet, as long as it has room', () => {
    const schedule = atOpportunities(recorded(3, 7, 9), 0)

    expect([schedule(1000, 0), schedule(1000, 1), schedule(500, 2)]).toEqual([{ byteLength: 1000, atMs: 3 }, { byteLength: 500, atMs: 3 }, { byteLength: 500, atMs: 7 }])
  })

  it('are lost when nothing waits for them, and so is the rest of a packet', () => {
    const schedule = atOpportunities(recorded(3, 4, 5, 9), 0)

    expect([schedule(100, 0), schedule(100, 5), schedule(1500, 6)]).toEqual([{ byteLength: 100, atMs: 3 }, { byteLength: 100, atMs: 5 }, { byteLength: 1500, atMs: 9 }])
  })

  it('begin anew with the last one', () => {
    const schedule = atOpportunities(recorded(0, 4, 10), 1000)

    expect(turnsOf(schedule, 6 * PACKET_BYTES, 1000).map(({ atMs }) => atMs)).toEqual([1000, 1004, 1010, 1010, 1014, 1020])
    expect(schedule(1, 1_000_001).atMs).toBe(1_000_004)
  })

  test('carry a full packet each while enough waits, whatever is read at once', () => {
    fc.assert(fc.property(
      fc.array(fc.nat(20), { minLength: 1, maxLength: 20 }).map(times => [...times.sort((a, b) => a - b), 21]),
      fc.array(fc.integer({ min: 1, max: 70_000 }), { maxLength: 20 }),
      (times, reads) => {
        const schedule = atOpportunities(recorded(...times), 0)
        let carriedBytes = 0

        for (const { byteLength, atMs } of reads.flatMap(read => turnsOf(schedule, read, 0))) {
          const packet = Math.floor(carriedBytes / PACKET_BYTES)

          expect(atMs).toBe(times[packet % times.length] + 21 * Math.floor(packet / times.length))
          carriedBytes += byteLength
          expect(carriedBytes).toBeLessThanOrEqual((packet + 1) * PACKET_BYTES)
        }
      }
    ))
  })
})

describe('a direction of a relay', () => {
  beforeEach(() => { vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }) })
  afterEach(() => { vi.useRealTimers() })

  /** All of it is there at once */
  class Direction {
    readonly arrivals: Array<{ atMs: number, byteLength: number }> = []
    readonly #from = new Readable({ read () {} })
    #sentBytes = 0
    #blocked: (() => void) | undefined
    #isBlocked: boolean

    constructor (link: RelayedLink, isBlocked = false) {
      this.#isBlocked = isBlocked
      const to = new Writable({
        highWaterMark: 1,
        write: (bytes: Buffer, _, done) => {
          this.arrivals.push({ atMs: performance.now() - startMs, byteLength: bytes.byteLength })

          if (this.#isBlocked) {
            this.#blocked = done
          } else {
            done()
          }
        }
      })
      const startMs = performance.now()

      carry(this.#from, to, link, () => {})
    }

    send (byteLength: number): void {
      this.#from.push(Buffer.alloc(byteLength))
      this.#sentBytes += byteLength
    }

    unblock (): void {
      this.#isBlocked = false
      this.#blocked?.()
    }

    get arrivedBytes (): number {
      return this.arrivals.reduce((sum, { byteLength }) => sum + byteLength, 0)
    }

    /** What the relay has taken and not passed on */
    get heldBytes (): number {
      return this.#sentBytes - this.#from.readableLength - this.arrivedBytes
    }

    async sleep (forMs: number): Promise<void> {
      await vi.advanceTimersByTimeAsync(forMs)
    }
  }

  const LINK = { opportunitiesMs: recorded(10, 10, 11, 40), delayMs: 20, queueBytes: 4500 }

  it('passes a packet at each opportunity, a delay later, and begins the replay anew', async () => {
    const direction = new Direction(LINK)

    direction.send(100_000)
    await direction.sleep(91)

    expect(direction.arrivals).toEqual([
      { atMs: 30, byteLength: 1500 }, { atMs: 30, byteLength: 1500 }, { atMs: 31, byteLength: 1500 }, { atMs: 60, byteLength: 1500 },
      { atMs: 70, byteLength: 1500 }, { atMs: 70, byteLength: 1500 }, { atMs: 71, byteLength: 1500 }
    ])
  })

  it('takes no more than its queue has room for, beside what is on its way', async () => {
    const direction = new Direction(LINK)
    const heldBytes: number[] = []

    direction.send(100_000)

    for (const forMs of [5, 4, 1, 1, 18, 2]) {
      await direction.sleep(forMs)
      heldBytes.push(direction.heldBytes)
    }

    // at 5, 9, 10, 11, 29 and 31 ms
    expect(heldBytes).toEqual([4500, 4500, 7500, 9000, 9000, 4500])
  })

  it('loses the opportunities that find nothing', async () => {
    const direction = new Direction(LINK)

    await direction.sleep(15)
    direction.send(3000)
    await direction.sleep(100)

    expect(direction.arrivals.map(({ atMs }) => atMs)).toEqual([60, 70])
  })

  it('takes nothing more from its sender while its receiver takes nothing', async () => {
    const direction = new Direction({ ...LINK, delayMs: 0 }, true)

    direction.send(100_000)
    await direction.sleep(1000)
    // the first packet is stuck, the second on its way
    expect([direction.arrivedBytes, direction.heldBytes]).toEqual([1500, 1500 + 4500])

    direction.unblock()
    await direction.sleep(1000)
    expect(direction.arrivedBytes).toBeGreaterThan(100_000 - 4500)
  })

  it('carries a constant rate, and takes what its buffer holds with what is on its way', async () => {
    const direction = new Direction({ bytesPerMs: 100, delayMs: 20, bufferBytes: 3000, segmentBytes: 1000 })

    direction.send(1000)
    direction.send(2000)
    direction.send(5000)
    await direction.sleep(29)
    expect([direction.arrivedBytes, direction.heldBytes]).toEqual([0, 3000])

    await direction.sleep(100)
    expect(direction.arrivals.map(({ atMs }) => atMs)).toEqual([30, 40, 50, 60, 70, 80, 90, 100])
  })
})

describe('a recording', () => {
  it('is a line for each packet of 1500 bytes', () => {
    const opportunitiesMs = parseOpportunities('0\n1\n1\r\n4\n')

    expect(opportunitiesMs).toEqual(recorded(0, 1, 1, 4))
    expect(mbitOf({ name: '', opportunitiesMs })).toBe(12)
  })

  test.each([
    ['a line that is no millisecond', '0\n1.5', 'Line 2 is "1.5", not a millisecond from 0 on'],
    ['a line that goes back', '0\n5\n3', 'Line 3 is "3", not a millisecond from 5 on'],
    ['no line', '', 'Line 1 is "", not a millisecond from 0 on'],
    ['no duration', '0\n0\n', 'The recording ends where it begins, at 0']
  ])('is refused if it has %s', (_, text, message) => {
    expect(() => parseOpportunities(text)).toThrow(message)
  })
})
