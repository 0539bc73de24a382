// The page of `npm run bench matrix`, in Chromium.
import { chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderHtml } from '../../benchmarks/matrix/html.ts'
import { launchOptions, setUpChromium } from '../browser/fixtures/chromium.ts'
import type { Results } from '../../benchmarks/matrix/results.ts'
import type { CellSample } from '../../benchmarks/report/metrics.ts'
import type { Browser, Locator, Page } from 'playwright'

function rounds (rowId: string, muxer: CellSample['muxer'], perSecond: number[]): CellSample[] {
  return perSecond.map((messagesPerS, i) => ({ rowId, muxer, transport: 'tcp-noise', round: i + 1, metrics: { messagesPerS } }))
}

const results: Results = {
  machine: 'a machine',
  startedAt: '2026-01-02T03:04:05Z',
  rounds: 3,
  samples: [
    ...rounds('1x100', 'ours', [4000, 5000, 6000]), ...rounds('1x100', 'stock', [100, 100, 100]),
    ...rounds('10x1m', 'ours', [50, 80, 90]), ...rounds('10x1m', 'stock', [100, 100, 100])
  ],
  failures: [{ transport: 'tcp', muxer: 'quic', message: 'a <reason>' }]
}

let browser: Browser
let page: Page
const complaints: string[] = []

beforeAll(async () => {
  await setUpChromium()
  browser = await chromium.launch(launchOptions)
  page = await browser.newPage({ viewport: { width: 400, height: 800 } })
  page.on('console', message => { complaints.push(message.text()) })
  page.on('pageerror', error => { complaints.push(error.message) })
  page.on('request', request => { complaints.push(`asks for ${request.url()}`) })
  await page.setContent(renderHtml(results))
})

afterAll(async () => { await browser?.close() })

async function edgesOf (locator: Locator): Promise<{ left: number, right: number }> {
  const { x, width } = await locator.boundingBox() ?? { x: NaN, width: NaN }

  return { left: x, right: x + width }
}

describe('the page of the benchmarks', () => {
  test('begins with what the figures come to, and why to doubt them', async () => {
    expect(await page.locator('.lead').allTextContents()).toEqual([
      'Small messages a second: 50 times as many as @libp2p/yamux.',
      'Large messages a second: behind @libp2p/yamux in "10 × 1 MiB" (0.80).'
    ])
    expect(await page.locator('.warning').allTextContents()).toEqual([
      'quic failed over plain TCP and was left out from then on: a <reason>',
      expect.stringMatching(/^3 rounds say little/)
    ])
  })

  test('says in words and figures what its bars show', async () => {
    const [first] = await page.getByRole('table').all()
    const text = await first.innerText()

    expect(text).toContain('1 stream × 100 B: messages/s')
    expect(text).toMatch(/@libp2p\/yamux\s+50\.0 \(40\.0–60\.0\)\s+ahead/)
    expect(text).toMatch(/@libp2p\/yamux\s+0\.80 \(0\.50–0\.90\)\s+behind/)
  })

  test('draws a bar on either side of 1, and the spread of the rounds around its end', async () => {
    const [[ahead, aheadSpread], [behind, behindSpread]] = await Promise.all(['.ahead', '.behind'].map(async outcome =>
      Promise.all(['.bar', '.spread'].map(async part => edgesOf(page.locator(`${outcome} ${part}`).first())))))

    expect(ahead.left).toBeCloseTo(behind.right, 0)
    expect(aheadSpread.left).toBeLessThan(ahead.right)
    expect(aheadSpread.right).toBeGreaterThan(ahead.right)
    expect(behindSpread.left).toBeLessThan(behind.left)
    expect(behindSpread.right).toBeGreaterThan(behind.left)
    // 50 times is 17 times as far on a logarithmic scale as 0.8
    expect((ahead.right - ahead.left) / (behind.right - behind.left)).toBeCloseTo(Math.log(50) / -Math.log(0.8), 0)
  })

  test('opens all figures by keyboard', async () => {
    const tables = page.getByRole('region')
    expect(await tables.count()).toBe(0)

    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(async () => tables.first().getAttribute('aria-label')).toBe('TCP and Noise: throughput')
  })

  test('fits a narrow screen and leaves bars nearly all of it, asks for nothing and has nothing to complain about', async () => {
    const { left, right } = await edgesOf(page.locator('.ahead .plot').first())

    expect(right - left).toBeGreaterThan(300)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400)
    expect(complaints).toEqual([])
  })
})
