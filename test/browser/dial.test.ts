// Pages in Chromium that dial this process over WebSockets and Noise.
import { fileURLToPath } from 'node:url'
import { webSockets } from '@libp2p/websockets'
import { chromium } from 'playwright'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { launchOptions, setUpChromium } from '../../testing/browser/chromium.ts'
import { buildSite } from '../../testing/browser/site.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import { Tab, TAB_THROTTLING } from './fixtures/tab.ts'
import { ECHO, PATIENCE } from '../../testing/browser/transfer.ts'
import { drained } from '../../testing/libp2p/streams.ts'
import type { Site } from '../../testing/browser/site.ts'
import type { DiallingPage, Task } from './page/main.ts'
import type { Libp2p, Stream } from '@libp2p/interface'
import type { Browser } from 'playwright'

const MEBIBYTE = 1_048_576
const STREAMS = 100

/** What the pages that are told to dial have on their `globalThis` */
declare const globalThis: DiallingPage

let libp2p: Libp2p
let site: Site
let browser: Browser
let task: Task

/** How often a worker's timers of 10 ms fire during two of the page, one behind the other: twice, but where a hidden page's timers run once a second */
const TICKS_DURING_TWO_TIMERS = `new Promise(resolve => {
  const worker = new Worker(URL.createObjectURL(new Blob(['setInterval(() => { postMessage("tick") }, 10)'])))
  let ticks = 0
  worker.onmessage = () => { ticks++ }
  setTimeout(() => { setTimeout(() => { worker.terminate(); resolve(ticks) }, 10) }, 10)
})`

/** What came from pages, and from how much on the echo waits until it is let go on */
const echoes = { receivedBytes: 0, held: 0, holdFromBytes: Infinity, goOn: () => {} }
let gate = Promise.resolve()

/** Lets the echo run until it has got so many bytes */
function runUntil (receivedBytes: number): void {
  const { promise, resolve } = Promise.withResolvers<void>()
  echoes.goOn()
  Object.assign(echoes, { held: 0, holdFromBytes: receivedBytes, goOn: resolve })
  gate = promise
}

async function echo (stream: Stream): Promise<void> {
  for await (const bytes of stream) {
    echoes.receivedBytes += bytes.byteLength

    if (echoes.receivedBytes >= echoes.holdFromBytes) {
      echoes.held++
      await gate
    }

    if (!stream.send(bytes)) {
      await drained(stream)
    }
  }

  await stream.close()
}

beforeAll(async () => {
  await setUpChromium()
  libp2p = await createNode('ours', {
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0/ws'] },
    transports: [webSockets()],
    connectionManager: PATIENCE
  })
  await libp2p.handle(ECHO, echo, { maxInboundStreams: STREAMS })
  task = { address: libp2p.getMultiaddrs()[0].toString(), streamCount: STREAMS, bytesPerStream: Math.ceil(64 * MEBIBYTE / STREAMS) }
  site = await buildSite(fileURLToPath(new URL('page', import.meta.url)))
  browser = await chromium.launch({ ...launchOptions, ignoreDefaultArgs: TAB_THROTTLING })
}, 60_000)

afterAll(async () => {
  await browser?.close()
  site?.close()
  await libp2p?.stop()
})

test('100 streams carry 64 MiB here and back, and the connection ends', async () => {
  const page = await browser.newPage()
  await page.goto(site.url)
  await page.evaluate(async task => globalThis.dialAndExchange(task), task)

  expect(echoes.receivedBytes).toBe(STREAMS * task.bytesPerStream)
  await vi.waitUntil(() => libp2p.getConnections().length === 0)
})

test('100 streams of a worker carry 16 MiB here and back', async () => {
  const page = await browser.newPage()
  await page.goto(site.url)
  await page.evaluate(async task => globalThis.dialAndExchangeInWorker(task), { ...task, bytesPerStream: Math.ceil(16 * MEBIBYTE / STREAMS) })
})

test('100 streams of a tab that is hidden in between carry 64 MiB here and back', async () => {
  const tab = await Tab.openHidden(browser, site.url)
  await tab.show()
  echoes.receivedBytes = 0
  runUntil(8 * MEBIBYTE)
  const exchanged = tab.evaluate(`dialAndExchange(${JSON.stringify(task)})`)

  await vi.waitUntil(() => echoes.held > 0, { timeout: 30_000 })
  await tab.hide()
  expect(await tab.evaluate('document.visibilityState')).toBe('hidden')
  expect(await tab.evaluate(TICKS_DURING_TWO_TIMERS)).toBeGreaterThan(10)

  runUntil(40 * MEBIBYTE)
  await vi.waitUntil(() => echoes.held > 0, { timeout: 30_000 })
  await tab.show()
  expect(await tab.evaluate('document.visibilityState')).toBe('visible')
  runUntil(Infinity)
  await exchanged

  expect(echoes.receivedBytes).toBe(STREAMS * task.bytesPerStream)
  await tab.close()
}, 60_000)
