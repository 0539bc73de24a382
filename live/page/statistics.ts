/**
 * What the reports of one contestant say, over the last seconds.
 */
import { quantile } from 'simple-statistics'
import { REPORT_EVERY_MS } from '../report.ts'
import type { Report } from '../report.ts'

const RATES_OF_MS = 2000
const LATENCIES_OF_MS = 10_000
const DELAYS_OF_MS = 10_000
/** Compiling is over by then */
const LEAST_DELAYS_OF_MS = 5000
const BITS_PER_BYTE = 8

export interface Figures {
  /** Undefined until the first echo is there */
  medianMs?: number
  p99Ms?: number
  /** The last echo, or the message that has been waiting for longer */
  latencyMs: number
  messagesPerS: number
  mbitPerS: number
  /** Of the link, if it has a limit */
  usedPart?: number
  writesPerS: number
  framesPerWrite: number
  inFlightBytes: number
  waitingBytes: number
  /** A quarter of the timers fire later than by this; 0 until there are enough of them */
  lateMs: number
}

export class Statistics {
  readonly #reports: Report[] = []
  readonly #latencies: Array<{ atMs: number, latencyMs: number }> = []
  /** Of the reports, each after the last */
  readonly #delays: Array<{ atMs: number, delayMs: number }> = []

  add (report: Report): void {
    const { atMs, latenciesMs } = report
    const before = this.#reports.at(-1)

    if (before != null) {
      this.#delays.push({ atMs, delayMs: atMs - before.atMs - REPORT_EVERY_MS })
    }

    this.#reports.push(report)
    this.#latencies.push(...latenciesMs.map(latencyMs => ({ atMs, latencyMs })))
    this.#forget(this.#reports, atMs - RATES_OF_MS)
    this.#forget(this.#latencies, atMs - LATENCIES_OF_MS)
    this.#forget(this.#delays, atMs - DELAYS_OF_MS)
  }

  /** `linkMbitPerS` is Infinity where there is no limit */
  figures (linkMbitPerS: number): Figures | undefined {
    const first = this.#reports[0]
    const last = this.#reports.at(-1)

    if (last == null || last === first) {
      return undefined
    }

    const seconds = (last.atMs - first.atMs) / 1000
    const mbitPerS = (last.arrivedBytes - first.arrivedBytes) * BITS_PER_BYTE / 1e6 / seconds
    const latenciesMs = this.#latencies.map(({ latencyMs }) => latencyMs)
    const hasLatencies = latenciesMs.length > 0

    const delaysMs = this.#delays.map(({ delayMs }) => delayMs)
    const isWarm = last.atMs - this.#delays[0].atMs >= LEAST_DELAYS_OF_MS

    return {
      medianMs: hasLatencies ? quantile(latenciesMs, 0.5) : undefined,
      p99Ms: hasLatencies ? quantile(latenciesMs, 0.99) : undefined,
      latencyMs: Math.max(latenciesMs.at(-1) ?? 0, last.oldestMs),
      messagesPerS: (last.messages - first.messages) / seconds,
      mbitPerS,
      // what had queued up in front of a link that was faster a moment ago arrives too
      usedPart: linkMbitPerS === Infinity ? undefined : Math.min(1, mbitPerS / linkMbitPerS),
      writesPerS: (last.wire.writes - first.wire.writes) / seconds,
      framesPerWrite: (last.wire.frames - first.wire.frames) / (last.wire.writes - first.wire.writes),
      inFlightBytes: last.inFlightBytes,
      waitingBytes: last.waitingBytes,
      lateMs: isWarm ? quantile(delaysMs, 0.75) : 0
    }
  }

  #forget (entries: Array<{ atMs: number }>, beforeMs: number): void {
    const kept = entries.findIndex(({ atMs }) => atMs >= beforeMs)
    entries.splice(0, kept === -1 ? entries.length : kept)
  }
}
