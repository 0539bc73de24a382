// Law: credit granted = initial + read + growth, whatever happens; nobody sends more, and what windows grew by comes back.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { freeBytesOf } from '../../testing/core/budgets.ts'
import { DATA, parseFrames, RST, WINDOW_UPDATE } from '../../testing/protocol/frames.ts'
import { Connection, settle, setups, steps } from './fixtures/connection.ts'
import type { Side } from './fixtures/connection.ts'

const INITIAL_BYTES = 262_144
const MAX_FRAME_BYTES = 65_536

/** What one side has put on the wire for one stream */
interface Written {
  grantedBytes: number
  payloadBytes: number
}

class Ledger {
  readonly #written = [new Map<number, Written>(), new Map<number, Written>()]

  of (side: number, id: number): Written {
    const written = this.#written[side].get(id) ?? { grantedBytes: 0, payloadBytes: 0 }
    this.#written[side].set(id, written)

    return written
  }

  enter (side: number, bytes: Uint8Array): void {
    for (const { type, flags, id, length } of parseFrames(bytes)) {
      if (type === DATA) {
        const written = this.of(side, id)
        written.payloadBytes += length
        expect(written.payloadBytes).toBeLessThanOrEqual(INITIAL_BYTES + this.of(1 - side, id).grantedBytes)
      } else if (type === WINDOW_UPDATE && (flags & RST) === 0) {
        this.of(side, id).grantedBytes += length
      }
    }
  }
}

/** `isQuiet`: no frame has come in part */
function checkCredit (connection: Connection, ledger: Ledger, raiseBytes: number, isQuiet: boolean): void {
  for (const [index, { streams }] of connection.sides.entries()) {
    for (const { id, life, receiveWindow, readBuffer } of streams) {
      if (life.remoteWriteStatus === 'closed') {
        continue
      }

      const { windowBytes, availableBytes, raiseBytes: unsaidBytes } = receiveWindow
      const { readBytes } = connection.flow(1 - index, id)
      const unreadBytes = readBuffer.byteLength
      const grantedBytes = INITIAL_BYTES + ledger.of(index, id).grantedBytes
      const comingBytes = grantedBytes - availableBytes - readBytes - unreadBytes
      const saidBytes = INITIAL_BYTES + raiseBytes + receiveWindow.grownBytes + receiveWindow.headStartBytes + receiveWindow.reserveBytes - unsaidBytes
      const owedBytes = windowBytes - availableBytes - unreadBytes - comingBytes

      // the rest of a frame whose header has been accounted for
      expect(comingBytes).toBeGreaterThanOrEqual(0)
      expect(comingBytes).toBeLessThanOrEqual(isQuiet ? 0 : MAX_FRAME_BYTES)
      expect(windowBytes).toBe(saidBytes)
      expect(owedBytes).toBeGreaterThanOrEqual(0)
      expect(owedBytes).toBeLessThanOrEqual(readBytes)
      expect(grantedBytes).toBe(saidBytes + readBytes - owedBytes)
    }
  }
}

function checkBudget ({ session }: Side, totalBytes: number): void {
  const { budget } = session.streams
  const takenBytes = [...session.streams.values()].reduce((sum, { receiveWindow }) => sum + receiveWindow.grownBytes + receiveWindow.headStartBytes + receiveWindow.reserveBytes, 0)

  expect(freeBytesOf(budget)).toBeGreaterThanOrEqual(0)
  expect(freeBytesOf(budget) + takenBytes).toBe(totalBytes)
}

const lossAfterSteps = fc.option(fc.nat(150), { nil: Infinity })
let growths = 0

test('credit granted is initial + read + growth under any mix of sends, reads, pauses, resets and loss of the connection', () => {
  fc.assert(fc.property(setups, fc.constantFrom(0, 300_000, 4_194_304), steps, lossAfterSteps, (setup, maxGrowthBytes, steps, lossAfterSteps) => {
    const ledger = new Ledger()
    const connection = new Connection({ ...setup, maxGrowthBytes }, (side, bytes) => { ledger.enter(side, bytes) })
    const raiseBytes = setup.initialWindowBytes - INITIAL_BYTES
    const checkBudgets = (): void => { connection.sides.forEach(side => { checkBudget(side, maxGrowthBytes) }) }

    for (const step of steps.slice(0, lossAfterSteps)) {
      connection.take(step)
      checkCredit(connection, ledger, raiseBytes, false)
      checkBudgets()
    }

    growths += connection.sides.filter(({ session }) => freeBytesOf(session.streams.budget) < maxGrowthBytes).length

    if (steps.length <= lossAfterSteps) {
      settle(connection)
      checkCredit(connection, ledger, raiseBytes, true)
      checkBudgets()
    }

    // the connection is lost, with whatever was open
    for (const { session } of connection.sides) {
      ;[...session.streams.values()].forEach(stream => { session.forget(stream) })
      expect(freeBytesOf(session.streams.budget)).toBe(maxGrowthBytes)
      expect([session.streams.size, session.streams.unackedCount, session.lanes.queuedBytes]).toEqual([0, 0, 0])
    }
  }), { numRuns: 200 })

  // windows did grow in some of them
  expect(growths).toBeGreaterThan(0)
})
