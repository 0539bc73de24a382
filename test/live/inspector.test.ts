// The inspector of the live page as it is built, in Chromium.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { HEAD_PX, ROW_PX } from '../../live/inspector/draw.ts'
import { captureFrames } from '../../src/capture.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import { concat, data, pattern, ping, SYN, windowUpdate, ACK } from '../../testing/protocol/frames.ts'
import { PcapngWriter } from './fixtures/pcapng.ts'
import { faultsOf, usePages } from './fixtures/pages.ts'
import type { AddressInfo } from 'node:net'
import type { BrowserContextOptions, Page } from 'playwright'

const WINDOW_BYTES = 262_144
const MANY_FRAMES = 100_000
const US_PER_S = 1e6
const LABEL_PX = 17
/** A width of which a column is a whole part */
const VIEWPORT = { width: 1000, height: 800 }

const { complaints, open: openPage } = usePages()
const writer = new PcapngWriter()
const BEGIN = concat(writer.section(), writer.connection('12D3KooWPeer', 'outbound /memory/1'))

async function open (file: Uint8Array, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openPage('inspector/index.html', { viewport: VIEWPORT, ...options })
  await drop(page, file)

  return page
}

/** As somebody drops a file on the page */
async function drop (page: Page, file: Uint8Array, name = 'frames.pcapng'): Promise<void> {
  const transfer = await page.evaluateHandle(([base64, name]) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([Uint8Array.from(atob(base64), char => char.charCodeAt(0))], name))

    return transfer
  }, [Buffer.from(file).toString('base64'), name])
  await page.dispatchEvent('main', 'dragover', { dataTransfer: transfer })
  await page.dispatchEvent('main', 'drop', { dataTransfer: transfer })
  await page.locator('#status', { hasText: `${name}: ` }).waitFor()
}

async function press (page: Page, ...keys: string[]): Promise<string | null> {
  await page.locator('#timeline').focus()

  for (const key of keys) {
    await page.keyboard.press(key)
  }

  return page.locator('#said').textContent()
}

/** The rows of a table, cell by cell, once they have come */
async function readTable (page: Page, id: string): Promise<string[][]> {
  await page.locator(`#${id} tr`).first().waitFor()

  return page.$$eval(`#${id} tr`, rows => rows.map(row => [...row.children].map(cell => (cell as HTMLElement).innerText)))
}

/** How much of the capture is shown, in words */
async function shown (page: Page): Promise<string> {
  // what is pressed is drawn with the next frame
  await page.evaluate(async () => new Promise(resolve => { requestAnimationFrame(() => { setTimeout(resolve) }) }))

  return await page.locator('#shown').textContent() ?? ''
}

/** Stream 1 uses its credit up at half of the time, and is given more at three quarters. A ping takes from a quarter to the half. */
const WAITING = concat(BEGIN, ...([
  [0, 2, data(1, pattern(100), SYN)],
  [1, 2, ping(7, SYN)],
  [2, 1, ping(7, ACK)],
  [2, 2, data(1, pattern(WINDOW_BYTES - 100)).subarray(0, 12)],
  [3, 1, windowUpdate(1, 1000)],
  [4, 2, data(1, pattern(10))]
] as Array<[number, number, Uint8Array]>).map(([s, flags, frame]) => writer.packet(frame, { ticks: s * US_PER_S, flags })))

describe('a capture of a node', () => {
  let file: Uint8Array
  let peerId: string

  beforeAll(async () => {
    const [node, peer] = await Promise.all([createNode(), createNode()])
    const pieces: Uint8Array[] = []
    peerId = peer.peerId.toString()

    try {
      await peer.handle('/read/1', stream => { stream.addEventListener('message', () => { stream.send(pattern(50)) }) })
      await peer.handle('/never-read/1', stream => { stream.pause() })
      captureFrames(node, { write: bytes => pieces.push(bytes), payloadBytes: 64 })
      const read = await node.dialProtocol(peer.getMultiaddrs(), '/read/1')
      const answered = once(read, 'message')
      read.send(pattern(100))
      await answered
      const neverRead = await node.dialProtocol(peer.getMultiaddrs(), '/never-read/1')
      // more than any window
      neverRead.send(new Uint8Array(20_000_000))
      await sleep(300)
      // so that the capture goes on while that waits
      read.send(pattern(100))
      await once(read, 'message')
    } finally {
      await Promise.all([node.stop(), peer.stop()])
    }

    file = concat(...pieces)
  })

  test('is dropped on the page, which shows its peer, its streams by their protocols, and which of them had no credit', async () => {
    const page = await open(file)

    expect(await page.locator('#connection option').allTextContents()).toEqual([expect.stringMatching(`^${peerId} outbound /ip4/127.0.0.1/tcp/`)])
    expect((await readTable(page, 'waits')).map(([name]) => name)).toContainEqual(expect.stringMatching(/^stream \d+ \/never-read\/1 outbound\s+no credit left$/))
    const names = (await readTable(page, 'numbers')).map(([name]) => name)
    expect(names).toContainEqual(expect.stringMatching(/^stream \d+ \/read\/1 outbound$/))
  })

  test('is read frame by frame with arrow keys, in the words of the trace', async () => {
    const page = await open(file)
    const streams = (await readTable(page, 'numbers')).filter(([name]) => name.startsWith('stream'))
    const index = streams.findIndex(([name]) => name.includes('/read/1'))
    await press(page, ...Array.from({ length: index + 1 }, () => 'ArrowDown'))

    expect(await press(page, 'Home')).toMatch(/^stream (\d+) \/read\/1 outbound: -> DATA \1 SYN \d+ bytes · \+0\.\d{6} s · [\d:.]+ · credit 256 KiB$|^stream (\d+) \/read\/1 outbound: -> WINDOW_UPDATE \2 SYN \+0 /)
    await shown(page)
    expect(await page.locator('#tip').textContent()).toMatch(/^-> (DATA|WINDOW_UPDATE) \d+ SYN/)
    expect(await press(page, 'End')).not.toContain('SYN')
  })
})

test('the live page has a link to it', async () => {
  const page = await openPage('index.html')
  await page.getByRole('link', { name: 'inspector' }).click()

  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Frames of a capture')
})

test.each(['light', 'dark'] as const)('axe finds nothing amiss, in %s colours, before and after a capture is opened', async colorScheme => {
  const page = await openPage('inspector/index.html', { colorScheme })
  expect(await faultsOf(page)).toEqual([])

  await drop(page, WAITING)
  await readTable(page, 'waits')
  await readTable(page, 'numbers')
  await press(page, 'ArrowDown')
  expect(await faultsOf(page)).toEqual([])
})

test('the time without credit is shaded in the half of the side that has none', async () => {
  const page = await open(WAITING)
  await shown(page)
  const reddish = async (part: number, y: number): Promise<number> => page.evaluate(([part, y]) => {
    const picture = document.getElementById('picture') as HTMLCanvasElement
    const copy = new OffscreenCanvas(12, 12).getContext('2d') as OffscreenCanvasRenderingContext2D
    copy.drawImage(picture, -Math.round(part * picture.width), -y)
    const { data } = copy.getImageData(0, 0, 12, 12)

    return data.filter((red, i) => i % 4 === 0 && red > data[i + 2] + 30).length
  }, [part, y])
  const [sent, received] = [HEAD_PX + LABEL_PX + 3, HEAD_PX + LABEL_PX + 21]

  expect(await reddish(0.62, sent)).toBeGreaterThan(72)
  expect(await reddish(0.35, sent)).toBe(0)
  expect(await reddish(0.85, sent)).toBe(0)
  expect(await reddish(0.62, received)).toBe(0)
})

test('the longest waits are listed, and a button leads to each', async () => {
  const page = await open(WAITING)

  expect(await readTable(page, 'waits')).toEqual([
    [expect.stringMatching(/^connection\s+round trip of a ping$/), '+1.000 s', '1,000 ms', 'Show'],
    [expect.stringMatching(/^stream 1 outbound\s+no credit left$/), '+2.000 s', '1,000 ms', 'Show']
  ])
  await page.getByRole('button', { name: 'Show no credit left of stream 1' }).click()
  expect(await shown(page)).toMatch(/^3,000 ms from /)
  expect(await page.locator('#said').textContent()).toMatch(/^stream 1 outbound: -> DATA 1 262044 bytes .* credit 0 B$/)
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('timeline')
})

test('the table has the frames of the window that is shown', async () => {
  const page = await open(WAITING)

  expect(await readTable(page, 'numbers')).toEqual([['connection', '1', '1', '0', '–'], ['stream 1 outbound', '3, 256 KiB', '1', '1', '1,000 ms']])
  // from 3 seconds on, and a little more
  await press(page, 'ArrowDown', 'End', '+', '+')
  await vi.waitUntil(async () => (await readTable(page, 'numbers')).length === 1)
  expect(await readTable(page, 'numbers')).toEqual([['stream 1 outbound', '1, 10 B', '1', '1', '20 ms']])
})

test('keys zoom, move and show all; buttons do too', async () => {
  const page = await open(WAITING)
  expect(await shown(page)).toMatch(/^4,160 ms from /)
  await press(page, '+', '+')
  const zoomed = await shown(page)
  expect(zoomed).toMatch(/^1,040 ms from /)
  await press(page, 'Shift+ArrowRight')
  expect(await shown(page)).toMatch(/^1,040 ms from /)
  expect(await shown(page)).not.toBe(zoomed)
  await press(page, 'Shift+ArrowLeft')
  expect(await shown(page)).toBe(zoomed)
  await press(page, '0')
  expect(await shown(page)).toMatch(/^4,160 ms from /)

  await page.getByRole('button', { name: 'Zoom in' }).click()
  await page.getByRole('button', { name: 'Later' }).click()
  expect(await shown(page)).toMatch(/^2,080 ms from /)
  await page.getByRole('button', { name: 'All' }).click()
  expect(await shown(page)).toMatch(/^4,160 ms from /)
})

test('a pointer finds frames, drags the time and zooms about its place', async () => {
  const page = await open(WAITING)
  await shown(page)
  await page.locator('#timeline').scrollIntoViewIfNeeded()
  const { x, y, width } = await page.locator('#picture').boundingBox() ?? { x: NaN, y: NaN, width: NaN }
  // of 4.16 s, of which 0.08 are before the first frame
  const at = (s: number): number => x + (0.08 + s) / 4.16 * width
  const upper = y + HEAD_PX + LABEL_PX + 8
  await page.mouse.move(at(2) + 3, upper)
  await shown(page)
  expect(await page.locator('#tip').textContent()).toMatch(/^-> DATA 1 262044 bytes/)
  await page.mouse.move(at(2.5), upper)
  await page.locator('#tip').waitFor({ state: 'hidden' })

  await page.keyboard.down('Control')
  await page.mouse.wheel(0, -100)
  await page.keyboard.up('Control')
  const zoomed = await shown(page)
  expect(zoomed).toMatch(/^2,080 ms from /)
  await page.mouse.down()
  await page.mouse.move(at(2.5) - 200, upper)
  await page.mouse.up()
  expect(await shown(page)).toMatch(/^2,080 ms from /)
  expect(await shown(page)).not.toBe(zoomed)
})

test('another connection is chosen by the name of its peer', async () => {
  const page = await open(concat(WAITING, writer.connection('12D3KooWOther', 'inbound /memory/2'), writer.packet(data(2, pattern(5), SYN), { interfaceId: 1, ticks: 2 * US_PER_S, flags: 1 })))
  await page.getByRole('combobox', { name: 'Connection' }).selectOption('12D3KooWOther inbound /memory/2')

  await vi.waitUntil(async () => (await readTable(page, 'numbers'))[0][0] === 'stream 2 inbound')
  expect(await press(page, 'ArrowDown')).toMatch(/^stream 2 inbound: <- DATA 2 SYN 5 bytes/)
})

test('a file that cannot be shown says why, and what to do; the next one is shown', async () => {
  const page = await open(concat(writer.section(), writer.connection('eth0', '', { linkType: 1 })))
  expect(await page.getByRole('alert').textContent()).toMatch(/link type 1, not 147.*captureFrames/)
  expect(await page.locator('#stage').isHidden()).toBe(true)

  await drop(page, WAITING, 'waiting.pcapng')
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(await page.locator('#status').textContent()).toBe('waiting.pcapng: 6 frames of 1 connection, 4,000 ms.')
})

test('the frames before a cut or a damage are shown', async () => {
  const page = await open(concat(WAITING, new Uint8Array(12).fill(255)))

  expect(await page.getByRole('alert').textContent()).toMatch(/damaged/)
  expect(await readTable(page, 'numbers')).toHaveLength(2)
})

test(`${MANY_FRAMES} frames of 1,000 streams are shown, and found by keys`, async () => {
  const STREAMS = 1000
  const frames = Array.from({ length: MANY_FRAMES }, (_, i) =>
    writer.packet(data(2 * (i % STREAMS) + 1, pattern(0), i < STREAMS ? SYN : 0), { ticks: i * 100 }))
  const page = await open(concat(BEGIN, ...frames))

  expect(await page.locator('#status').textContent()).toMatch(/: 100,000 frames of 1 connection/)
  expect(await readTable(page, 'numbers')).toHaveLength(20)
  expect(await page.locator('#numbers-note').textContent()).toContain('980 more streams')
  await page.locator('#timeline').evaluate(timeline => { timeline.scrollTop = timeline.scrollHeight })
  await page.locator('#timeline').scrollIntoViewIfNeeded()
  await shown(page)
  const { x, y, height } = await page.locator('#picture').boundingBox() ?? { x: NaN, y: NaN, height: NaN }
  await page.mouse.click(x + 500, y + height - ROW_PX / 2)
  expect(await page.locator('#said').textContent()).toMatch(/^stream 1999 outbound: -> DATA 1999 0 bytes/)
  expect(await press(page, 'ArrowUp')).toMatch(/^stream 1997 outbound/)
})

describe('a running node', () => {
  async function serve (allowed: boolean) {
    const server = createServer((_, response) => {
      response.writeHead(200, allowed ? { 'access-control-allow-origin': '*' } : {})
      response.write(WAITING)
    })
    server.listen(0, '127.0.0.1')
    const responses = once(server, 'request')
    await once(server, 'listening')

    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, responses, close: () => { server.close().closeAllConnections() } }
  }

  test('is watched: its frames are drawn as they come, until Stop is pressed', async () => {
    const { url, responses, close } = await serve(true)
    const page = await openPage('inspector/index.html')
    await page.getByLabel('Address of a node’s capture').fill(url)
    await page.keyboard.press('Enter')
    await page.locator('#status', { hasText: 'Watching' }).waitFor()
    expect(await readTable(page, 'numbers')).toHaveLength(2)

    const [, response] = await responses
    const closed = once(response, 'close')
    response.write(writer.packet(data(3, pattern(5), SYN), { ticks: 20 * US_PER_S }))
    await page.locator('#shown', { hasText: ', 7 frames in all' }).waitFor()
    // of 20 s the last 10
    expect(await page.getByRole('button', { name: 'Follow' }).getAttribute('aria-pressed')).toBe('true')
    expect(await shown(page)).toMatch(/^10 s from /)

    await page.getByRole('button', { name: 'Stop' }).click()
    await closed
    await vi.waitFor(() => { expect(complaints.splice(0)).toEqual([`${url} failed`]) })
    expect(await page.locator('#status').textContent()).toBe(`${url}: 7 frames of 1 connection, 20 s.`)
    expect(await page.getByRole('alert').count()).toBe(0)
    close()
  })

  test('that does not let the page read it: the page names the header that is missing', async () => {
    const { url, close } = await serve(false)
    const page = await openPage('inspector/index.html')
    await page.getByLabel('Address of a node’s capture').fill(url)
    await page.getByRole('button', { name: 'Watch' }).click()
    await page.getByRole('alert').waitFor()

    expect(await page.getByRole('alert').textContent()).toMatch(/access-control-allow-origin/)
    await vi.waitFor(() => { expect(complaints).toHaveLength(3) })
    expect(complaints.splice(0).join()).toMatch(/CORS policy/)
    close()
  })
})

test('nothing is cut off on a screen of 360 pixels', async () => {
  const page = await open(WAITING, { viewport: { width: 360, height: 640 } })
  await readTable(page, 'waits')
  await press(page, 'ArrowDown', 'End')
  await page.locator('#tip').waitFor()

  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  const { x, width } = await page.locator('#tip').boundingBox() ?? { x: NaN, width: NaN }
  expect(x).toBeGreaterThanOrEqual(0)
  expect(x + width).toBeLessThanOrEqual(360)
})
