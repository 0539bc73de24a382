/**
 * Takes the pictures of README.md and docs/live.md: `node live/pictures.ts`, with nothing else on the machine.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright'
import { build } from 'vite'
import { launchOptions, setUpChromium } from '../testing/browser/chromium.ts'
import { serveFolder } from '../testing/browser/site.ts'
import { captureExample } from './example-capture.ts'
import { toHash } from './page/hash.ts'
import { presets } from './presets.ts'
import type { Page } from 'playwright'

/** For the latencies of ten seconds, long after both have begun */
const SHOWN_AFTER_MS = 31_000
/** So narrow that letters can be read on a phone */
const VIEWPORT = { width: 600, height: 900 }
/** Around the sections, of the page */
const MARGIN = 10

/** Each shows the sections of the stage from one to another */
const pictures = [
  { file: 'home-uplink', preset: presets[0], from: 'headline', to: 'in-flight-title' },
  { file: 'many-streams', preset: presets[2], from: 'writes-title', to: 'writes-title' }
] as const

const outDir = await mkdtemp(join(tmpdir(), 'live-'))
await setUpChromium()
await build({ root: import.meta.dirname, logLevel: 'error', build: { outDir } })
const site = await serveFolder(outDir)
const browser = await chromium.launch(launchOptions)

async function shoot (page: Page, file: string, from: string, to: string): Promise<void> {
  const [first, last] = await Promise.all([from, to].map(async title => page.locator(`section[aria-labelledby=${title}]`).boundingBox()))

  if (first == null || last == null) {
    throw new Error(`${from} or ${to} is not on the page`)
  }

  const clip = { x: first.x - MARGIN, y: first.y - MARGIN, width: first.width + 2 * MARGIN, height: last.y + last.height - first.y + 2 * MARGIN }

  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.waitForTimeout(100)
    await writeFile(join(import.meta.dirname, 'pictures', `${file}${colorScheme === 'dark' ? '-dark' : ''}.png`), await page.screenshot({ fullPage: true, clip }))
  }

  await page.close()
}

async function open (path: string, deviceScaleFactor: number): Promise<Page> {
  const page = await browser.newPage({ viewport: VIEWPORT, locale: 'en', deviceScaleFactor })
  await page.goto(`${site.url}${path}`)

  return page
}

try {
  for (const { file, preset, from, to } of pictures) {
    const page = await open(`#${toHash(preset.setup)}`, 1.5)
    await page.waitForTimeout(SHOWN_AFTER_MS)
    await page.getByRole('button', { name: 'Pause' }).click()
    // it would cover what is below
    await page.addStyleTag({ content: '.buttons { display: none !important }' })
    await shoot(page, file, from, to)
  }

  // its many edges would make a larger file
  const page = await open('inspector/index.html', 1)
  await page.setInputFiles('#file', { name: 'frames.pcapng', mimeType: '', buffer: Buffer.concat(await captureExample()) })
  await page.locator('#waits tr').first().waitFor()
  // the peer's name is another one each time
  await page.addStyleTag({ content: '.tools, .keys { display: none !important }' })
  await shoot(page, 'inspector', 'timeline-title', 'timeline-title')
} finally {
  await browser.close()
  site.close()
  await rm(outDir, { recursive: true })
}
