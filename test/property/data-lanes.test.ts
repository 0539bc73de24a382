// The law of the lanes: who is in front goes first, and nobody who waits is passed by more than the bound.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_OVERTAKEN_BYTES } from '../../src/core/scheduler/lanes.ts'
import { LANES } from '../../src/core/scheduler/lane.ts'
import { createDataLanes, createStream, fillBatch, FRAME_BYTES } from '../../testing/core/lanes.ts'
import { pattern } from '../../testing/protocol/frames.ts'
import type { StreamState } from '../../src/core/stream-state.ts'

/** Each lane that was passed for too long sends one frame before those behind it */
const LARGEST_OVERSHOOT_BYTES = 2 * FRAME_BYTES

const streamIndex = fc.nat(5)
const steps = fc.array(fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('write' as const), index: streamIndex, bytes: fc.integer({ min: 1, max: 120_000 }) }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('fill' as const), maxBytes: fc.integer({ min: 2048, max: 140_000 }) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('move' as const), index: streamIndex, lane: fc.nat(2) }) }
), { minLength: 20, maxLength: 80, size: 'max' })

function queuedBytes (streams: StreamState[], lane: number): number {
  return streams.reduce((sum, stream) => sum + (stream.lane === lane ? stream.sendQueue.byteLength : 0), 0)
}

test('a lane with data is passed by no more than 128 KiB, and what a batch leaves free for urgent data', () => {
  fc.assert(fc.property(fc.constantFrom(0, 1000, 16_384), fc.constantFrom(1, 20), steps, (reservedBytes, urgentWrites, steps) => {
    const lanes = createDataLanes()
    const streams = Array.from({ length: 6 }, (_, id) => createStream(id))
    const passedBytes = LANES.map(() => 0)
    let largestBatchBytes = 0
    let isWithinBound = true

    streams.forEach((stream, i) => {
      stream.lane = i % LANES.length
      stream.creditBytes += 1_000_000_000
    })

    const write = (stream: StreamState, bytes: number): void => {
      stream.sendQueue.push(pattern(bytes))
      lanes.onQueued(stream, bytes)
    }

    for (const step of steps) {
      if (step.does === 'write') {
        write(streams[step.index], step.bytes)
      } else if (step.does === 'move') {
        lanes.move(streams[step.index], step.lane)
        // who waits in a lane may be another now
        passedBytes.fill(0)
      } else {
        // the urgent never rest
        for (let i = 0; i < urgentWrites; i++) {
          write(streams[0], 10_000)
        }

        largestBatchBytes = Math.max(largestBatchBytes, reservedBytes + step.maxBytes)
        const waitingBytes = LANES.map((_, lane) => queuedBytes(streams, lane))
        const frames = fillBatch(batch => { lanes.fill(batch, reservedBytes, 0, false, false) }, reservedBytes + step.maxBytes)

        for (const { id, length } of frames) {
          const { lane } = streams[id]
          waitingBytes[lane] -= length
          passedBytes[lane] = 0

          for (let behind = lane + 1; behind < LANES.length; behind++) {
            passedBytes[behind] = waitingBytes[behind] > 0 ? passedBytes[behind] + length : 0
          }

          const boundBytes = MAX_OVERTAKEN_BYTES + LARGEST_OVERSHOOT_BYTES + (reservedBytes > 0 ? largestBatchBytes : 0)
          isWithinBound &&= passedBytes.every(bytes => bytes < boundBytes)
        }
      }
    }

    expect(isWithinBound).toBe(true)
  }), { numRuns: 40 })
})
