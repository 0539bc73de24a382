// The tables of documents, by name: which records, rows, muxers and figures.

/** A line of a table */
export interface Line {
  label: string
  row: string
  /** @default 'ours' */
  muxer?: string
}

export interface Column {
  heading: string
  /** Of `figures.ts` */
  figure: string
  /** Instead of the line's; of several, figures stand beside each other */
  muxers?: string[]
  /** Instead of the table's, as for another machine */
  record?: string
}

export interface Table {
  record: string
  /** Above the lines' labels */
  heading: string
  lines: Line[]
  columns: Column[]
}

/** The same of a run on slow cores */
function onSlowCores (column: Column, record: string): Column {
  return { ...column, heading: `${column.heading}, slow cores`, record: `${record}-slow` }
}

/** A line each for what `labels` has, by its id in the record */
function linesOf (labels: Record<string, string>): Line[] {
  return Object.entries(labels).map(([row, label]) => ({ row, label }))
}

/** A line for each muxer */
function linesByMuxer (row: string, muxers: Record<string, string>): Line[] {
  return Object.entries(muxers).map(([muxer, label]) => ({ label, row, muxer }))
}

/** A column each */
function columns (figure: string, muxers: Record<string, string>): Column[] {
  return Object.entries(muxers).map(([muxer, heading]) => ({ heading, figure, muxers: [muxer] }))
}

/** A column for each of the figures, from another record */
function columnsOf (record: string, figures: Record<string, string>): Column[] {
  return Object.entries(figures).map(([figure, heading]) => ({ record, figure, heading }))
}

const pair = ['ours', 'stock']
const byStock: Column = { heading: '× stock', figure: 'x-stock' }
const byMplex: Column = { heading: '× mplex', figure: 'x-mplex' }
const others = { stock: '`@libp2p/yamux`', mplex: '`@libp2p/mplex`' }

const sizes = {
  '1x100': '1 stream × 100 B',
  '1000x100': '1,000 streams × 100 B',
  '1x4k': '1 stream × 4 KiB',
  '1000x4k': '1,000 streams × 4 KiB',
  '1x64k': '1 stream × 64 KiB',
  '10x1m': '10 streams × 1 MiB'
}
const requests = { 'requests-1': 'requests on one stream', requests: 'requests, a new stream each' }

const timeByStock: Column = { heading: 'time × stock', figure: 's-x-stock' }
const p50ByStock: Column = { heading: 'p50 × stock', figure: 'x-stock' }
const p99 = 'p99 ms'
const slowLinks = { 2: '2 Mbit/s', 10: '10 Mbit/s', 50: '50 Mbit/s' }
const links = { ...slowLinks, 200: '200 Mbit/s' }

const firstRequests = [1, 250, 1000, 4000].map((count): Column => ({ heading: count.toLocaleString('en'), figure: `x-stock-${count}` }))

/** Of both benchmarks of a link with this muxer at both ends */
const uplinkColumns: Column[] = [
  ...columns('p99', { 'ours-lanes': `${p99}, marked urgent`, ours: 'not marked', 'ours-unbounded': 'marked, no bound', stock: 'stock' }),
  { heading: 'p99 × stock', figure: 'p99-x-stock', muxers: ['ours-lanes'] },
  { heading: 'bulk × stock', figure: 'bulk-x-stock', muxers: ['ours-lanes'] }
]

/** What each muxer gains from a recipe, divided by what it has without */
function byRecipe (figure: string, recipe: string, muxers: Record<string, string>): Column[] {
  return Object.entries(muxers).map(([muxer, heading]) => ({ heading, figure: `${figure}-x-${muxer}`, muxers: [`${muxer}-${recipe}`] }))
}

const plainMuxers = { ours: 'this muxer', stock: 'stock', mplex: 'mplex' }
const recipeWork = linesOf({ '1x100': '1 × 100 B', '1x4k': '1 × 4 KiB', '1x64k': '1 × 64 KiB', '10x1m': '10 × 1 MiB' })

export const tables: Record<string, Table> = {
  start: {
    record: 'start',
    heading: 'work',
    lines: linesOf({ file: 'a file in chunks of 64 KiB', ...sizes, ...requests }),
    columns: [
      { heading: 'MB/s', figure: 'mb' },
      { heading: 'messages/s', figure: 'messages' },
      { heading: 'writes/MB', figure: 'writes', muxers: pair },
      { heading: 'records/MB', figure: 'records', muxers: pair },
      { heading: 'CPU s/GB, both sides', figure: 'cpu', muxers: pair },
      { heading: 'p50 ms', figure: 'p50', muxers: pair },
      { heading: p99, figure: 'p99', muxers: pair },
      byStock,
      onSlowCores(byStock, 'start'),
      byMplex,
      onSlowCores(byMplex, 'start')
    ]
  },
  'start-uplink': {
    record: 'start',
    heading: 'an urgent message during bulk at 10 Mbit/s',
    lines: linesByMuxer('uplink', { ours: 'this muxer', ...others }),
    columns: [
      { heading: 'p50 ms', figure: 'p50' },
      { heading: p99, figure: 'p99' },
      { heading: 'p99 × stock', figure: 'p99-x-stock' },
      { heading: 'p99 × mplex', figure: 'p99-x-mplex' }
    ]
  },
  matrix: {
    record: 'matrix-tcp',
    heading: 'messages/s × those of',
    lines: linesOf({ ...sizes, ...requests }),
    columns: [
      { heading: 'ours, plain TCP', figure: 'messages' },
      { heading: '× go-yamux', figure: 'x-go-yamux' },
      { heading: '× rust-yamux', figure: 'x-rust-yamux-buffered' },
      { heading: '× HTTP/2', figure: 'x-http2' },
      { heading: '× no muxer', figure: 'x-none' },
      ...columnsOf('matrix-tcp-noise', { 'x-quic': '× QUIC, encrypted', 'x-http2': '× HTTP/2 over TLS', 'x-none': '× no muxer, Noise' })
    ]
  },
  uplink: {
    record: 'uplink',
    heading: 'link',
    lines: linesOf(links),
    columns: [...uplinkColumns, { heading: 'in flight, KB, ours, stock', figure: 'in-flight', muxers: ['ours-lanes', 'stock'] }, { heading: 'sender\'s CPU s/GB, not marked, stock', figure: 'cpu', muxers: pair }]
  },
  'uplink-both': {
    record: 'uplink-both',
    heading: 'link, bulk both ways',
    lines: linesOf(slowLinks),
    columns: uplinkColumns
  },
  recorded: {
    record: 'recorded',
    heading: 'recorded link',
    lines: linesOf({
      'att-lte-outage': 'AT&T LTE, driving, with outages',
      'nyc-taxi': 'New York, in a taxi',
      'tmobile-lte-drive': 'T-Mobile LTE, driving',
      'tmobile-umts.up': 'T-Mobile 3G, driving',
      'verizon-evdo.up': 'Verizon EV-DO, driving'
    }),
    columns: [
      ...columns('p50', { 'ours-lanes': 'p50 ms', 'ours-unbounded': 'no bound', stock: 'stock' }),
      ...columns('p99', { 'ours-lanes': p99, 'ours-unbounded': 'no bound', stock: 'stock' }),
      { heading: 'p99 × stock', figure: 'p99-x-stock', muxers: ['ours-lanes'] },
      { heading: 'bulk Mbit/s, ours, stock', figure: 'mbit', muxers: ['ours-lanes', 'stock'] },
      { heading: 'bulk × stock', figure: 'bulk-x-stock', muxers: ['ours-lanes'] },
      { heading: 'both ways, stock peer: p99 × stock', record: 'recorded-mixed', figure: 'p99-x-stock', muxers: ['ours'] },
      { heading: 'bulk × stock', record: 'recorded-mixed', figure: 'bulk-x-stock', muxers: ['ours'] }
    ]
  },
  'downlink-both': {
    record: 'downlink-both',
    heading: 'down and up, bulk both ways, and the peer',
    lines: linesOf(Object.fromEntries(['stock', 'go', 'rust'].flatMap(peer => [
      [`10-1-${peer}`, `10 and 1 Mbit/s, ${peer}`],
      [`16-4-${peer}`, `16 and 4 Mbit/s, ${peer}`],
      [`10-${peer}`, `10 and 10 Mbit/s, ${peer}`]
    ]))),
    columns: [
      ...columns('p99', { ours: p99, stock: 'stock at this end' }),
      { heading: 'p99 × stock', figure: 'p99-x-stock', muxers: ['ours'] },
      { heading: 'down Mbit/s, ours, stock', figure: 'there', muxers: pair },
      { heading: 'up Mbit/s, ours, stock', figure: 'back', muxers: pair },
      { heading: 'bulk × stock', figure: 'bulk-x-stock', muxers: ['ours'] },
      { heading: 'CPU s/GB, ours, stock', figure: 'receiver-cpu', muxers: pair }
    ]
  },
  downlink: {
    record: 'downlink',
    heading: 'link',
    lines: linesOf(Object.fromEntries(Object.entries(slowLinks).map(([rate, label]) => [`${rate}-stock`, label]))),
    columns: [
      ...columns('p99', { withheld: `${p99}, withheld`, ours: 'not withheld', stock: 'stock' }),
      { heading: 'p99 × stock', figure: 'p99-x-stock', muxers: ['withheld'] },
      { heading: 'bulk Mbit/s, withheld, not, stock', figure: 'mbit', muxers: ['withheld', ...pair] },
      { heading: 'bulk × stock', figure: 'bulk-x-stock', muxers: ['withheld'] },
      { heading: 'in flight, KB, withheld, not, stock', figure: 'in-flight', muxers: ['withheld', ...pair] },
      { heading: 'receiver\'s CPU s/GB, withheld, not, stock', figure: 'receiver-cpu', muxers: ['withheld', ...pair] }
    ]
  },
  apps: {
    record: 'apps',
    heading: 'work, less is better',
    lines: [
      ...linesOf({
        'helia-file': 'Helia: a file of 100 MB',
        'helia-small': 'Helia: 2,000 files of 4 KiB',
        'helia-page': 'Helia: a file to a web page',
        'helia-gossip': 'gossip during a file'
      }),
      { label: 'the same, marked urgent', row: 'helia-gossip', muxer: 'ours-gossip' },
      ...linesOf({
        gossipsub: 'gossipsub, 100 hosts',
        reqresp: 'ReqResp: 12,000 small requests',
        'reqresp-blocks': 'ReqResp: 400 blocks',
        'kad-dht': 'kad-dht: 150 lookups'
      })
    ],
    columns: [
      timeByStock,
      onSlowCores(timeByStock, 'apps'),
      { heading: 'p99 × stock', figure: 'p99-x-stock' },
      { heading: 'CPU × stock', figure: 'cpu-x-stock' },
      { heading: 'time × mplex', figure: 's-x-mplex' }
    ]
  },
  lodestar: {
    record: 'lodestar',
    heading: 'a node with 100 peers',
    lines: linesByMuxer('lodestar', { ours: 'this muxer', ...others }),
    columns: [
      { heading: 'CPU %', figure: 'cpu' },
      { heading: 'CPU × stock', figure: 'cpu-x-stock' },
      { heading: 'CPU × mplex', figure: 'cpu-x-mplex' },
      { heading: 'socket writes/s', figure: 'writes' },
      { heading: 'GC ms/s', figure: 'gc' },
      { heading: 'event loop, p99 ms', figure: 'loop-p99' },
      { heading: 'RSS MB', figure: 'rss' },
      { heading: 'requests, p50 ms', figure: 'p50' },
      { heading: 'p50 × stock', figure: 'x-stock' },
      { heading: p99, figure: 'p99' }
    ]
  },
  'lodestar-uplink': {
    record: 'lodestar-uplink-modem',
    heading: 'gossip of a node at home to',
    lines: linesOf({ all: 'all 20 peers', askers: 'the 3 that ask for blocks', others: 'the 17 others' }),
    columns: [
      ...columns('p99', { 'ours-lanes': `${p99}, marked urgent`, ours: 'not marked', 'ours-unbounded': 'marked, no bound', stock: 'stock', mplex: 'mplex' }),
      { heading: 'p99 × stock', figure: 'p99-x-stock', muxers: ['ours-lanes'] },
      { heading: 'blocks Mbit/s, marked, stock', figure: 'blocks', muxers: ['ours-lanes', 'stock'] },
      { heading: 'blocks × stock', figure: 'blocks-x-stock', muxers: ['ours-lanes'] }
    ]
  },
  idle: {
    record: 'idle',
    heading: 'lone requests',
    lines: linesOf({ 'idle-1': 'one stream', 'idle-new': 'a new stream each' }),
    columns: [{ heading: 'p50 ms', figure: 'p50', muxers: pair }, p50ByStock, onSlowCores(p50ByStock, 'idle')]
  },
  'first-requests': {
    record: 'first-requests',
    heading: 'time × stock of the first',
    lines: [
      ...linesOf({ 'first-1': 'requests on one stream', 'first-new': 'requests, a new stream each', 'first-200k': 'of 200 kB, a new stream each' }),
      { label: 'one stream, `/light`', row: 'first-1', muxer: 'light' },
      { label: 'a new stream each, `/light`', row: 'first-new', muxer: 'light' }
    ],
    columns: [...firstRequests, ...firstRequests.slice(1).map(column => onSlowCores(column, 'first-requests'))]
  },
  imports: {
    record: 'imports',
    heading: '',
    lines: linesOf({ 'behind-libp2p': 'after libp2p', alone: 'alone' }),
    columns: [
      ...columns('ms', { ours: 'ours, ms', 'ours-light': '`/light`', ...others }),
      byStock,
      onSlowCores(byStock, 'imports'),
      { heading: '`/light` × stock', figure: 'x-stock', muxers: ['ours-light'] }
    ]
  },
  busy: {
    record: 'busy',
    heading: 'turns of the event loop',
    lines: linesOf({
      'reader-100': 'reader, 100 ms a turn: 24 MiB',
      'reader-200': 'reader, 200 ms a turn: 8 MiB',
      'reader-500': 'reader, 500 ms a turn: 8 MiB',
      'server-20x256k': 'server, 50 ms a turn: 20 answers of 256 KiB',
      'server-4x1m': 'server, 50 ms a turn: 4 answers of 1 MiB',
      'server-10x16k': 'server, 50 ms a turn: 10 answers of 16 KiB'
    }),
    columns: [
      ...columns('turns', { ours: 'ours', 'ours-unbounded': 'no bound', ...others }),
      byStock,
      { heading: 'the same requests once more, ours, stock', figure: 'later-turns', muxers: pair }
    ]
  },
  bulk: {
    record: 'bulk',
    heading: 'streams × messages',
    lines: linesOf({ '10x1m': '10 × 1 MiB', '1x1m': '1 × 1 MiB', '1x64k': '1 × 64 KiB', '10x1m-works': '10 × 1 MiB, the receiver works', '1x64k-works': '1 × 64 KiB, the receiver works' }),
    columns: [
      { heading: 'MB/s, ours, stock, mplex', figure: 'mb', muxers: [...pair, 'mplex'] },
      byStock,
      onSlowCores(byStock, 'bulk'),
      byMplex,
      onSlowCores(byMplex, 'bulk'),
      { heading: '`/light` × stock', figure: 'x-stock', muxers: ['light'] },
      { heading: 'CPU s/GB, ours, stock, mplex', figure: 'cpu', muxers: [...pair, 'mplex'] },
      { heading: 'CPU × stock', figure: 'cpu-x-stock' }
    ]
  },
  browser: {
    record: 'browser',
    heading: 'a page in Chromium',
    lines: linesOf({
      'port-100': 'message port, 100 B',
      'port-4096': 'message port, 4 KiB',
      'port-65536': 'message port, 64 KiB',
      'ws-100': 'WebSocket and Noise, 100 B',
      'ws-4096': 'WebSocket and Noise, 4 KiB',
      'ws-65536': 'WebSocket and Noise, 64 KiB'
    }),
    columns: [
      { heading: 'messages/s', figure: 'messages', muxers: pair },
      { heading: 'MB/s', figure: 'mb', muxers: pair },
      byStock
    ]
  },
  'idle-memory': {
    record: 'idle-memory',
    heading: 'an idle connection',
    lines: linesByMuxer('idle', { ours: 'ours', 'ours-light': '`/light`', ...others }),
    columns: [{ heading: 'KiB', figure: 'kib' }, byStock]
  },
  gossip: {
    record: 'gossip',
    heading: 'gossip among 100 hosts',
    lines: linesOf({
      small: '10 B',
      'small-slow': '10 B, at a tenth of the rate',
      large: '8 to 16 KiB, at an eighth',
      'small-signed': '10 B, signed, at a quarter',
      'large-signed': '8 to 16 KiB, signed, at a tenth'
    }),
    columns: [
      { heading: 'CPU × stock', figure: 'cpu-x-stock' },
      { heading: 'CPU × mplex', figure: 'cpu-x-mplex' },
      { heading: 'records a delivery, ours, stock, mplex', figure: 'records', muxers: [...pair, 'mplex'] },
      { heading: 'p99 ms, ours, stock, mplex', figure: 'p99', muxers: [...pair, 'mplex'] }
    ]
  },
  'go-yamux': {
    record: 'go-yamux',
    heading: '1,000 streams, 4 KiB each every 100 ms',
    lines: linesByMuxer('go-yamux', { ours: '`turn`', 'ours-delay': '`delay`', 'ours-adaptive': '`adaptive`', 'ours-off': '`off`', ...others }),
    columns: [
      { heading: 'MB/s', figure: 'mb' },
      { heading: 'socket writes/s', figure: 'writes' },
      { heading: 'records/s', figure: 'records' },
      { heading: 'CPU %, sender', figure: 'sender-cpu' },
      { heading: 'receiver', figure: 'receiver-cpu' },
      { heading: 'p50 ms', figure: 'p50' },
      { heading: p99, figure: 'p99' }
    ]
  },
  calls: {
    record: 'calls',
    heading: 'calls for a request',
    lines: linesOf({ 'open-stream': 'on an open stream', 'new-stream': 'on a new stream that is negotiated and closed' }),
    columns: columns('calls', { ours: 'ours', ...others })
  },
  'recipes-noise-crypto': {
    record: 'recipes-noise-crypto',
    heading: 'CPU time × that without',
    lines: recipeWork,
    columns: byRecipe('cpu', 'noise-crypto', plainMuxers)
  },
  'recipes-cork': {
    record: 'recipes-cork',
    heading: 'CPU time × that without',
    lines: recipeWork,
    columns: [...byRecipe('cpu', 'cork-turn', plainMuxers), { heading: 'socket writes/MB, stock without and with', figure: 'writes', muxers: ['stock-without', 'stock-cork-turn'] }]
  },
  'recipes-notsent-lowat': {
    record: 'recipes-notsent-lowat',
    heading: 'p99 × that without',
    lines: linesOf({ 10: '10 Mbit/s', 200: '200 Mbit/s' }),
    columns: byRecipe('p99', '16384', { ours: 'this muxer', 'ours-unbounded': '`maxQueueDelayMs: Infinity`', stock: 'stock', mplex: 'mplex' })
  },
  attacks: {
    record: 'attacks',
    heading: 'CPU s of 1,000,000 frames',
    lines: linesOf(Object.fromEntries([
      'window updates of one byte to a sender that waits',
      'DATA of one byte, read',
      'DATA of one byte, read by a loop',
      'DATA of one byte for many streams, read by loops'
    ].map(attack => [attack, attack]))),
    columns: columns('cpu', { 'records, read': 'in chunks of 60 kB', 'frames, read': 'in a chunk each' })
  },
  cold: {
    record: 'cold',
    heading: 'CPU time of an interpreted request × mplex',
    lines: linesOf({ 'open-stream': 'on an open stream', 'new-stream': 'on a new stream' }),
    columns: columns('x-mplex', { ours: 'ours', stock: others.stock })
  }
}
