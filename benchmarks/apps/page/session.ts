// Helia in a page of a Chromium of its own, and in a process that it fetches from.
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright'
import { launchOptions, setUpChromium } from '../../../testing/browser/chromium.ts'
import { buildSite } from '../../../testing/browser/site.ts'
import { QUIET_MS, startEnds } from '../session.ts'
import type { Site } from '../../../testing/browser/site.ts'
import type { ContestantMuxer, MuxerName } from '../../contestants.ts'
import type { Application } from '../applications.ts'
import type { File } from '../helia/files.ts'
import type { Session } from '../session.ts'
import type { HeliaPage } from './page.ts'
import type { Browser, Page } from 'playwright'

declare const globalThis: HeliaPage

/** Of all processes of the browser, from when it began */
async function cpuMs (browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()

  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime * 1000, 0)
}

/** `muxers` has that of the process and that of the page */
export function startPageSession ({ id, label }: Application, [muxer, pageMuxer]: ContestantMuxer[], isShort: boolean): Session {
  const [server] = startEnds(`${label.replaceAll('\n', ' ')}, ${muxer}`, 1)
  let site: Site
  let browser: Browser
  let page: Page

  return {
    async start () {
      const addresses = await server.commands.start(id, 0, { muxer, transport: 'ws-noise', isShort })
      await setUpChromium()
      site = await buildSite(fileURLToPath(new URL('.', import.meta.url)))
      browser = await chromium.launch(launchOptions)
      page = await browser.newPage()
      await page.goto(site.url)
      await page.evaluate(async ([muxer, addresses]) => globalThis.connectTo(muxer, addresses), [pageMuxer as MuxerName, addresses] as const)
    },

    async measure (round) {
      const files = await server.commands.prepare(round) as File[]
      await page.evaluate(async () => globalThis.forgetAll())
      const cpuBeforeMs = await cpuMs(browser)
      await server.commands.startCounting()
      const durationMs = await page.evaluate(async files => globalThis.fetchAll(files), files)
      await sleep(QUIET_MS)
      const { maxRssBytes, ...spent } = await server.commands.counted()
      const pageCpuMs = await cpuMs(browser) - cpuBeforeMs
      await page.evaluate(() => { globalThis.check() })

      return { durationMs, latenciesMs: [], spent: { ...spent, cpuMs: spent.cpuMs + pageCpuMs }, maxRssBytes }
    },

    async stop () {
      await Promise.all([server.stop(), browser?.close()])
      site?.close()
    }
  }
}
