// One direction of the live page's simulated link, by a clock that the tests hold.
import fc from 'fast-check'
import { Uint8ArrayList } from 'uint8arraylist'
import { expect, test } from 'vitest'
import { OneWay } from '../../live/contestant/one-way.ts'
import { pattern } from '../../testing/pattern.ts'
import type { OneWayOptions } from '../../live/contestant/one-way.ts'

const KIBIBYTE = 1024

function listOf (byteLength: number): Uint8ArrayList {
  return new Uint8ArrayList(pattern(byteLength, 1))
}

function readAll (way: OneWay): Uint8Array[] {
  const bytes = way.read()

  return bytes.byteLength === 0 ? [] : [bytes, ...readAll(way)]
}

test('bytes leave at the rate and arrive a delay later', () => {
  const way = new OneWay({ bytesPerMs: 10, delayMs: 20, bufferBytes: KIBIBYTE })
  way.send(listOf(500), 100)
  const arrivedBytes = [119, 120, 130, 145, 170, 200].map(nowMs => {
    // as often as a link does
    for (let tickMs = nowMs - 30; tickMs <= nowMs; tickMs++) {
      way.settle(Math.max(100, tickMs))
    }

    return way.arrivedBytes
  })

  expect(arrivedBytes).toEqual([0, 0, 100, 250, 500, 500])
})

test('time in which there is nothing to send is not made up for', () => {
  const way = new OneWay({ bytesPerMs: 10, delayMs: 0, bufferBytes: KIBIBYTE })
  way.settle(1000)
  way.send(listOf(500), 1000)
  way.settle(1010)

  expect(way.arrivedBytes).toBe(100)
})

test('it says when bytes will arrive, those that have left and those that have not', () => {
  const way = new OneWay({ bytesPerMs: 10, delayMs: 20, bufferBytes: KIBIBYTE })
  way.send(listOf(500), 0)
  way.settle(5)
  way.settle(10)

  expect([...way.arrivalsMs(Float64Array.of(50, 100, 110, 500), 10, 0)]).toEqual([15, 20, 21, 60])
})

test('without a rate, bytes arrive as fast as they have been read lately', () => {
  const way = new OneWay({ bytesPerMs: Infinity, delayMs: 0, bufferBytes: KIBIBYTE })
  way.send(listOf(500), 0)

  expect([...way.arrivalsMs(Float64Array.of(100, 500), 0, 50)]).toEqual([2, 10])
})

test('it is full when its buffer is, and drains when a third of that is free', () => {
  const way = new OneWay({ bytesPerMs: 1, delayMs: 0, bufferBytes: 900 })

  expect(way.send(listOf(899), 0)).toBe(true)
  expect(way.send(listOf(1), 0)).toBe(false)
  way.settle(299)
  readAll(way)
  expect(way.takeDrained()).toBe(false)
  way.settle(300)
  readAll(way)
  expect(way.takeDrained()).toBe(true)
  expect(way.takeDrained()).toBe(false)
})

test('what nobody reads fills it as well', () => {
  const way = new OneWay({ bytesPerMs: Infinity, delayMs: 0, bufferBytes: 900 })
  way.send(listOf(800), 0)
  way.settle(1)

  expect(way.send(listOf(100), 2)).toBe(false)
})

test('a change of the rate is for what comes after it', () => {
  const way = new OneWay({ bytesPerMs: 10, delayMs: 0, bufferBytes: KIBIBYTE })
  way.send(listOf(500), 0)
  way.change({ bytesPerMs: 1, delayMs: 0, bufferBytes: KIBIBYTE }, 10)
  way.settle(30)

  expect(way.arrivedBytes).toBe(120)
})

test('what is read is what was sent, whatever the sizes and times', () => {
  const options: fc.Arbitrary<OneWayOptions> = fc.record({
    bytesPerMs: fc.constantFrom(1.7, 1000, 100_000, Infinity),
    delayMs: fc.constantFrom(0, 3.5),
    bufferBytes: fc.constant(KIBIBYTE)
  })
  const steps = fc.array(fc.record({ sizes: fc.array(fc.nat(150_000), { maxLength: 4 }), passMs: fc.nat(20), reads: fc.nat(10) }), { maxLength: 12 })

  fc.assert(fc.property(options, steps, (options, steps) => {
    const way = new OneWay(options)
    const sent: Uint8Array[] = []
    const read: Uint8Array[] = []
    let nowMs = 0

    for (const { sizes, passMs, reads } of steps) {
      const parts = sizes.map((size, i) => pattern(size, i + nowMs))
      sent.push(...parts)
      way.send(new Uint8ArrayList(...parts), nowMs)
      nowMs += passMs
      way.settle(nowMs)

      for (let i = 0; i < reads; i++) {
        read.push(way.read())
      }
    }

    way.settle(nowMs += 1e9)
    way.settle(nowMs += 1e9)
    read.push(...readAll(way))

    expect(Buffer.concat(read).equals(Buffer.concat(sent))).toBe(true)
    expect(way.isBusy).toBe(false)
  }))
})
