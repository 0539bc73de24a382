// What the live page draws: the frames of a wire, told by their headers.
import { Uint8ArrayList } from 'uint8arraylist'
import { expect, test } from 'vitest'
import { FrameLog } from '../../live/contestant/frame-log.ts'
import { OneWay } from '../../live/contestant/one-way.ts'
import { concat, data, ping, SYN } from '../../testing/protocol/frames.ts'
import type { Cells } from '../../live/report.ts'

const URGENT_ID = 1
const BULK_ID = 3
const HEADER_BYTES = 12
const FRAME_BYTES = 112

/** A log of what a way of one byte a millisecond is sent and reads */
function setUp () {
  const log = new FrameLog(URGENT_ID)
  const way = new OneWay({ bytesPerMs: 1, delayMs: 0, bufferBytes: 1 })

  return {
    log,

    write (...parts: Uint8Array[]): void {
      log.onWrite(new Uint8ArrayList(...parts))
      way.send(new Uint8ArrayList(...parts), 0)
    },

    pass (ms: number): void {
      way.settle(ms)
      way.read()
      log.onRead(way.readBytes)
    },

    cells (nowMs: number): Cells {
      return log.cells(way, nowMs, 0)
    }
  }
}

function frameOf (id: number): Uint8Array {
  return data(id, new Uint8Array(FRAME_BYTES - HEADER_BYTES))
}

test('writes, their frames and their bytes are counted, however they are cut into parts', () => {
  const { log, write } = setUp()
  const bytes = concat(frameOf(BULK_ID), ping(1, SYN), frameOf(URGENT_ID))
  write(bytes.subarray(0, 5), bytes.subarray(5, 120), bytes.subarray(120))
  write(frameOf(BULK_ID))

  expect(log.totals).toEqual({ writes: 2, frames: 4, bytes: 3 * FRAME_BYTES + HEADER_BYTES })
})

test('a cell is a frame that is in flight, from when its first to when its last byte arrives', () => {
  const { write, pass, cells } = setUp()
  write(frameOf(BULK_ID), frameOf(URGENT_ID), ping(1, SYN))
  pass(12)

  expect(cells(12)).toEqual({
    fromMs: Float32Array.of(0, 100, 212),
    toMs: Float32Array.of(100, 212, 224),
    streamIds: Uint32Array.of(BULK_ID, URGENT_ID, 0)
  })
})

test('what has arrived has no cell', () => {
  const { write, pass, cells } = setUp()
  write(frameOf(BULK_ID), frameOf(URGENT_ID))
  pass(FRAME_BYTES)

  expect([...cells(FRAME_BYTES).streamIds]).toEqual([URGENT_ID])
})

test('neighbours share cells when there are many, urgent ones do not', () => {
  const { write, cells } = setUp()
  const frames = 100_000

  for (let i = 0; i < frames; i++) {
    write(frameOf(i % 1000 === 500 ? URGENT_ID : BULK_ID))
  }

  const { fromMs, toMs, streamIds } = cells(0)

  expect(streamIds.length).toBeLessThan(2000)
  expect(streamIds.filter(id => id === URGENT_ID)).toHaveLength(frames / 1000)
  expect([...toMs.slice(0, -1)]).toEqual([...fromMs.slice(1)])
  expect(toMs.at(-1)).toBe(frames * FRAME_BYTES)
})

test('the last writes are told with the frames of each', () => {
  const { log, write } = setUp()

  for (let i = 0; i < 100; i++) {
    write(frameOf(BULK_ID))
  }

  write(ping(1, SYN), frameOf(URGENT_ID))
  const { frameCounts, frameBytes, streamIds } = log.lastWrites()

  expect(frameCounts.length).toBeGreaterThan(20)
  expect([...frameCounts.slice(-2)]).toEqual([1, 2])
  expect([...frameBytes.slice(-3)]).toEqual([FRAME_BYTES, HEADER_BYTES, FRAME_BYTES])
  expect([...streamIds.slice(-3)]).toEqual([BULK_ID, 0, URGENT_ID])
})
