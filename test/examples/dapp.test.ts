// docs/examples/dapp: its nodes in a process, its page from Vite in Chromium.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Site } from './fixtures/site.ts'
import { startExample } from './fixtures/terminal.ts'
import type { Terminal } from './fixtures/terminal.ts'

let nodes: Terminal
let site: Site

beforeAll(async () => {
  nodes = startExample('dapp/nodes.ts')
  site = await Site.serve('dapp')
})

afterAll(async () => {
  await site?.close()
})

/** What the page shows after these words were sent to the peer of its link */
async function say (words: string, link: string): Promise<string> {
  const page = await site.open(link)
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
