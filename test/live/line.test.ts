// The simulated line of the live page, by a clock that the tests hold.
import fc from 'fast-check'
import { Uint8ArrayList } from 'uint8arraylist'
import { expect, test } from 'vitest'
import { Line } from '../../live/contestant/line.ts'
import { pattern } from '../../testing/pattern.ts'
import type { LineOptions } from '../../live/contestant/line.ts'

const KIBIBYTE = 1024

function listOf (byteLength: number): Uint8ArrayList {
  return new Uint8ArrayList(pattern(byteLength, 1))
}

function readAll (line: Line): Uint8Array[] {
  const bytes = line.read()

  return bytes.byteLength === 0 ? [] : [bytes, ...readAll(line)]
}

test('bytes leave at the rate and arrive a delay later', () => {
  const line = new Line({ bytesPerMs: 10, delayMs: 20, bufferBytes: KIBIBYTE })
  line.send(listOf(500), 100)
  const arrivedBytes = [119, 120, 130, 145, 170, 200].map(nowMs => {
    // as often as a link does
    for (let tickMs = nowMs - 30; tickMs <= nowMs; tickMs++) {
      line.settle(Math.max(100, tickMs))
    }

    return line.arrivedBytes
  })

  expect(arrivedBytes).toEqual([0, 0, 100, 250, 500, 500])
})

test('time in which there is nothing to send is not made up for', () => {
  const line = new Line({ bytesPerMs: 10, delayMs: 0, bufferBytes: KIBIBYTE })
  line.settle(1000)
  line.send(listOf(500), 1000)
  line.settle(1010)

  expect(line.arrivedBytes).toBe(100)
})

test('it says when bytes will arrive, those that have left and those that have not', () => {
  const line = new Line({ bytesPerMs: 10, delayMs: 20, bufferBytes: KIBIBYTE })
  line.send(listOf(500), 0)
  line.settle(5)
  line.settle(10)

  expect([...line.arrivalsMs(Float64Array.of(50, 100, 110, 500), 10, 0)]).toEqual([15, 20, 21, 60])
})

test('without a rate, bytes arrive as fast as they have been read lately', () => {
  const line = new Line({ bytesPerMs: Infinity, delayMs: 0, bufferBytes: KIBIBYTE })
  line.send(listOf(500), 0)

  expect([...line.arrivalsMs(Float64Array.of(100, 500), 0, 50)]).toEqual([2, 10])
})

test('it is full when its buffer is, and drains when a third of that is free', () => {
  const line = new Line({ bytesPerMs: 1, delayMs: 0, bufferBytes: 900 })

  expect(line.send(listOf(899), 0)).toBe(true)
  expect(line.send(listOf(1), 0)).toBe(false)
  line.settle(299)
  readAll(line)
  expect(line.takeDrained()).toBe(false)
  line.settle(300)
  readAll(line)
  expect(line.takeDrained()).toBe(true)
  expect(line.takeDrained()).toBe(false)
})

test('what nobody reads fills it as well', () => {
  const line = new Line({ bytesPerMs: Infinity, delayMs: 0, bufferBytes: 900 })
  line.send(listOf(800), 0)
  line.settle(1)

  expect(line.send(listOf(100), 2)).toBe(false)
})

test('a change of the rate is for what comes after it', () => {
  const line = new Line({ bytesPerMs: 10, delayMs: 0, bufferBytes: KIBIBYTE })
  line.send(listOf(500), 0)
  line.change({ bytesPerMs: 1, delayMs: 0, bufferBytes: KIBIBYTE }, 10)
  line.settle(30)

  expect(line.arrivedBytes).toBe(120)
})

test('what is read is what was sent, whatever the sizes and times', () => {
  const options: fc.Arbitrary<LineOptions> = fc.record({
    bytesPerMs: fc.constantFrom(1.7, 1000, 100_000, Infinity),
    delayMs: fc.constantFrom(0, 3.5),
    bufferBytes: fc.constant(KIBIBYTE)
  })
  const steps = fc.array(fc.record({ sizes: fc.array(fc.nat(150_000), { maxLength: 4 }), passMs: fc.nat(20), reads: fc.nat(10) }), { maxLength: 12 })

  fc.assert(fc.property(options, steps, (options, steps) => {
    const line = new Line(options)
    const sent: Uint8Array[] = []
    const read: Uint8Array[] = []
    let nowMs = 0

    for (const { sizes, passMs, reads } of steps) {
      const parts = sizes.map((size, i) => pattern(size, i + nowMs))
      sent.push(...parts)
      line.send(new Uint8ArrayList(...parts), nowMs)
      nowMs += passMs
      line.settle(nowMs)

      for (let i = 0; i < reads; i++) {
        read.push(line.read())
      }
    }

    line.settle(nowMs += 1e9)
    line.settle(nowMs += 1e9)
    read.push(...readAll(line))

    expect(Buffer.concat(read).equals(Buffer.concat(sent))).toBe(true)
    expect(line.isBusy).toBe(false)
  }))
})
