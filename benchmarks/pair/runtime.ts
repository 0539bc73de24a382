// What Node says of the process, or of the thread, while it works: garbage collection, delay of the event loop, memory.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import type { EntryType } from 'node:perf_hooks'

export interface Runtime {
  gcMs: number
  eventLoopDelayP50Ms: number
  eventLoopDelayP99Ms: number
  /** At the end, of the whole process */
  rssBytes: number
}

const RESOLUTION_MS = 1

/** Each look takes up to a millisecond */
const RSS_INTERVAL_MS = 100

/**
 * Starts watching the memory of the process, the returned function ends it and tells the most that was seen. The system's own
 * maximum begins with what the parent had when it forked.
 */
export function watchRss (): () => number {
  let maxBytes = 0
  const watch = (): void => { maxBytes = Math.max(maxBytes, process.memoryUsage.rss()) }
  const timer = setInterval(watch, RSS_INTERVAL_MS)

  return () => {
    watch()
    clearInterval(timer)

    return maxBytes
  }
}

/** Starts observing, the returned function ends it */
export function startObserving (): () => Runtime {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  // each sample contains the interval between two of them
  const delayMs = (percentile: number): number => Math.max(0, delay.percentile(percentile) / 1e6 - RESOLUTION_MS)
  let gcMs = 0

  function add (entries: Array<{ duration: number, entryType: EntryType }>): void {
    for (const { duration } of entries) {
      gcMs += duration
    }
  }

  const observer = new PerformanceObserver(list => { add(list.getEntries()) })
  observer.observe({ entryTypes: ['gc'] })
  delay.enable()

  return () => {
    add(observer.takeRecords())
    observer.disconnect()
    delay.disable()

    return {
      gcMs,
      eventLoopDelayP50Ms: delayMs(50),
      eventLoopDelayP99Ms: delayMs(99),
      rssBytes: process.memoryUsage.rss()
    }
  }
}
