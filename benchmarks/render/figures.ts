// The figures of a row and a muxer that documents and tables.ts can name, by benchmark.
import { format } from '../harness/table.ts'

export interface Figure {
  metric: string
  /** The muxer whose value in the same round each is divided by */
  base?: string
  show(value: number): string
}

function plain (metric: string, factor = 1): Figure {
  return { metric, show: value => format(value * factor) }
}

/** Three digits at most, and no fraction */
function whole (metric: string, factor = 1): Figure {
  return { metric, show: value => Number(Math.round(value * factor).toPrecision(3)).toLocaleString('en') }
}

function tenths (metric: string): Figure {
  return { metric, show: value => value.toFixed(1) }
}

/** Large ratios vary more from round to round, so they have fewer digits after the point */
function times (metric: string, base: string): Figure {
  return { metric, base, show: ratio => ratio.toLocaleString('en', { minimumFractionDigits: digitsOf(ratio), maximumFractionDigits: digitsOf(ratio) }) }
}

function digitsOf (ratio: number): number {
  return ratio < 2 ? 2 : ratio < 10 ? 1 : 0
}

const MEGABYTE_MBIT = 8

const link: Record<string, Figure> = {
  p99: whole('p99Ms'),
  'p99-x-stock': times('p99Ms', 'stock'),
  'bulk-x-stock': times('besideMegabytesPerS', 'stock'),
  'in-flight': whole('inFlightMegabytes', 1000)
}

export const figures: Record<string, Record<string, Figure>> = {
  start: {
    mb: plain('megabytesPerS'),
    messages: plain('messagesPerS'),
    writes: plain('socketWritesPerMegabyte'),
    records: plain('noiseRecordsPerMegabyte'),
    cpu: plain('bothCpuSPerGigabyte'),
    p50: plain('p50Ms'),
    p99: plain('p99Ms'),
    'x-stock': times('messagesPerS', 'stock'),
    'x-mplex': times('messagesPerS', 'mplex'),
    'p99-x-stock': times('p99Ms', 'stock'),
    'p99-x-mplex': times('p99Ms', 'mplex')
  },
  matrix: {
    messages: plain('messagesPerS'),
    ...Object.fromEntries(['none', 'http2', 'quic', 'go-yamux', 'rust-yamux-buffered'].map(base => [`x-${base}`, times('messagesPerS', base)]))
  },
  uplink: { ...link, cpu: whole('senderCpuSPerGigabyte'), 'cpu-x-stock': times('senderCpuSPerGigabyte', 'stock') },
  downlink: {
    ...link,
    mbit: plain('besideMegabytesPerS', MEGABYTE_MBIT),
    there: plain('thereMegabytesPerS', MEGABYTE_MBIT),
    back: plain('backMegabytesPerS', MEGABYTE_MBIT),
    'lower-x-stock': times('lowerMegabytesPerS', 'stock'),
    'receiver-cpu': whole('receiverCpuSPerGigabyte')
  },
  recorded: { p50: whole('p50Ms'), p99: link.p99, 'p99-x-stock': link['p99-x-stock'], mbit: plain('besideMegabytesPerS', MEGABYTE_MBIT), 'bulk-x-stock': link['bulk-x-stock'] },
  apps: {
    's-x-stock': times('durationS', 'stock'),
    's-x-mplex': times('durationS', 'mplex'),
    'p99-x-stock': times('p99Ms', 'stock'),
    'cpu-x-stock': times('cpuS', 'stock')
  },
  idle: {
    p50: plain('p50Ms'),
    'x-stock': times('p50Ms', 'stock')
  },
  'first-requests': Object.fromEntries([1, 250, 1000, 4000].map(count => [`x-stock-${count}`, times(`ms${count}`, 'stock')])),
  imports: {
    ms: plain('ms'),
    'x-stock': times('ms', 'stock')
  },
  lodestar: {
    cpu: tenths('cpuPercent'),
    'cpu-x-stock': times('cpuPercent', 'stock'),
    'cpu-x-mplex': times('cpuPercent', 'mplex'),
    writes: whole('socketWritesPerS'),
    gc: plain('gcMsPerS'),
    'loop-p99': plain('eventLoopP99Ms'),
    rss: whole('rssMegabytes'),
    p50: plain('requestP50Ms'),
    'x-stock': times('requestP50Ms', 'stock'),
    p99: whole('requestP99Ms')
  },
  'lodestar-uplink': {
    p99: whole('p99Ms'),
    'p99-x-stock': times('p99Ms', 'stock'),
    blocks: plain('blocksMbitPerS'),
    'blocks-x-stock': times('blocksMbitPerS', 'stock')
  },
  busy: {
    turns: whole('turns'),
    'later-turns': whole('laterTurns'),
    'x-stock': times('turns', 'stock')
  },
  bulk: {
    mb: whole('megabytesPerS'),
    'x-stock': times('megabytesPerS', 'stock'),
    'x-mplex': times('megabytesPerS', 'mplex'),
    cpu: plain('bothCpuSPerGigabyte'),
    'cpu-x-stock': times('bothCpuSPerGigabyte', 'stock')
  },
  browser: {
    messages: plain('messagesPerS'),
    mb: plain('megabytesPerS'),
    'x-stock': times('messagesPerS', 'stock')
  },
  'idle-memory': {
    kib: tenths('kib'),
    'x-stock': times('kib', 'stock')
  },
  gossip: {
    records: plain('noiseRecordsPerDelivery'),
    p99: whole('p99Ms'),
    'cpu-x-stock': times('cpuUsPerDelivery', 'stock'),
    'cpu-x-mplex': times('cpuUsPerDelivery', 'mplex')
  },
  'go-yamux': {
    mb: plain('megabytesPerS'),
    writes: whole('socketWritesPerS'),
    records: whole('noiseRecordsPerS'),
    'sender-cpu': whole('senderCpuPercent'),
    'receiver-cpu': whole('receiverCpuPercent'),
    p50: plain('p50Ms'),
    p99: plain('p99Ms')
  },
  calls: { calls: { metric: 'calls', show: value => value.toLocaleString('en') } },
  recipes: {
    writes: plain('socketWritesPerMegabyte'),
    ...Object.fromEntries(['ours', 'stock', 'mplex'].map(muxer => [`cpu-x-${muxer}`, times('bothCpuSPerGigabyte', `${muxer}-without`)])),
    ...Object.fromEntries(['ours', 'ours-unbounded', 'stock', 'mplex'].map(muxer => [`p99-x-${muxer}`, times('p99Ms', `${muxer}-without`)]))
  },
  attacks: { cpu: plain('cpuS') },
  cold: { 'x-mplex': times('cpuMs', 'mplex') },
  size: { kb: tenths('kilobytes') }
}
