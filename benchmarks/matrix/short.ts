// The run of a few cells that CI can afford. It fails on gross loss only: what a busy machine cannot explain.
import { median } from 'simple-statistics'
import { ratiosOf, samplesOf } from '../harness/samples.ts'
import { format } from '../harness/table.ts'
import type { CellSample } from '../report/metrics.ts'

export const SHORT = {
  muxers: ['ours', 'stock'],
  transports: ['tcp-noise'],
  rounds: '5',
  /** Of our messages/s to stock's: 45 and 1.3 are usual */
  lowestRatios: { '1x100': 5, '1x64k': 0.5 }
}

export function assertNoGrossLoss (samples: CellSample[]): void {
  for (const [rowId, lowest] of Object.entries(SHORT.lowestRatios)) {
    const ratios = ratiosOf(samplesOf(samples, rowId, 'ours'), samplesOf(samples, rowId, 'stock'), 'messagesPerS')

    if (ratios.length === 0) {
      throw new Error(`${rowId} was not measured with ours and stock in the same round`)
    }

    if (median(ratios) < lowest) {
      throw new Error(`${rowId}: ours has ${format(median(ratios))} times stock's messages/s (${ratios.map(format).join(', ')}), at least ${lowest} is expected`)
    }
  }
}
