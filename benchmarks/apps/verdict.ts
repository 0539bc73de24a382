// What a figure means for who uses the application, in a sentence.
import { format, formatRatio } from '../harness/table.ts'
import type { Spread } from '../harness/samples.ts'

/** Below this, and where rounds disagree, nobody notices */
const LEAST_NOTICED = 0.1

export function isLess ({ median, max }: Spread): boolean {
  return max < 1 && median <= 1 - LEAST_NOTICED
}

export function isMore ({ median, min }: Spread): boolean {
  return min > 1 && median >= 1 + LEAST_NOTICED
}

function times ({ median }: Spread): string {
  return format(median < 1 ? 1 / median : median)
}

/** By ratios to stock in the same rounds, `noticed` of what its user waits for */
export function sayWhatChanges (noticed: Spread, cpu: Spread, noticedName: string): string {
  const user = isLess(noticed)
    ? `its user waits ${times(noticed)} times less`
    : isMore(noticed)
      ? `its user waits ${times(noticed)} times longer`
      : 'nothing that its user notices'
  const machine = isLess(cpu)
    ? `, ${times(cpu)} times less CPU`
    : isMore(cpu)
      ? `, ${times(cpu)} times more CPU`
      : ''

  return `${formatRatio(noticed)} of stock's ${noticedName}, ${formatRatio(cpu)} of its CPU: ${user}${machine}`
}
