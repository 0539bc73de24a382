// What tells the time, or waits, in all code of the process: made to follow a virtual timeline.
// Promises, queueMicrotask and process.nextTick take no time and stay what they are.
import FakeTimers from '@sinonjs/fake-timers'
import { systemClock } from '../../src/host/clock.ts'
import type { Happening, Timeline } from './timeline.ts'

/** A date, because there is code that takes 0 for no date */
const START_OF_DATES = Date.UTC(2025, 0, 1)

class VirtualImmediate {
  readonly happening: Happening
  #isReferenced = true

  constructor (happening: Happening) {
    this.happening = happening
  }

  ref (): this {
    this.#isReferenced = true
    return this
  }

  unref (): this {
    this.#isReferenced = false
    return this
  }

  hasRef (): boolean {
    return this.#isReferenced
  }
}

export class VirtualGlobals {
  readonly #timeline: Timeline
  readonly #clock: ReturnType<typeof FakeTimers.install>
  readonly #restorers: Array<() => void> = []

  constructor (timeline: Timeline) {
    this.#timeline = timeline
    this.#clock = FakeTimers.install({
      now: START_OF_DATES,
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
      // what was started before the simulation may be stopped in it
      shouldClearNativeTimers: true
    })

    try {
      this.#replaceTheRest()
    } catch (err) {
      this.restore()
      throw err
    }
  }

  /**
   * When the next timer is due, Infinity without one. As in Node, timers count whole milliseconds:
   * one of 1 ms that is set at 5.4 ms is due at 6 ms.
   */
  get nextTimerMs (): number {
    const dueAt = this.#clock.timerHeap?.peek()?.callAt

    return dueAt == null ? Infinity : Math.max(dueAt - START_OF_DATES, this.#timeline.nowMs)
  }

  get timerCount (): number {
    return this.#clock.countTimers()
  }

  /** Runs the timer that is due next; the timeline has to be there already */
  runTimer (): void {
    this.#clock.next()
  }

  /** Brings dates up to the timeline, which must not have passed over a timer */
  follow (): void {
    const behindMs = Math.floor(this.#timeline.nowMs) - (this.#clock.now - START_OF_DATES)

    if (behindMs > 0) {
      this.#clock.tick(behindMs)
    }
  }

  restore (): void {
    for (const restore of this.#restorers.splice(0).reverse()) {
      restore()
    }

    this.#clock.uninstall()
  }

  #replaceTheRest (): void {
    const timeline = this.#timeline
    const { setTimeout, setInterval, clearImmediate } = globalThis

    // Node's timers take a millisecond at least. The library's take 0, or 1 when a timer sets them.
    this.#replace(globalThis, 'setTimeout', Object.assign(
      (task: () => void, delayMs?: number, ...args: any[]) => setTimeout(task, atLeast1(delayMs), ...args), setTimeout))
    this.#replace(globalThis, 'setInterval', Object.assign(
      (task: () => void, delayMs?: number, ...args: any[]) => setInterval(task, atLeast1(delayMs), ...args), setInterval))

    // the next turn of the event loop is at the same instant; the library's would be 1 ms later within a timer
    this.#replace(globalThis, 'setImmediate', (task: (...args: any[]) => void, ...args: any[]) =>
      new VirtualImmediate(timeline.at(timeline.nowMs, () => { task(...args) })))
    this.#replace(globalThis, 'clearImmediate', (immediate: VirtualImmediate | NodeJS.Immediate | undefined) => {
      if (immediate instanceof VirtualImmediate) {
        timeline.cancel(immediate.happening)
      } else {
        clearImmediate(immediate)
      }
    })

    // this muxer's clock keeps the setImmediate() that it found when it was imported, and would go on from the time of the last simulation
    this.#replace(systemClock, 'nextTurn', (task: () => void) => { timeline.at(timeline.nowMs, task) })
    this.#replace(systemClock, 'nowMs', () => timeline.nowMs)

    // fractions of milliseconds, exactly
    this.#replace(performance, 'now', () => timeline.nowMs)

    // Node's own counts in real time
    this.#replace(AbortSignal, 'timeout', (delayMs: number) => {
      const controller = new AbortController()
      timeline.at(timeline.nowMs + delayMs, () => {
        controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
      })

      return controller.signal
    })
  }

  #replace (owner: object, name: string, value: unknown): void {
    const original = Object.getOwnPropertyDescriptor(owner, name)
    Object.defineProperty(owner, name, { value, configurable: true, writable: true, enumerable: original?.enumerable ?? true })

    this.#restorers.push(() => {
      if (original == null) {
        Reflect.deleteProperty(owner, name)
      } else {
        Object.defineProperty(owner, name, original)
      }
    })
  }
}

function atLeast1 (delayMs: number | undefined): number {
  return delayMs != null && delayMs >= 1 ? delayMs : 1
}
