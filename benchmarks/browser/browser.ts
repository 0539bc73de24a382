// Messages of a page in Chromium to its worker, and to this process, through this muxer and stock in turn.
import { fileURLToPath } from 'node:url'
import { noise } from '@chainsafe/libp2p-noise'
import { webSockets } from '@libp2p/websockets'
import { createLibp2p } from 'libp2p'
import { chromium } from 'playwright'
import { launchOptions, setUpChromium } from '../../testing/browser/chromium.ts'
import { buildSite } from '../../testing/browser/site.ts'
import { runBenchmark } from '../../testing/programs/run.ts'
import { parseRecordPath } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { figure, renderSamples, times } from '../harness/table.ts'
import { muxers } from '../muxers.ts'
import { receiveMessages, SINK } from './messages.ts'
import type { Sample } from '../harness/samples.ts'
import type { MeasuredPage } from './page.ts'
import type { Libp2p } from '@libp2p/interface'
import type { Page } from 'playwright'

declare const globalThis: MeasuredPage

const NAMES = ['ours', 'stock'] as const
const ROUNDS = 7
/** How long a cell is to take; a fast muxer sends more messages than a slow one */
const CELL_MS = 400
/** What the sink keeps at most */
const MAX_CELL_BYTES = 134_217_728

const sizes = [{ size: '100 B', messageBytes: 100 }, { size: '4 KiB', messageBytes: 4096 }, { size: '64 KiB', messageBytes: 65_536 }]
const rows = [false, true].flatMap(overNetwork => sizes.map(({ size, messageBytes }) => {
  const label = `${overNetwork ? 'WebSocket and Noise' : 'message port'}, ${size}`

  return { id: `${overNetwork ? 'ws' : 'port'}-${messageBytes}`, label, messageBytes, overNetwork }
}))

const columns = [figure('messages/s', 'messagesPerS'), figure('MB/s', 'megabytesPerS'), times('messages/s', 'messagesPerS', 'stock')]

type Name = typeof NAMES[number]

async function listen (name: Name): Promise<Libp2p> {
  const node = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0/ws'] },
    transports: [webSockets()],
    connectionEncrypters: [noise()],
    streamMuxers: [await muxers[name]()]
  })
  await node.handle(SINK, receiveMessages)

  return node
}

async function measureRow (page: Page, { id, messageBytes, overNetwork }: typeof rows[number], peers: Record<Name, Libp2p>): Promise<Sample[]> {
  const samples: Sample[] = []
  const counts = { ours: 1000, stock: 1000 }

  // the first two rounds warm up, and find out how many messages take as long as they should
  for (let round = -1; round <= ROUNDS; round++) {
    for (const muxer of round % 2 === 0 ? NAMES.toReversed() : NAMES) {
      const address = overNetwork ? peers[muxer].getMultiaddrs()[0].toString() : undefined
      const count = counts[muxer]
      const durationMs = await page.evaluate(async cell => globalThis.measure(cell), { muxer, address, messageBytes, count })
      counts[muxer] = Math.ceil(Math.min(MAX_CELL_BYTES / messageBytes, count * CELL_MS / durationMs))

      if (round > 0) {
        const messagesPerS = count / durationMs * 1000
        samples.push({ rowId: id, muxer, round, metrics: { messagesPerS, megabytesPerS: messagesPerS * messageBytes / 1e6 } })
      }
    }
  }

  return samples
}

await runBenchmark(async stopAtEnd => {
  const json = parseRecordPath()
  await setUpChromium()
  const peers = { ours: await listen('ours'), stock: await listen('stock') }
  const site = await buildSite(fileURLToPath(new URL('.', import.meta.url)))
  const browser = await chromium.launch(launchOptions)
  stopAtEnd([peers.ours, peers.stock, { stop: async () => { site.close() } }, { stop: async () => browser.close() }])
  const page = await browser.newPage()
  await page.goto(site.url)
  const samples: Sample[] = []

  for (const row of rows) {
    samples.push(...await measureRow(page, row, peers))
  }

  await report({
    tables: [renderSamples(samples, rows, NAMES.map(id => ({ id, label: id })), columns)],
    extent: `${ROUNDS} rounds after two to warm up`,
    legend: `Chromium ${browser.version()}. × stock compares within each round: median (lowest–highest)`,
    json,
    measured: { samples, versions: { chromium: browser.version() } }
  })
})
