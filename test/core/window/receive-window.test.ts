// What the peer may send on a stream, and when it is given more.
import { describe, expect, test } from 'vitest'
import { ReceiveWindow, UPDATE_PART } from '../../../src/core/window/receive-window.ts'
import { noTuning } from '../../../testing/core/lanes.ts'

const INITIAL_BYTES = 262_144
/** Half of the window, a hair less: see UPDATE_PART */
const HALF_BYTES = Math.ceil(UPDATE_PART * INITIAL_BYTES)
const MAX_BYTES = 16_777_216

function createWindow (initialBytes = INITIAL_BYTES): ReceiveWindow {
  return new ReceiveWindow(initialBytes, MAX_BYTES)
}

function takeUpdate (window: ReceiveWindow): number {
  return window.takeUpdate(0, noTuning)
}

/** Reads so much, and tells whether an update is due */
function read (window: ReceiveWindow, bytes: number): boolean {
  window.read(bytes, 0)

  return window.isUpdateDue(0, noTuning)
}

describe('a window of 256 KiB', () => {
  test('takes 262,144 bytes and not one more', () => {
    const window = createWindow()
    window.receive(262_143, 1)
    window.receive(1, 1)

    expect(window.availableBytes).toBe(0)
    expect(() => { window.receive(1, 1) }).toThrow(expect.objectContaining({ code: 'ERR_RECEIVE_WINDOW_EXCEEDED' }))
  })

  test('refuses a frame that is too long with the numbers, and is as it was', () => {
    const window = createWindow()
    window.receive(262_044, 42)

    expect(() => { window.receive(101, 42) }).toThrow(expect.objectContaining({
      code: 'ERR_RECEIVE_WINDOW_EXCEEDED',
      goAwayCode: 1,
      message: 'received 101 bytes on stream 42, allowed 100'
    }))
    expect(window.availableBytes).toBe(100)
  })

  test('is not opened by receiving or reading, only by an update', () => {
    const window = createWindow()
    window.receive(HALF_BYTES, 1)
    window.read(HALF_BYTES, 0)

    expect(window.availableBytes).toBe(INITIAL_BYTES - HALF_BYTES)
    expect(takeUpdate(window)).toBe(HALF_BYTES)
    expect(window.availableBytes).toBe(INITIAL_BYTES)
  })

  test('owes an update when two Noise records have been read, which are 58 bytes short of half of it', () => {
    const window = createWindow()
    window.receive(INITIAL_BYTES, 1)

    expect(read(window, 65_507)).toBe(false)
    expect(read(window, 65_507)).toBe(true)
  })

  test('owes an update when half of it has been read, not a byte earlier', () => {
    const window = createWindow()
    window.receive(INITIAL_BYTES, 1)

    expect(read(window, 100_000)).toBe(false)
    expect(read(window, HALF_BYTES - 100_001)).toBe(false)
    expect(read(window, 1)).toBe(true)
  })

  test('gives back all that was read until the update is written', () => {
    const window = createWindow()
    window.receive(200_000, 1)
    window.read(150_000, 0)
    window.read(20_000, 0)

    expect(takeUpdate(window)).toBe(170_000)
    expect(window.availableBytes).toBe(232_144)
  })

  test('begins to count anew after an update', () => {
    const window = createWindow()
    window.receive(INITIAL_BYTES, 1)
    window.read(HALF_BYTES, 0)
    takeUpdate(window)

    expect(read(window, HALF_BYTES - 1)).toBe(false)
    expect(read(window, 1)).toBe(true)
    expect(takeUpdate(window)).toBe(HALF_BYTES)
  })

  test('counts what an update gave back beyond the half at which it was due towards the next: half windows are of the stream', () => {
    const window = createWindow()
    let readBytes = 0
    let updates = 0

    // chunks that half a window is no multiple of
    for (; readBytes < 10 * INITIAL_BYTES; readBytes += 10_000) {
      window.receive(10_000, 1)

      if (read(window, 10_000)) {
        expect(takeUpdate(window)).toBeGreaterThan(120_000)
        updates++
      }

      expect(updates).toBe(Math.floor((readBytes + 10_000) / HALF_BYTES))
    }
  })

  test('has nothing to give back when nothing was read', () => {
    expect(takeUpdate(createWindow())).toBe(0)
  })
})

describe('a window that begins larger', () => {
  const LARGE_BYTES = 1_048_576

  test('is 256 KiB until it is advertised', () => {
    const window = createWindow(LARGE_BYTES)

    expect(window.isRaised).toBe(true)
    expect(window.windowBytes).toBe(INITIAL_BYTES)
    expect(() => { window.receive(262_145, 1) }).toThrow('allowed 262144')
  })

  test('is all of its size once the update is taken', () => {
    const window = createWindow(LARGE_BYTES)

    expect(takeUpdate(window)).toBe(786_432)
    expect(window.isRaised).toBe(false)
    expect(window.windowBytes).toBe(LARGE_BYTES)
    expect(window.availableBytes).toBe(LARGE_BYTES)
  })

  test('advertises what was read and what it is raised by in one delta', () => {
    const window = createWindow(LARGE_BYTES)
    window.receive(1000, 1)
    window.read(600, 0)

    expect(takeUpdate(window)).toBe(787_032)
    expect(window.availableBytes).toBe(1_048_176)
  })

  test('is raised once', () => {
    const window = createWindow(LARGE_BYTES)
    takeUpdate(window)

    expect(takeUpdate(window)).toBe(0)
    expect(window.windowBytes).toBe(LARGE_BYTES)
  })

  test('owes an update at half of the size the peer knows', () => {
    const window = createWindow(LARGE_BYTES)
    takeUpdate(window)
    window.receive(LARGE_BYTES, 1)

    expect(read(window, Math.ceil(UPDATE_PART * LARGE_BYTES) - 1)).toBe(false)
    expect(read(window, 1)).toBe(true)
  })
})

describe('a window that is to be smaller than the protocol begins with', () => {
  test('is what the protocol begins with', () => {
    const window = createWindow(1000)

    expect(window.isRaised).toBe(false)
    expect(window.windowBytes).toBe(INITIAL_BYTES)
    expect(takeUpdate(window)).toBe(0)
  })
})
