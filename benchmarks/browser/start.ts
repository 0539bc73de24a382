// Messages of a page in Chromium to its worker, and to this process, through this muxer and stock in turn.
import { fileURLToPath } from 'node:url'
import { noise } from '@chainsafe/libp2p-noise'
import { webSockets } from '@libp2p/websockets'
import { createLibp2p } from 'libp2p'
import { chromium } from 'playwright'
import { max, median, min } from 'simple-statistics'
import { launchOptions, setUpChromium } from '../../test/browser/fixtures/chromium.ts'
import { buildSite } from '../../test/browser/fixtures/site.ts'
import { muxers } from '../muxers.ts'
import { format, formatRatio, renderGroups, renderMachine } from '../harness/table.ts'
import { runBenchmark } from '../harness/run.ts'
import { receiveMessages, SINK } from './messages.ts'
import type { Cell, MeasuredPage } from './page.ts'
import type { Libp2p } from '@libp2p/interface'
import type { Page } from 'playwright'

declare const globalThis: MeasuredPage

const NAMES = ['ours', 'stock'] as const
const ROUNDS = 7
/** How long a cell is to take; a fast muxer sends more messages than a slow one */
const CELL_MS = 400
/** What the sink keeps at most */
const MAX_CELL_BYTES = 134_217_728

const rows = [
  { label: 'message port, 100 B', messageBytes: 100, overNetwork: false },
  { label: 'message port, 4 KiB', messageBytes: 4096, overNetwork: false },
  { label: 'message port, 64 KiB', messageBytes: 65_536, overNetwork: false },
  { label: 'WebSocket and Noise, 100 B', messageBytes: 100, overNetwork: true },
  { label: 'WebSocket and Noise, 4 KiB', messageBytes: 4096, overNetwork: true },
  { label: 'WebSocket and Noise, 64 KiB', messageBytes: 65_536, overNetwork: true }
]

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

/** Messages per second of each round */
async function measureRow (page: Page, cells: Record<Name, Omit<Cell, 'count'>>): Promise<Record<Name, number[]>> {
  const rates: Record<Name, number[]> = { ours: [], stock: [] }
  const { messageBytes } = cells.ours
  const counts = { ours: 1000, stock: 1000 }

  // the first two rounds warm up, and find out how many messages take as long as they should
  for (let round = -2; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
      const count = counts[name]
      const durationMs = await page.evaluate(async cell => globalThis.measure(cell), { ...cells[name], count })
      counts[name] = Math.ceil(Math.min(MAX_CELL_BYTES / messageBytes, count * CELL_MS / durationMs))

      if (round >= 0) {
        rates[name].push(count / durationMs * 1000)
      }
    }
  }

  return rates
}

await runBenchmark(async stopAtEnd => {
  await setUpChromium()
  const peers = { ours: await listen('ours'), stock: await listen('stock') }
  const site = await buildSite(fileURLToPath(new URL('.', import.meta.url)))
  const browser = await chromium.launch(launchOptions)
  stopAtEnd([peers.ours, peers.stock, { stop: async () => { site.close() } }, { stop: async () => browser.close() }])
  const page = await browser.newPage()
  await page.goto(site.url)
  const groups = []

  for (const { label, messageBytes, overNetwork } of rows) {
    const cellOf = (muxer: Name): Omit<Cell, 'count'> =>
      ({ muxer, messageBytes, address: overNetwork ? peers[muxer].getMultiaddrs()[0].toString() : undefined })
    const rates = await measureRow(page, { ours: cellOf('ours'), stock: cellOf('stock') })

    groups.push({
      label,
      lines: NAMES.map(name => {
        const ratios = rates[name].map((rate, round) => rate / rates.stock[round])

        return [
          name,
          format(median(rates[name])),
          format(median(rates[name]) * messageBytes / 1e6),
          formatRatio({ median: median(ratios), min: min(ratios), max: max(ratios) })
        ]
      })
    })
  }

  console.info(renderGroups(['muxer', 'messages/s', 'MB/s', '× stock'], groups))
  console.info(`Medians of ${ROUNDS} interleaved rounds, lowest and highest ratio in brackets. Chromium ${browser.version()}, ${renderMachine()}`)
})
