/**
 * Numbers as people read them.
 */
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const significant = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 })

export interface Comparison {
  above: string
  below: string
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB']
/** From here on the next unit is easier to read */
const LARGEST = 1000
/** Up to here a comparison would be of chance */
const ALIKE = 1.1

/** Three digits or so: small numbers keep a fraction, large ones do not */
export function toCount (value: number): string {
  return Math.abs(value) < 10 ? significant.format(value) : whole.format(value)
}

export function toTime (ms: number): string {
  return ms >= 10_000 ? `${toCount(ms / 1000)} s` : `${toCount(ms)} ms`
}

/** For axes, where numbers are round */
export function toTick (ms: number): string {
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`
}

export function toBytes (bytes: number): string {
  const power = BYTE_UNITS.findIndex((_, power) => bytes / 1024 ** power < LARGEST || power === BYTE_UNITS.length - 1)

  return `${toCount(bytes / 1024 ** power)} ${BYTE_UNITS[power]}`
}

export function toRate (mbitPerS: number): string {
  return mbitPerS === Infinity ? 'unlimited' : mbitPerS >= 1000 ? `${toCount(mbitPerS / 1000)} Gbit/s` : `${toCount(mbitPerS)} Mbit/s`
}

export function toPercent (part: number): string {
  return `${whole.format(part * 100)} %`
}

/** `above` and `below` say what it means that `value` is the larger, or the smaller */
export function toComparison (value: number, other: number, { above, below }: Comparison): string {
  const [ratio, word] = value > other ? [value / other, above] : [other / value, below]

  if (!Number.isFinite(ratio)) {
    return '–'
  }

  return ratio < ALIKE ? 'alike' : `${significant.format(ratio)}× ${word}`
}
