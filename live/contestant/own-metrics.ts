/**
 * A metrics sink of libp2p that adds up what our muxer says of its writes.
 */
import type { Totals } from '../report.ts'
import type { CounterGroup, Histogram, Metrics } from '@libp2p/interface'

const PREFIX = 'libp2p_coalescing_yamux_'

export class OwnMetrics {
  readonly totals: Totals = { writes: 0, frames: 0, bytes: 0 }

  /** No more of libp2p's interface than the muxer uses */
  get asMetrics (): Metrics {
    const ignored = { increment () {}, observe () {} }
    const totals = this.totals
    const counters: Record<string, Partial<CounterGroup>> = {
      [`${PREFIX}flushes_total`]: {
        increment (byReason) { totals.writes += Object.values(byReason).reduce<number>((sum, count) => sum + Number(count), 0) }
      }
    }
    const histograms: Record<string, Partial<Histogram>> = {
      [`${PREFIX}flush_frames`]: { observe (frames) { totals.frames += frames } },
      [`${PREFIX}flush_bytes`]: { observe (bytes) { totals.bytes += bytes } }
    }
    const sink = {
      registerMetric: () => ignored,
      registerMetricGroup: () => ignored,
      registerCounter: () => ignored,
      registerCounterGroup: (name: string) => counters[name] ?? ignored,
      registerHistogram: (name: string) => histograms[name] ?? ignored,
      registerHistogramGroup: () => ignored
    }

    return sink as unknown as Metrics
  }
}
