// The option limits.maxNodeWindow with whole muxers: several connections of one node, whose peers send as fast as windows let them.
import { describe, expect, test } from 'vitest'
import { yamux } from '../../src/index.ts'
import { yamux as lightYamux } from '../../src/light.ts'
import { snapshot } from '../../src/snapshot.ts'
import { chunksOf, sendAll } from '../../testing/libp2p/streams.ts'
import { pattern } from '../../testing/pattern.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { YamuxFactory, YamuxMuxer, YamuxStream } from '../../src/index.ts'
import type { LinkEnd, LinkOptions } from '../../testing/simulation/link.ts'
import type { Simulation } from '../../testing/simulation/simulate.ts'

const WINDOW_BYTES = 262_144
const MIB = 2 ** 20
/** Far enough for windows of 16 MiB */
const FAR: LinkOptions = { delayMs: 100, rateBytesPerS: 20 * MIB }
/** The protocol's own windows carry no more over such a link */
const WITHOUT_GROWTH_BYTES_PER_S = WINDOW_BYTES / 0.2

interface Download {
  muxer: YamuxMuxer
  linkEnd: LinkEnd
  receivedBytes: number
}

class Downloads {
  readonly all: Download[] = []
  readonly #sim: Simulation
  readonly #node: ReturnType<YamuxFactory>
  readonly #peers = yamux({ coalesce: { maxQueueDelayMs: Infinity } })()

  constructor (sim: Simulation, createFactory: typeof yamux, maxNodeWindow: number) {
    this.#sim = sim
    this.#node = createFactory({ limits: { maxNodeWindow } })()
  }

  get windowBytes (): number {
    return this.all.reduce((sum, { muxer }) => sum + snapshot(muxer).windowBytes, 0)
  }

  /** A peer that opens streams and sends on each of them until the connection ends. This side reads all of it at once. */
  begin (streams: number): Download {
    const { dialler, listener, diallerEnd } = this.#sim.connect(FAR, { dialler: () => this.#node, listener: () => this.#peers })
    const download: Download = { muxer: dialler, linkEnd: diallerEnd, receivedBytes: 0 }
    dialler.addEventListener('stream', ({ detail }) => { read(detail, download).catch(() => {}) })
    this.all.push(download)

    for (let i = 0; i < streams; i++) {
      sendForever(listener).catch(() => {})
    }

    return download
  }

  /** What each of them has received in some seconds, per second */
  async ratesIn (seconds: number): Promise<number[]> {
    const before = this.all.map(({ receivedBytes }) => receivedBytes)
    await this.#sim.sleep(seconds * 1000)

    return this.all.map(({ receivedBytes }, index) => (receivedBytes - before[index]) / seconds)
  }

  end (): void {
    this.all.forEach(({ muxer }) => { muxer.abort(new Error('The test is over')) })
  }
}

async function read (stream: YamuxStream, download: Download): Promise<void> {
  for await (const bytes of chunksOf(stream)) {
    download.receivedBytes += bytes.byteLength
  }
}

async function sendForever (muxer: YamuxMuxer): Promise<void> {
  const stream = await muxer.createStream()
  const piece = pattern(65_536)

  while (stream.status === 'open') {
    await sendAll(stream, [piece])
  }
}

describe.each([['yamux()', yamux], ['the light yamux()', lightYamux as typeof yamux]])('%s', (_, createFactory) => {
  test('lets connections that are denied growth go on with the windows that they have', async () => {
    await simulate({}, async sim => {
      const downloads = new Downloads(sim, createFactory, 0)
      downloads.begin(1)
      downloads.begin(1)
      await sim.sleep(3000)

      for (const rate of await downloads.ratesIn(5)) {
        expect(rate).toBeGreaterThan(0.7 * WITHOUT_GROWTH_BYTES_PER_S)
        expect(rate).toBeLessThan(1.1 * WITHOUT_GROWTH_BYTES_PER_S)
      }

      downloads.end()
    })
  })

  test('shares what there is with connections that come later', async () => {
    await simulate({}, async sim => {
      const downloads = new Downloads(sim, createFactory, 4 * MIB)
      downloads.begin(1)
      await sim.sleep(5000)
      const [alone] = await downloads.ratesIn(5)
      downloads.begin(1)
      // one more stream is no larger part
      downloads.begin(2)
      await sim.sleep(15_000)
      const rates = await downloads.ratesIn(10)

      expect(alone).toBeGreaterThan(10 * WITHOUT_GROWTH_BYTES_PER_S)
      expect(Math.min(...rates)).toBeGreaterThan(3 * WITHOUT_GROWTH_BYTES_PER_S)
      expect(Math.max(...rates)).toBeLessThan(2 * Math.min(...rates))
      // the streams that came when it was used up have what others gave back
      expect(downloads.windowBytes).toBeLessThanOrEqual(4 * MIB)
      downloads.end()
    })
  })

  test.each<[string, (download: Download) => unknown]>([
    ['closes', async ({ muxer, linkEnd }) => { await muxer.close(); await linkEnd.close() }],
    ['aborts', ({ muxer }) => { muxer.abort(new Error('No longer wanted')) }],
    ['resets the streams of', ({ muxer }) => { [...muxer.streams].forEach(stream => { stream.abort(new Error('No longer wanted')) }) }],
    ['loses', ({ linkEnd }) => { linkEnd.abort(new Error('The network is gone')) }]
  ])('has everything to give to new connections once it %s the others', async (_, end) => {
    await simulate({}, async sim => {
      const downloads = new Downloads(sim, createFactory, 4 * MIB)
      const first = [downloads.begin(2), downloads.begin(1)]
      await sim.sleep(5000)
      expect(downloads.windowBytes).toBeGreaterThan(3 * MIB)
      await Promise.all(first.map(end))
      // nothing is asked for meanwhile
      await sim.sleep(10_000)
      expect(downloads.windowBytes).toBe(0)

      downloads.begin(1)
      await sim.sleep(5000)
      expect(downloads.windowBytes).toBe(WINDOW_BYTES + (4 * MIB - WINDOW_BYTES) * 7 / 8)
      downloads.end()
    })
  })
})
