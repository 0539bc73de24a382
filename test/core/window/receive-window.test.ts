// What the peer may send on a stream, and when it is given more.
import { describe, expect, test } from 'vitest'
import { ReceiveWindow, UPDATE_PART } from '../../../src/core/window/receive-window.ts'
import { createBudget } from '../../../testing/core/budgets.ts'

const INITIAL_BYTES = 262_144
/** Half of the window, a hair less: see UPDATE_PART */
const HALF_BYTES = Math.ceil(UPDATE_PART * INITIAL_BYTES)
const MAX_BYTES = 16_777_216

function createWindow (initialBytes = INITIAL_BYTES): ReceiveWindow {
  return new ReceiveWindow(initialBytes, MAX_BYTES)
}

function takeUpdate (window: ReceiveWindow): number {
  return window.takeUpdate(0, undefined, createBudget(0), 0)
}

/** Reads so much, and tells whether an update is due */
function read (window: ReceiveWindow, bytes: number): boolean {
  window.read(bytes, 0)

  return window.isUpdateDue(0, undefined, 0)
}

describe('a window of 256 KiB', () => {
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
})

describe('a window that begins larger', () => {
  const LARGE_BYTES = 1_048_576

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

describe('a new stream', () => {
  /** With 64 KiB for what a message of 1 MiB is wrapped in */
  const LONGEST_BYTES = 1_114_112

  function withHeadStart (creditMs: number, { initialBytes = INITIAL_BYTES, maxBytes = MAX_BYTES, budgetBytes = MAX_BYTES } = {}): ReceiveWindow {
    const window = new ReceiveWindow(initialBytes, maxBytes)
    window.addHeadStart(creditMs, createBudget(budgetBytes))

    return window
  }

  test.each([[100, LONGEST_BYTES], [9, LONGEST_BYTES], [6, 750_000], [4.2, 525_000]])('where credit takes %d ms, is advertised a window of %d bytes', (creditMs, windowBytes) => {
    const window = withHeadStart(creditMs)
    expect([window.isRaised, window.windowBytes]).toEqual([true, INITIAL_BYTES])

    expect(takeUpdate(window)).toBe(windowBytes - INITIAL_BYTES)
    expect([window.isRaised, window.windowBytes, window.availableBytes]).toEqual([false, windowBytes, windowBytes])
  })

  test.each([0, 0.2, 4])('where credit takes %d ms, has no head start: it would be less than the window', creditMs => {
    expect(withHeadStart(creditMs).isRaised).toBe(false)
  })

  test('has no head start where it begins with a window as large', () => {
    const window = withHeadStart(100, { initialBytes: LONGEST_BYTES })

    expect([window.headStartBytes, takeUpdate(window)]).toEqual([0, LONGEST_BYTES - INITIAL_BYTES])
  })

  test('has none beyond the largest window that there may be', () => {
    expect(withHeadStart(100, { maxBytes: 2 * INITIAL_BYTES }).headStartBytes).toBe(INITIAL_BYTES)
    expect(withHeadStart(100, { maxBytes: 2 * INITIAL_BYTES - 1 }).headStartBytes).toBe(0)
  })

  test('is given credit back at half of the window without the head start', () => {
    const window = withHeadStart(100)
    expect(read(window, 28)).toBe(false)
    takeUpdate(window)
    window.receive(HALF_BYTES, 1)

    expect(read(window, HALF_BYTES - 1)).toBe(false)
    expect(read(window, 1)).toBe(true)
  })
})
