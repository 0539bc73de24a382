// What Node says of the process, or of the thread, while it works: garbage collection, delay of the event loop, memory.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import type { EntryType } from 'node:perf_hooks'

export interface Runtime {
  gcMs: number
  eventLoopDelayP99Ms: number
  /** At the end, of the whole process */
  rssBytes: number
  heapBytes: number
}

const RESOLUTION_MS = 1

/** The most that the process has had in memory at once, since it began */
export function maxRssBytes (): number {
  return process.resourceUsage().maxRSS * 1024
}

/** Starts observing, the returned function ends it */
export function startObserving (): () => Runtime {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
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
    const { rss, heapUsed } = process.memoryUsage()

    return {
      gcMs,
      // each sample contains the interval between two of them
      eventLoopDelayP99Ms: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
      rssBytes: rss,
      heapBytes: heapUsed
    }
  }
}
