// The live page as it is built, in Chromium.
import { expect, test, vi } from 'vitest'
import { presets } from '../../live/presets.ts'
import { faultsOf, usePages } from './fixtures/pages.ts'
import type { BrowserContextOptions, Page } from 'playwright'

/** For compilers to have done their work, and for a median of the latencies */
const WARM_UP_MS = 4000
/** Earlier the page does not judge the machine */
const JUDGED_AFTER_MS = 6500
/** An urgent message is ahead by ten times and more, as the rate of the link decides */
const LEAST_AHEAD = 1.5
/** A write of ours holds 500 messages and more where one of stock's holds one */
const LEAST_GATHERED = 10

const { complaints, open: openPage } = usePages()

async function open (hash = '', options?: BrowserContextOptions, initScript?: string): Promise<Page> {
  return openPage(`index.html#${hash}`, options, initScript)
}

/** What the table says, by what each cell shows; times in ms */
async function readTable (page: Page): Promise<Record<string, number>> {
  const texts = await page.$$eval('#numbers td', cells => cells.map(cell => [(cell as HTMLElement).dataset.shows ?? '', cell.textContent]))

  return Object.fromEntries(texts.map(([id, text]) => [id, parseFloat(text.replaceAll(',', '')) * (text.endsWith(' s') ? 1000 : 1)]))
}

/** Waits until the table says so */
async function until (page: Page, isSo: (numbers: Record<string, number>) => boolean): Promise<void> {
  await vi.waitUntil(async () => isSo(await readTable(page)), { timeout: 15_000, interval: 100 })
}

test.each(presets)('$name: ours is ahead, and has written the frames and bytes that its own metrics tell of', async ({ name }) => {
  const page = await open()
  await page.getByLabel(name).check()
  await page.waitForTimeout(WARM_UP_MS)
  await until(page, numbers => numbers['median-stock'] > 0)
  const numbers = await readTable(page)

  expect(numbers['own-frames-ours']).toBe(numbers['all-frames-ours'])
  expect(numbers['own-bytes-ours']).toBe(numbers['all-bytes-ours'])
  expect(numbers['all-frames-ours']).toBeGreaterThan(100)
  expect(numbers['frames-stock']).toBe(1)
  expect(await page.locator('#failure').isHidden()).toBe(true)

  if (name === 'Home uplink') {
    expect(numbers['median-stock'] / numbers['median-ours']).toBeGreaterThan(LEAST_AHEAD)
    expect(numbers['carried-ours'] / numbers['carried-stock']).toBeGreaterThan(0.5)
  } else {
    // how many a second is what else the machine does: ours was behind once beside other tests
    const messagesPerWrite = (muxer: string): number => numbers[`messages-${muxer}`] / numbers[`writes-${muxer}`]
    expect(messagesPerWrite('ours') / messagesPerWrite('stock')).toBeGreaterThan(LEAST_GATHERED)
  }
}, 30_000)

test.each(['light', 'dark'] as const)('axe finds nothing amiss, in %s colours', async colorScheme => {
  const page = await open('', { colorScheme })
  await until(page, numbers => numbers['median-stock'] > 0)

  expect(await faultsOf(page)).toEqual([])
})

test('arrow keys make the link slower while it is in use, and the address tells of it', async () => {
  const page = await open()
  await until(page, numbers => numbers['carried-ours'] > 5)
  await page.getByRole('slider', { name: 'Rate' }).focus()

  for (let i = 0; i < 3; i++) {
    await page.keyboard.press('ArrowLeft')
  }

  expect(await page.getByRole('slider', { name: 'Rate' }).getAttribute('aria-valuetext')).toBe('1 Mbit/s')
  expect(page.url()).toContain('mbitPerS=1&')
  const frames = (await readTable(page))['all-frames-ours']
  await until(page, numbers => numbers['carried-ours'] < 1.5 && numbers['carried-stock'] < 1.5)
  // the same contest goes on
  expect((await readTable(page))['all-frames-ours']).toBeGreaterThan(frames)
})

test('an address leads to its setup, and what it does not say is that of the first preset', async () => {
  const page = await open('mbitPerS=50&strategy=off&streams=nonsense')

  expect(await page.getByRole('slider', { name: 'Rate' }).getAttribute('aria-valuetext')).toBe('50 Mbit/s')
  expect(await page.getByLabel('strategy').inputValue()).toBe('off')
  expect(await page.getByLabel('Bulk streams').getAttribute('aria-valuetext')).toBe(String(presets[0].setup.streams))
  expect(await page.locator('input[name=preset]:checked').count()).toBe(0)
})

test('Pause stops all that moves, until it is pressed again', async () => {
  const page = await open()
  await until(page, numbers => numbers['all-frames-ours'] > 0)
  await page.getByRole('button', { name: 'Pause' }).click()
  const paused = await page.screenshot()
  await page.waitForTimeout(500)
  expect((await page.screenshot()).equals(paused)).toBe(true)

  const frames = (await readTable(page))['all-frames-ours']
  await page.getByRole('button', { name: 'Pause' }).press('Enter')
  await until(page, numbers => numbers['all-frames-ours'] > frames)
})

test('a browser under a POSIX locale, whose language is no language tag, shows the page', async () => {
  const page = await open('', {}, 'Object.defineProperty(navigator, "language", { value: "en-US@posix", configurable: true })')
  await until(page, numbers => numbers['median-ours'] > 0)

  expect(await page.locator('#failure').isHidden()).toBe(true)
})

test('a page that fails says so on the page', async () => {
  const page = await open()
  await page.evaluate('setTimeout(() => { throw new Error("Broken") })')
  await page.locator('#failure').waitFor({ state: 'visible' })

  expect(await page.locator('#failure').textContent()).toContain('Broken')
  expect(complaints.splice(0)).toEqual(['Broken'])
})

test('a link without a limit shows no latency, which would be that of a busy thread', async () => {
  const page = await open()
  await until(page, numbers => numbers['median-stock'] > 0)
  const heading = page.getByRole('heading', { name: 'Median round trip', includeHidden: true })
  expect(await heading.isVisible()).toBe(true)
  await page.getByLabel('Small messages').check()

  expect(await heading.isHidden()).toBe(true)
  expect(await page.locator('#latency').isHidden()).toBe(true)
  expect(await page.getByText('Messages a second').first().isVisible()).toBe(true)
})

test.each([[400, 800], [1300, 800]])('Pause and Start are in view wherever one scrolls to on a screen of %i by %i', async (width, height) => {
  const page = await open('', { viewport: { width, height } })

  for (const top of [0, 500, 10_000]) {
    await page.evaluate(`scrollTo(0, ${top})`)

    for (const name of ['Pause', 'Start again']) {
      const { y = NaN } = await page.getByRole('button', { name }).boundingBox() ?? {}
      expect(y).toBeGreaterThanOrEqual(0)
      expect(y).toBeLessThan(height - 20)
    }
  }
})

test('presets come first on a phone, and results are in view, as settings are folded', async () => {
  const page = await open('', { viewport: { width: 400, height: 800 } })
  const top = async (selector: string): Promise<number> => (await page.locator(selector).boundingBox())?.y ?? NaN

  expect(await top('#presets')).toBeLessThan(await top('.figures'))
  expect(await top('.figures')).toBeLessThan(600)
  expect(await page.getByRole('slider', { name: 'Rate', includeHidden: true }).isVisible()).toBe(false)
})

test('bars begin empty, and every number with a dash', async () => {
  const page = await open('', {}, 'Worker.prototype.postMessage = () => {}')

  expect(await page.locator('.bar i').evaluateAll(bars => bars.map(bar => bar.clientWidth))).toEqual([0, 0])
  expect(new Set(await page.locator('.figures dd, #numbers td').allTextContents())).toEqual(new Set(['–']))
})

/** Each report comes so much later by the clock of its contestant */
const delayReports = (ms: number): string => `
  Object.defineProperty(Worker.prototype, 'onmessage', { set (listener) {
    let reports = 0
    this.addEventListener('message', event => {
      if (event.data.report != null) {
        event.data.report.atMs += ++reports * ${ms}
      }

      listener(event)
    })
  } })`

test.each([[0, 'hidden'], [100, 'visible']] as const)('when reports come %i ms late, the warning of a machine that is too busy is %s', async (delayMs, state) => {
  const page = await open('', {}, delayReports(delayMs))
  await page.waitForTimeout(JUDGED_AFTER_MS)

  await page.locator('#doubt').waitFor({ state, timeout: 5000 })
})

test('nothing is cut off on a screen of 360 pixels', async () => {
  const page = await open('', { viewport: { width: 360, height: 640 } })
  await until(page, numbers => numbers['median-stock'] > 0)

  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
})
