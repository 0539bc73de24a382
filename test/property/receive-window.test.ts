// Law: available + unread + read and not given back = window, so what a stream holds never exceeds its window.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReceiveWindow } from '../../src/core/window/receive-window.ts'
import { ProtocolError } from '../../src/core/errors.ts'
import { createBudget } from '../../testing/core/budgets.ts'

const INITIAL_BYTES = 262_144

const part = fc.double({ min: 0, max: 1, noNaN: true })
const steps = fc.array(fc.oneof(
  fc.record({ does: fc.constant('receive' as const), part }),
  fc.record({ does: fc.constant('read' as const), part, roundTripMs: fc.nat(1000) }),
  fc.record({ does: fc.constant('overrun' as const), part }),
  fc.record({ does: fc.constant('addHeadStart' as const), creditMs: fc.nat(12) }),
  fc.record({ does: fc.constant('portion' as const), part }),
  fc.record({ does: fc.constant('raise' as const), bytes: fc.nat(100_000) }),
  fc.record({ does: fc.constant('update' as const), afterMs: fc.nat(300), roundTripMs: fc.option(fc.nat(100), { nil: undefined }) })
), { maxLength: 60, size: 'max' })

type Step = typeof steps extends fc.Arbitrary<Array<infer T>> ? T : never

/** Half the window is read before the larger one it is to begin with was advertised: it once outgrew its maximum */
const READ_BEFORE_ADVERTISED: [number, number, number, Step[]] = [262_145, 262_144, 1, [
  { does: 'receive', part: 0.5 }, { does: 'read', part: 1, roundTripMs: 1 }, { does: 'update', afterMs: 0, roundTripMs: 1 }
]]

const windowBytes = fc.integer({ min: INITIAL_BYTES, max: 4_194_304 })

test('no byte of credit is made or lost, however receiving, reading, growth and updates mix', () => {
  fc.assert(fc.property(windowBytes, windowBytes, fc.nat(4_194_304), steps, (targetBytes, moreBytes, budgetBytes, steps) => {
    const maxBytes = Math.max(targetBytes, moreBytes)
    const budget = createBudget(budgetBytes)
    const window = new ReceiveWindow(targetBytes, maxBytes)
    let windowBytes = INITIAL_BYTES
    let unreadBytes = 0
    let readBytes = 0
    let raiseBytes = targetBytes - INITIAL_BYTES
    let nowMs = 0

    for (const step of steps) {
      const availableBytes = windowBytes - unreadBytes - readBytes

      if (step.does === 'receive') {
        const bytes = Math.floor(step.part * availableBytes)
        window.receive(bytes, 1)
        unreadBytes += bytes
      } else if (step.does === 'read') {
        const bytes = Math.ceil(step.part * unreadBytes)
        unreadBytes -= bytes
        readBytes += bytes
        window.read(bytes, nowMs)

        // or the sender would come to the end of its credit
        if (readBytes >= windowBytes / 2) {
          expect(window.isUpdateDue(nowMs, step.roundTripMs, 0)).toBe(true)
        }
      } else if (step.does === 'overrun') {
        const tooManyBytes = availableBytes + 1 + Math.floor(step.part * 1000)
        expect(() => { window.receive(tooManyBytes, 1) }).toThrow(ProtocolError)
      } else if (step.does === 'addHeadStart') {
        const beforeBytes = window.headStartBytes
        expect(window.addHeadStart(step.creditMs, budget)).toBe(raiseBytes + window.headStartBytes - beforeBytes > 0)
        raiseBytes += window.headStartBytes - beforeBytes
      } else if (step.does === 'raise') {
        const raisedBytes = window.raise(step.bytes, nowMs, budget)
        expect(raisedBytes).toBe(Math.min(step.bytes, maxBytes - windowBytes - raiseBytes, budgetBytes - (windowBytes + raiseBytes - targetBytes)))
        raiseBytes += raisedBytes
      } else if (step.does === 'portion') {
        const portionBytes = Math.floor(step.part * readBytes)
        expect(window.takePortion(portionBytes, nowMs)).toBe(portionBytes + raiseBytes)
        windowBytes += raiseBytes
        readBytes -= portionBytes
        raiseBytes = 0
      } else {
        nowMs += step.afterMs
        const grownBytes = window.takeUpdate(nowMs, step.roundTripMs, budget, 0) - readBytes - raiseBytes

        expect(grownBytes).toBeGreaterThanOrEqual(0)
        // nothing has been read since
        expect(window.isUpdateDue(nowMs, step.roundTripMs, 0)).toBe(false)

        // without reading, or a round trip to compare it with, nothing speaks for a larger window
        if (readBytes === 0 || (step.roundTripMs ?? 0) === 0) {
          expect(grownBytes).toBe(0)
        }

        windowBytes += raiseBytes + grownBytes
        readBytes = 0
        raiseBytes = 0
      }

      expect(window.windowBytes).toBe(windowBytes)
      expect(window.windowBytes).toBeLessThanOrEqual(maxBytes)
      expect(window.availableBytes).toBe(windowBytes - unreadBytes - readBytes)
      expect(window.readBytes).toBe(readBytes)
      expect(window.isRaised).toBe(raiseBytes > 0)
      expect(budget.availableBytes).toBe(budgetBytes - (windowBytes + raiseBytes - targetBytes))
      expect(budget.availableBytes).toBeGreaterThanOrEqual(0)
    }

    budget.release(window)
    expect(budget.availableBytes).toBe(budgetBytes)
  }), { numRuns: 200, examples: [READ_BEFORE_ADVERTISED] })
})

const moves = fc.array(fc.record({ index: fc.nat(3), part, afterMs: fc.nat(50), creditMs: fc.nat(12), isOver: fc.integer({ max: 20, min: 1 }).map(n => n === 1) }), { minLength: 20, maxLength: 120, size: 'max' })

test('windows that share a budget never hold more than it, nor less than the 256 KiB that each begins with', () => {
  fc.assert(fc.property(fc.nat(4_194_304), moves, (budgetBytes, moves) => {
    const budget = createBudget(budgetBytes)
    const create = (): ReceiveWindow => new ReceiveWindow(INITIAL_BYTES, 16_777_216)
    const windows = Array.from({ length: 4 }, create)
    let nowMs = 0

    for (const { index, part, afterMs, creditMs, isOver } of moves) {
      nowMs += afterMs

      if (isOver) {
        budget.release(windows[index])
        windows[index] = create()
        windows[index].addHeadStart(creditMs, budget)
        continue
      }

      const window = windows[index]
      const readBytes = Math.floor(part * window.availableBytes)
      const beforeBytes = window.availableBytes
      window.receive(readBytes, 1)
      window.read(readBytes, nowMs)
      const deltaBytes = window.isUpdateDue(nowMs, 100, 0) ? window.takeUpdate(nowMs, 100, budget, 0) : 0

      expect(deltaBytes).toBeGreaterThanOrEqual(0)
      expect(window.availableBytes).toBe(beforeBytes - readBytes + deltaBytes)
      expect(window.windowBytes).toBe(INITIAL_BYTES + window.grownBytes + window.headStartBytes - window.raiseBytes)
      expect(window.availableBytes).toBeLessThanOrEqual(window.windowBytes)
      expect(budget.availableBytes).toBeGreaterThanOrEqual(0)
      expect(budget.availableBytes + windows.reduce((sum, { grownBytes, headStartBytes }) => sum + grownBytes + headStartBytes, 0)).toBe(budgetBytes)
      expect(windows.reduce((sum, { headStartBytes }) => sum + headStartBytes, 0)).toBeLessThanOrEqual(budgetBytes / 2)
    }

    windows.forEach(window => { budget.release(window) })
    expect(budget.availableBytes).toBe(budgetBytes)
  }))
})
