// When a window grows: it was read in few round trips, there is room below its maximum, and the connection can afford it.
import { describe, expect, test } from 'vitest'
import { ReceiveWindow, SLOWED_UPDATE_PART, UPDATE_PART } from '../../../src/core/window/receive-window.ts'
import { createBudget } from '../../../testing/core/budgets.ts'
import type { ConnectionBudget } from '../../../src/core/window/connection-budget.ts'

const INITIAL_BYTES = 262_144
/** Half of the window, a hair less: see UPDATE_PART */
const HALF_BYTES = Math.ceil(UPDATE_PART * INITIAL_BYTES)
const QUARTER_BYTES = Math.ceil(SLOWED_UPDATE_PART * INITIAL_BYTES)
const MAX_BYTES = 16_777_216
const ROUND_TRIP_MS = 50

interface Conditions {
  /** NaN for one that was not measured */
  roundTripMs?: number
  budget?: ConnectionBudget
}

/** Reading begins at 1000 ms */
function createWindow (maxBytes = MAX_BYTES, initialBytes = INITIAL_BYTES): ReceiveWindow {
  const window = new ReceiveWindow(initialBytes, maxBytes)
  window.read(0, 1000)

  return window
}

function takeUpdate (window: ReceiveWindow, nowMs: number, { roundTripMs = ROUND_TRIP_MS, budget = createBudget(MAX_BYTES) }: Conditions = {}): number {
  return window.takeUpdate(nowMs, Number.isNaN(roundTripMs) ? undefined : roundTripMs, budget, 0)
}

/** Receives and reads so much, and updates at that time; returns what the peer is given beyond what was read */
function readAndGrow (window: ReceiveWindow, bytes: number, nowMs: number, conditions: Conditions = {}): number {
  window.receive(bytes, 1)
  window.read(bytes, nowMs)

  return takeUpdate(window, nowMs, conditions) - bytes
}

describe('a window', () => {
  test('doubles when half of it was read in less than two round trips', () => {
    const window = createWindow()

    expect(readAndGrow(window, HALF_BYTES, 1099)).toBe(INITIAL_BYTES)
    expect(window.windowBytes).toBe(524_288)
    expect(window.availableBytes).toBe(524_288)
  })

  test('stays when half of it took two round trips', () => {
    const window = createWindow()

    expect(readAndGrow(window, HALF_BYTES, 1100)).toBe(0)
    expect(window.windowBytes).toBe(INITIAL_BYTES)
  })

  test('doubles when all of it was read in less than four round trips, and stays when it took four', () => {
    expect(readAndGrow(createWindow(), INITIAL_BYTES, 1199)).toBe(INITIAL_BYTES)
    expect(readAndGrow(createWindow(), INITIAL_BYTES, 1200)).toBe(0)
  })

  test('doubles when a quarter of it was read in less than a round trip, and stays when it took one', () => {
    expect(readAndGrow(createWindow(), QUARTER_BYTES, 1049)).toBe(INITIAL_BYTES)
    expect(readAndGrow(createWindow(), QUARTER_BYTES, 1050)).toBe(0)
  })

  test('stays when less than a quarter of it was read, however fast', () => {
    expect(readAndGrow(createWindow(), QUARTER_BYTES - 1, 1000)).toBe(0)
  })

  test('stays while nobody knows the round trip, and when it is 0 ms', () => {
    expect(readAndGrow(createWindow(), HALF_BYTES, 1000, { roundTripMs: NaN })).toBe(0)
    expect(readAndGrow(createWindow(), HALF_BYTES, 1000, { roundTripMs: 0 })).toBe(0)
  })

  test('stays when all was read at once: what came first says nothing of how fast the rest will be', () => {
    const window = new ReceiveWindow(INITIAL_BYTES, MAX_BYTES)

    expect(readAndGrow(window, INITIAL_BYTES, 0)).toBe(0)
  })

  test('is timed from the first read of the stream, not from its opening', () => {
    const window = new ReceiveWindow(INITIAL_BYTES, MAX_BYTES)
    window.receive(HALF_BYTES, 1)
    window.read(HALF_BYTES - QUARTER_BYTES, 5000)
    window.read(QUARTER_BYTES, 5049)

    expect(window.isUpdateDue(5049, ROUND_TRIP_MS, 0)).toBe(true)
    expect(takeUpdate(window, 5049)).toBe(HALF_BYTES + INITIAL_BYTES)
  })

  test('is timed from its last update', () => {
    const window = createWindow()
    readAndGrow(window, HALF_BYTES, 5000)

    expect(readAndGrow(window, HALF_BYTES, 5099)).toBe(INITIAL_BYTES)
  })

  test('doubles up to its maximum', () => {
    const window = createWindow(400_000)

    expect(readAndGrow(window, HALF_BYTES, 1001)).toBe(400_000 - INITIAL_BYTES)
    expect(readAndGrow(window, 200_000, 1002)).toBe(0)
    expect(window.windowBytes).toBe(400_000)
  })

  test('that has grown goes on at once to what four round trips bring at the rate it was read with', () => {
    const window = createWindow()
    readAndGrow(window, HALF_BYTES, 1099)

    expect(readAndGrow(window, HALF_BYTES, 1099 + 8)).toBe(4 * HALF_BYTES * ROUND_TRIP_MS / 8 - 2 * INITIAL_BYTES)
    expect(window.windowBytes).toBe(4 * HALF_BYTES * ROUND_TRIP_MS / 8)
  })

  test('that has grown at least doubles', () => {
    const window = createWindow()
    readAndGrow(window, HALF_BYTES, 1099)

    expect(readAndGrow(window, HALF_BYTES, 1099 + 49)).toBe(2 * INITIAL_BYTES)
  })

  test('that has grown goes on to its maximum when it is read in no time', () => {
    const window = createWindow()
    readAndGrow(window, HALF_BYTES, 1099)
    readAndGrow(window, HALF_BYTES, 1099)

    expect(window.windowBytes).toBe(MAX_BYTES)
  })
})

describe('credit', () => {
  test('goes back at a quarter while the window holds its sender back', () => {
    const window = createWindow()
    window.receive(HALF_BYTES, 1)
    window.read(QUARTER_BYTES - 1, 0)
    expect(window.isUpdateDue(1000, ROUND_TRIP_MS, 0)).toBe(false)
    window.read(1, 0)

    expect(window.isUpdateDue(1049, ROUND_TRIP_MS, 0)).toBe(true)
    expect(window.isUpdateDue(1050, ROUND_TRIP_MS, 0)).toBe(false)
    expect(window.isUpdateDue(1049, undefined, 0)).toBe(false)
  })

  test('goes back at a quarter of a window that may not grow any more, too', () => {
    const window = createWindow(INITIAL_BYTES)
    window.receive(QUARTER_BYTES, 1)
    window.read(QUARTER_BYTES, 0)

    expect(window.isUpdateDue(1048, ROUND_TRIP_MS, 0)).toBe(true)
    expect(takeUpdate(window, 1048)).toBe(QUARTER_BYTES)
  })

  test('goes back at half otherwise', () => {
    const window = createWindow()
    window.receive(HALF_BYTES, 1)
    window.read(HALF_BYTES - 1, 0)
    expect(window.isUpdateDue(2000, ROUND_TRIP_MS, 0)).toBe(false)
    window.read(1, 0)
    expect(window.isUpdateDue(2000, ROUND_TRIP_MS, 0)).toBe(true)
  })
})

describe('the budget of the connection', () => {
  test('is shared: a window that holds more than its part gives it back as it is renewed, never what it began with', () => {
    const budget = createBudget(524_288)
    const [large, late] = [createWindow(), createWindow()]
    readAndGrow(large, HALF_BYTES, 1001, { budget })
    readAndGrow(large, INITIAL_BYTES, 1002, { budget })
    expect(large.windowBytes).toBe(INITIAL_BYTES + 524_288)

    expect(readAndGrow(late, HALF_BYTES, 1003, { budget })).toBe(0)
    expect(readAndGrow(large, 400_000, 1004, { budget })).toBe(-INITIAL_BYTES)
    expect(readAndGrow(late, HALF_BYTES, 1005, { budget })).toBe(INITIAL_BYTES)
    expect([large.windowBytes, late.windowBytes]).toEqual([2 * INITIAL_BYTES, 2 * INITIAL_BYTES])
  })

  test('lets a window more than double within its fair part only', () => {
    const budget = createBudget(4_000_000)
    const [first, second] = [createWindow(), createWindow()]
    readAndGrow(first, HALF_BYTES, 1001, { budget })
    readAndGrow(second, HALF_BYTES, 1001, { budget })

    readAndGrow(first, HALF_BYTES, 1002, { budget })
    expect(first.grownBytes).toBe(2_000_000)
    readAndGrow(second, HALF_BYTES, 1002, { budget })
    expect(second.grownBytes).toBe(2_000_000)
  })
})

describe('a reader that works in turns of 500 ms', () => {
  const CHUNK_BYTES = 65_536

  /** All credit comes in chunks 1 ms apart; what they bring is read as they come, or all together behind them. Returns by how much the window grows. */
  function readInTurn (window: ReceiveWindow, turnMs: number, isRead: boolean): number {
    const chunks = window.availableBytes / CHUNK_BYTES
    let grownBytes = 0

    for (let chunk = 0; chunk < chunks; chunk++) {
      window.receive(CHUNK_BYTES, 1)

      if (isRead) {
        window.read(CHUNK_BYTES, turnMs + chunk)
      }
    }

    if (!isRead) {
      window.read(chunks * CHUNK_BYTES, turnMs + 400)
    }

    if (window.isUpdateDue(turnMs + chunks, ROUND_TRIP_MS, 0)) {
      grownBytes = takeUpdate(window, turnMs + chunks) - chunks * CHUNK_BYTES
    }

    return grownBytes
  }

  test('gets a larger window: the time in which the peer had no credit and the program worked says nothing of the rate', () => {
    const window = new ReceiveWindow(INITIAL_BYTES, MAX_BYTES)
    readInTurn(window, 1000, true)

    expect(readInTurn(window, 1500, true)).toBeGreaterThan(0)
    expect(readInTurn(window, 2000, true)).toBeGreaterThan(0)
  })

  test('gets one as large as four turns bring, although the peer has sent no more than a half of the first at once', () => {
    const window = createWindow()
    window.receive(HALF_BYTES, 1)
    window.read(HALF_BYTES, 1500)

    expect(window.takeUpdate(1500, 1, createBudget(MAX_BYTES), 500)).toBe(HALF_BYTES + INITIAL_BYTES)
  })

  test('gets it no later than where turns are short', () => {
    for (const programMs of [0, 101]) {
      const window = createWindow()
      const budget = createBudget(MAX_BYTES)
      readAndGrow(window, INITIAL_BYTES, 2000, { roundTripMs: 100, budget })

      // a burst, 402 ms behind the credit that it waited for
      for (const nowMs of [2402, 2403]) {
        window.receive(QUARTER_BYTES, 1)
        window.read(QUARTER_BYTES, nowMs)
      }

      expect(window.takeUpdate(2403, 100, budget, programMs)).toBeGreaterThan(2 * QUARTER_BYTES)
    }
  })

  test('keeps its window when it leaves unread for most of a turn what has come', () => {
    const window = new ReceiveWindow(INITIAL_BYTES, MAX_BYTES)
    readInTurn(window, 1000, false)

    expect(readInTurn(window, 1500, false)).toBe(0)
    expect(readInTurn(window, 2000, false)).toBe(0)
  })
})
