/**
 * A metrics sink of libp2p that adds up what our muxer says of its writes.
 */
import type { Totals } from '../report.ts'
import type { Histogram, Metrics } from '@libp2p/interface'

const PREFIX = 'libp2p_coalescing_yamux_'

export class OwnMetrics {
  readonly #totals: Omit<Totals, 'writes'> = { frames: 0, bytes: 0 }
  readonly #calculated: Array<() => unknown> = []

  /** The muxer tells of flushes from time to time, and when it is asked for what it works out */
  get totals (): Omit<Totals, 'writes'> {
    this.#calculated.forEach(calculate => { calculate() })

    return this.#totals
  }

  /** No more of libp2p's interface than the muxer uses */
  get asMetrics (): Metrics {
    const ignored = { increment () {}, observe () {} }
    const totals = this.#totals
    const registerCalculated = (_: string, { calculate }: { calculate (): unknown }): void => { this.#calculated.push(calculate) }
    const histograms: Record<string, Partial<Histogram>> = {
      [`${PREFIX}flush_frames`]: { observe (frames) { totals.frames += frames } },
      [`${PREFIX}flush_bytes`]: { observe (bytes) { totals.bytes += bytes } }
    }
    const sink = {
      registerMetric: registerCalculated,
      registerMetricGroup: registerCalculated,
      registerCounter: () => ignored,
      registerCounterGroup: () => ignored,
      registerHistogram: (name: string) => histograms[name] ?? ignored,
      registerHistogramGroup: () => ignored
    }

    return sink as unknown as Metrics
  }
}
