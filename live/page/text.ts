/**
 * Numbers as people read them.
 */
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const significant = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 })

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB']

/** Three digits or so: small numbers keep a fraction, large ones do not */
export function toCount (value: number): string {
  return Math.abs(value) < 10 ? significant.format(value) : whole.format(value)
}

export function toTime (ms: number): string {
  return ms >= 10_000 ? `${toCount(ms / 1000)} s` : `${toCount(ms)} ms`
}

export function toBytes (bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))

  return `${toCount(bytes / 1024 ** power)} ${BYTE_UNITS[power]}`
}

export function toRate (mbitPerS: number): string {
  return mbitPerS === Infinity ? 'unlimited' : mbitPerS >= 1000 ? `${toCount(mbitPerS / 1000)} Gbit/s` : `${toCount(mbitPerS)} Mbit/s`
}

export function toRatio (ratio: number): string {
  return Number.isFinite(ratio) ? `${significant.format(ratio)}×` : '–'
}
