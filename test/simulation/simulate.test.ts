// Virtual time: what timers, dates and turns of the event loop are in it, and how it ends.
import { describe, expect, it } from 'vitest'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { Simulation, SimulationInit } from '../../testing/simulation/simulate.ts'

const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, Date }
const realSignalTimeout = AbortSignal.timeout

function expectRealTime (): void {
  for (const [name, value] of Object.entries(real)) {
    expect(globalThis[name as keyof typeof real], name).toBe(value)
  }

  expect(Object.hasOwn(performance, 'now')).toBe(false)
  expect(AbortSignal.timeout).toBe(realSignalTimeout)
}

async function timer (delayMs: number): Promise<void> {
  return new Promise(resolve => { setTimeout(resolve, delayMs) })
}

describe('virtual time', () => {
  it('has fractions of milliseconds, of which timers and dates count whole ones, as in Node', async () => {
    await simulate({}, async sim => {
      const startDate = Date.now()
      await sim.sleep(5.4)
      expect([sim.nowMs, performance.now(), Date.now() - startDate]).toEqual([5.4, 5.4, 5])
      await timer(1)
      expect(sim.nowMs).toBe(6)
      await timer(0)
      expect(sim.nowMs).toBe(7)
      await sim.sleep(0.25)
      expect(performance.now()).toBe(7.25)
    })
  })

  it('runs what is due in order, each with all that it leads to, and then the next', async () => {
    const order = await simulate({}, async sim => {
      const order: string[] = []
      const note = (what: string) => () => {
        order.push(`${what} at ${sim.nowMs}`)
        queueMicrotask(() => { process.nextTick(() => { order.push(`after ${what}`) }) })
      }

      setTimeout(note('second timer'), 2)
      setTimeout(note('first timer'), 1)
      const interval = setInterval(note('interval'), 2)
      sim.at(2.5, note('event'))
      clearTimeout(setTimeout(note('nothing'), 1))
      clearImmediate(setImmediate(note('nothing')))
      setImmediate(note('next turn'))
      await sim.sleep(3)
      clearInterval(interval)

      return order
    })

    expect(order.filter((_, i) => i % 2 === 0)).toEqual(['next turn at 0', 'first timer at 1', 'second timer at 2', 'interval at 2', 'event at 2.5'])
    expect(order.filter((_, i) => i % 2 === 1)).toEqual(['after next turn', 'after first timer', 'after second timer', 'after interval', 'after event'])
  })

  it('ends the patience of signals', async () => {
    await simulate({}, async sim => {
      const signal = AbortSignal.timeout(5000)
      await sim.until(() => signal.aborted)

      expect(sim.nowMs).toBe(5000)
      expect(signal.reason.name).toBe('TimeoutError')
    })
  })

  it('runs what is due at one instant in an order that follows from the seed, if told to', async () => {
    const orderOf = async (seed: number, shufflesTies: boolean): Promise<number[]> => simulate({ seed, shufflesTies }, async sim => {
      const order: number[] = []

      for (let i = 0; i < 8; i++) {
        sim.at(5, () => { order.push(i) })
      }

      sim.at(4, () => { order.push(-1) })
      sim.at(6, () => { order.push(8) })
      await sim.idle()

      return order
    })
    const planned = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    const shuffled = await orderOf(1, true)

    expect(await orderOf(1, false)).toEqual(planned)
    expect(shuffled).not.toEqual(planned)
    expect(shuffled.toSorted((a, b) => a - b)).toEqual(planned)
    expect([shuffled[0], shuffled[9]]).toEqual([-1, 8])
    expect(await orderOf(1, true)).toEqual(shuffled)
    expect(await orderOf(2, true)).not.toEqual(shuffled)
  })

  it('counts the timers that are set, without those of signals', async () => {
    await simulate({}, async sim => {
      AbortSignal.timeout(5000)
      const timer = setTimeout(() => {}, 10)
      setTimeout(() => {}, 20)
      expect(sim.timerCount).toBe(2)
      clearTimeout(timer)
      await sim.sleep(15)
      expect(sim.timerCount).toBe(1)
      await sim.idle()
      expect(sim.timerCount).toBe(0)
    })
  })
})

describe('a simulation', () => {
  it('gives back real time when the application fails, now or later', async () => {
    await expect(simulate({}, () => { throw new Error('now') })).rejects.toThrow('now')
    expectRealTime()
    await expect(simulate({}, async () => {
      await timer(10)
      throw new Error('later')
    })).rejects.toThrow('later')
    expectRealTime()
  })

  it('fails with a timer, or an event, that fails', async () => {
    await expect(simulate({}, async sim => {
      setTimeout(() => { throw new Error('in a timer') }, 10)
      await sim.sleep(20)
    })).rejects.toThrow('in a timer')
    await expect(simulate({}, async sim => {
      sim.at(1, () => { throw new Error('in an event') })
      await sim.sleep(20)
    })).rejects.toThrow('in an event')
    expectRealTime()
  })

  it('is refused within another, which goes on', async () => {
    await simulate({}, async sim => {
      await expect(simulate({}, () => {})).rejects.toThrow('one simulation at a time')
      await timer(10)
      expect(sim.nowMs).toBe(10)
    })
    expectRealTime()
  })

  it.each<[string, SimulationInit, (sim: Simulation) => Promise<void>, string]>([
    ['waits for what will not happen', {}, async sim => { await sim.until(() => false) }, 'Nothing is left to happen after 0 ms'],
    ['takes longer than it may', { endMs: 5000 }, async sim => {
      setInterval(() => {}, 1000)
      await sim.until(() => false)
    }, 'not come to its end within 5000 ms'],
    ['asks in every turn, and so keeps time from passing', { maxEventsOfAnInstant: 100 }, async sim => {
      while (sim.nowMs < 1) {
        await new Promise(resolve => { setImmediate(resolve) })
      }
    }, 'Time stands still at 0 ms']
  ])('fails when it %s', async (_, init, application, message) => {
    await expect(simulate(init, application)).rejects.toThrow(message)
    expectRealTime()
  })
})
