// docs/examples/dapp: its nodes in a process, its page from Vite in Chromium.
import { chromium } from 'playwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchOptions, setUpChromium } from '../../testing/browser/chromium.ts'
import { startExample, Terminal } from './fixtures/terminal.ts'
import type { Browser } from 'playwright'

const VITE = 'node_modules/vite/bin/vite.js'

let nodes: Terminal
let site: string
let browser: Browser

beforeAll(async () => {
  nodes = startExample('dapp/nodes.ts')
  const vite = new Terminal(VITE, 'docs/examples/dapp', '--port', '0')
  ;[site] = await vite.shows(/(http:\/\/localhost:\d+\/)/)
  await setUpChromium()
  browser = await chromium.launch(launchOptions)
}, 60_000)

afterAll(async () => {
  await browser?.close()
})

/** What the page shows after these words were sent to the peer of its link */
async function say (words: string, link: string): Promise<string> {
  const page = await browser.newPage()
  await page.goto(new URL(new URL(link).hash, site).href)
  await page.getByLabel('Your words').fill(words)
  await page.getByRole('button').click()

  return await page.getByRole('listitem').first().textContent() ?? ''
}

test('the page reaches the relay through WebSockets', async () => {
  const [link] = await nodes.shows(/^Through WebSockets: +(\S+)$/m)
  expect(await say('héllo', link)).toMatch(/^héllo: directly, \d+ ms$/)
})

test('the page reaches the hidden node through the relay', async () => {
  const [link] = await nodes.shows(/^Through the relay: +(\S+)$/m)
  expect(await say('hello', link)).toMatch(/^hello: through a relay, \d+ ms$/)
})
