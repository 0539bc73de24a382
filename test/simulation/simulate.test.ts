// Virtual time: what timers, dates and turns of the event loop are in it, and how it ends.
import { describe, expect, it } from 'vitest'
import { simulate } from '../../testing/simulation/simulate.ts'

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
  it('jumps to the next timer', async () => {
    const before = real.Date.now()
    const instants = await simulate({}, async sim => {
      const startDate = Date.now()
      await timer(600_000)
      await timer(1)

      return [sim.nowMs, performance.now(), Date.now() - startDate, new Date().getTime() - startDate]
    })

    expect(instants).toEqual([600_001, 600_001, 600_001, 600_001])
    expect(real.Date.now() - before).toBeLessThan(600_000)
  })

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

  it('does not pass in a turn of the event loop, wherever that is asked for', async () => {
    await simulate({}, async sim => {
      const turnMs = async (): Promise<number> => new Promise(resolve => { setImmediate(() => { resolve(sim.nowMs) }) })

      expect(await turnMs()).toBe(0)
      expect(await new Promise(resolve => { setTimeout(() => { resolve(turnMs()) }, 3) })).toBe(3)
    })
  })

  it('ends the patience of signals', async () => {
    await simulate({}, async sim => {
      const signal = AbortSignal.timeout(5000)
      await sim.until(() => signal.aborted)

      expect(sim.nowMs).toBe(5000)
      expect(signal.reason.name).toBe('TimeoutError')
    })
  })

  it('comes to rest when nothing is left to happen', async () => {
    await simulate({}, async sim => {
      sim.at(3.5, () => { setTimeout(() => {}, 10) })
      await sim.idle()
      expect(sim.nowMs).toBe(13)
    })
  })

  it('is calm when the next thing is far off', async () => {
    await simulate({}, async sim => {
      sim.at(3.5, () => { setTimeout(() => {}, 10) })
      setTimeout(() => {}, 1000)
      await sim.calm(20)
      expect(sim.nowMs).toBe(13)
      await sim.calm(20)
      expect(sim.nowMs).toBe(13)
      await sim.calm(987)
      expect(sim.nowMs).toBe(1000)
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

  it('has random numbers that follow from the seed', async () => {
    const numbers = async (seed: number): Promise<number[]> => simulate({ seed }, sim => [sim.random(), sim.random(), sim.random()])
    const first = await numbers(1)

    expect(await numbers(1)).toEqual(first)
    expect(await numbers(2)).not.toEqual(first)
    expect(new Set(first).size).toBe(3)
    expect(first.every(number => number >= 0 && number < 1)).toBe(true)
  })
})

describe('a simulation', () => {
  it('gives back real time when it has ended', async () => {
    await simulate({}, async () => {
      expect(setTimeout).not.toBe(real.setTimeout)
      await timer(10)
    })
    expectRealTime()
  })

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

  it('fails when it waits for what will not happen', async () => {
    await expect(simulate({}, async sim => { await sim.until(() => false) })).rejects.toThrow('Nothing is left to happen after 0 ms')
    expectRealTime()
  })

  it('fails when it takes longer than it may', async () => {
    await expect(simulate({ endMs: 5000 }, async sim => {
      setInterval(() => {}, 1000)
      await sim.until(() => false)
    })).rejects.toThrow('not come to its end within 5000 ms')
    expectRealTime()
  })

  it('fails when an application that asks in every turn keeps time from passing', async () => {
    await expect(simulate({ maxEventsOfAnInstant: 100 }, async sim => {
      while (sim.nowMs < 1) {
        await new Promise(resolve => { setImmediate(resolve) })
      }
    })).rejects.toThrow('Time stands still at 0 ms')
    expectRealTime()
  })
})
