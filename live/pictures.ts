/**
 * Takes the pictures of docs/live.md: `node live/pictures.ts`, with nothing else on the machine.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright'
import { build } from 'vite'
import { launchOptions, setUpChromium } from '../testing/browser/chromium.ts'
import { serveFolder } from '../testing/browser/site.ts'
import { toHash } from './page/hash.ts'
import { presets } from './presets.ts'
import type { Page } from 'playwright'

/** Until the chart is full */
const SHOWN_AFTER_MS = 31_000

const VIEWPORT = { width: 1180, height: 940 }

const pictures = [
  { file: 'home-uplink.png', preset: presets[0], colorScheme: 'light', take: async (page: Page) => page.screenshot() },
  { file: 'many-streams.png', preset: presets[2], colorScheme: 'dark', take: async (page: Page) => page.locator('section', { hasText: 'The last writes' }).screenshot() }
] as const

const outDir = await mkdtemp(join(tmpdir(), 'live-'))
await setUpChromium()
await build({ root: import.meta.dirname, logLevel: 'error', build: { outDir } })
const site = await serveFolder(outDir)
const browser = await chromium.launch(launchOptions)

try {
  for (const { file, preset, colorScheme, take } of pictures) {
    const page = await browser.newPage({ viewport: VIEWPORT, colorScheme, locale: 'en' })
    await page.goto(`${site.url}#${toHash(preset.setup)}`)
    await page.waitForTimeout(SHOWN_AFTER_MS)
    await writeFile(join(import.meta.dirname, 'pictures', file), await take(page))
    await page.close()
  }
} finally {
  await browser.close()
  site.close()
  await rm(outDir, { recursive: true })
}
