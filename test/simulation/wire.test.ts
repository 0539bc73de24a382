// The wire against a model that counts one byte a millisecond, one millisecond after the other.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Timeline } from '../../testing/simulation/timeline.ts'
import { Wire } from '../../testing/simulation/wire.ts'
import type { WireOptions } from '../../testing/simulation/wire.ts'

/** A byte a millisecond: everything is in whole numbers, which floating point has exactly */
const rateBytesPerS = 1000
const LAST_MS = 1000

interface Sending {
  atMs: number
  byteLength: number
}

type Options = Required<Omit<WireOptions, 'pace' | 'longer'>> & { segmentBytes: number }

const optionsArbitrary: fc.Arbitrary<Options> = fc.record({
  rateBytesPerS: fc.constant(rateBytesPerS),
  delayMs: fc.nat(30),
  socketBufferBytes: fc.integer({ min: 6, max: 60 }),
  drainAtBytes: fc.nat(5),
  segmentBytes: fc.integer({ min: 1, max: 40 }),
  stalls: fc.array(fc.record({ atMs: fc.nat(150), forMs: fc.nat(40) }), { maxLength: 4 })
})
const sendingsArbitrary = fc.array(fc.record({ atMs: fc.nat(150), byteLength: fc.integer({ min: 1, max: 50 }) }), { maxLength: 12 })
  .map(sendings => sendings.sort((a, b) => a.atMs - b.atMs))

function runWire (options: Options, sendings: Sending[]): string[] {
  const timeline = new Timeline()
  const log: string[] = []
  const note = (what: string): void => { log.push(`${timeline.nowMs} ${what}`) }
  const wire = new Wire(timeline, options, {
    onArrived: ({ byteLength }) => { note(`arrived ${byteLength}`) },
    onDrain: () => { note(`drained to ${wire.unsentBytes}`) },
    onEnd () {},
    onReset () {}
  })

  for (const { atMs, byteLength } of sendings) {
    timeline.at(atMs, () => { note(`sent ${wire.send(new Uint8Array(byteLength)) ? 'freely' : 'too much'}, ${wire.unsentBytes} wait`) })
  }

  while (timeline.nextMs < Infinity) {
    timeline.runNext()
  }

  return log
}

function runModel (options: Options, sendings: Sending[]): string[] {
  const log: string[] = []
  const waiting: Array<{ left: number, byteLength: number }> = []
  const flying: Array<{ leftMs: number, byteLength: number }> = []
  const unsent = (): number => waiting.reduce((sum, { left }) => sum + left, 0)
  let needsDrain = false

  for (let nowMs = 0; nowMs <= LAST_MS; nowMs++) {
    const isStalled = options.stalls.some(({ atMs, forMs }) => nowMs > atMs && nowMs <= atMs + forMs)

    if (!isStalled) {
      flying.forEach(segment => { segment.leftMs-- })

      if (waiting.length > 0 && --waiting[0].left === 0) {
        flying.push({ leftMs: options.delayMs, byteLength: waiting[0].byteLength })
        waiting.shift()
      }
    }

    while (flying.length > 0 && flying[0].leftMs <= 0) {
      log.push(`${nowMs} arrived ${flying.shift()?.byteLength}`)
    }

    for (const { byteLength } of sendings.filter(({ atMs }) => atMs === nowMs)) {
      for (let left = byteLength; left > 0; left -= options.segmentBytes) {
        const segmentBytes = Math.min(left, options.segmentBytes)
        waiting.push({ left: segmentBytes, byteLength: segmentBytes })
      }

      const isFull = unsent() >= options.socketBufferBytes
      needsDrain ||= isFull
      log.push(`${nowMs} sent ${isFull ? 'too much' : 'freely'}, ${unsent()} wait`)
    }

    if (needsDrain && unsent() <= options.drainAtBytes) {
      needsDrain = false
      log.push(`${nowMs} drained to ${unsent()}`)
    }
  }

  return log
}

/** What happens at one instant has no order that matters here */
function sorted (log: string[]): string[] {
  return log.map((line, i) => ({ line, atMs: parseInt(line), i }))
    .sort((a, b) => a.atMs - b.atMs || a.line.localeCompare(b.line) || a.i - b.i)
    .map(({ line }) => line)
}

describe('a wire', () => {
  it('does what a model of it does, whatever is sent, with whatever stalls', () => {
    fc.assert(fc.property(optionsArbitrary, sendingsArbitrary, (options, sendings) => {
      expect(sorted(runWire(options, sendings))).toEqual(sorted(runModel(options, sendings)))
    }), { numRuns: 300 })
  })

  it('refuses what makes no wire', () => {
    const bad: Array<Partial<WireOptions>> = [{ rateBytesPerS: 0 }, { delayMs: -1 }, { delayMs: NaN }, { segmentBytes: 0 }, { socketBufferBytes: 100, drainAtBytes: 100 }]

    for (const options of bad) {
      expect(() => runWire({ rateBytesPerS, delayMs: 1, ...options } as Options, [])).toThrow(RangeError)
    }
  })
})
