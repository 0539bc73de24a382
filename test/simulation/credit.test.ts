// How often credit is given back, and how much: what a sender at full speed may make its receiver hold.
import { pEvent } from 'p-event'
import { describe, expect, it, test } from 'vitest'
import { SLOWED_UPDATE_PART, UPDATE_PART } from '../../src/core/window/receive-window.ts'
import { yamux } from '../../src/index.ts'
import { CreditWatch, INITIAL_BYTES } from './fixtures/credit.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { StreamCredit } from './fixtures/credit.ts'
import type { YamuxMuxerInit, YamuxStream } from '../../src/index.ts'
import type { LinkOptions } from '../../testing/simulation/link.ts'
import type { ConnectedMuxers, Simulation } from '../../testing/simulation/simulate.ts'
import type { YamuxMuxer } from '../../src/index.ts'
import type { Stream } from '@libp2p/interface'

const ADSL: LinkOptions = { rateBytesPerS: 2_500_000, delayMs: 25 }
const MOBILE: LinkOptions = { rateBytesPerS: 750_000, delayMs: 50 }
const CABLE: LinkOptions = { rateBytesPerS: 25_000_000, delayMs: 10 }
const LAN: LinkOptions = { rateBytesPerS: 125_000_000, delayMs: 0.05 }
const TERRESTRIAL: LinkOptions = { rateBytesPerS: 125_000_000, delayMs: 0.5 }
const LONG_FAT: LinkOptions = { rateBytesPerS: 125_000_000, delayMs: 50 }

const MAX_WINDOW_BYTES = 16_777_216
/** Where credit takes milliseconds a stream begins with a head start, which changes neither updates nor growth */
const HEAD_START_BYTES = 851_968
const BATCH_BYTES = 65_519
const message = new Uint8Array(65_536)

interface Watched extends ConnectedMuxers<YamuxMuxer, YamuxMuxer> {
  watch: CreditWatch
}

function connect (sim: Simulation, link: LinkOptions, init: YamuxMuxerInit = {}): Watched {
  const watch = new CreditWatch()
  const createMuxer = yamux(init)

  return { watch, ...sim.connect(watch.watch(link), { dialler: createMuxer, listener: createMuxer }) }
}

/** Goes on until the stream is reset */
async function sendForEver (stream: Stream): Promise<void> {
  while (stream.writeStatus === 'writable') {
    if (!stream.send(message)) {
      await pEvent(stream, 'drain', { rejectionEvents: ['close'] }).catch(() => {})
    }
  }
}

async function accepted (listener: YamuxMuxer): Promise<YamuxStream> {
  return (await pEvent<'stream', CustomEvent<YamuxStream>>(listener, 'stream')).detail
}

interface Updates {
  /** The window without its head start */
  windowBytes: number
  count: number
  bytes: number
}

/** The updates that were no growth, by the size that the window had then */
function updatesBySize ({ deltas, windows }: StreamCredit): Updates[] {
  const bySize: Updates[] = [{ windowBytes: INITIAL_BYTES, count: 0, bytes: 0 }]
  const hasHeadStart = deltas[0] >= HEAD_START_BYTES

  deltas.forEach((delta, i) => {
    const last = bySize[bySize.length - 1]
    const windowBytes = windows[i] - (hasHeadStart ? HEAD_START_BYTES : 0)

    if (i === 0 && hasHeadStart) {
      return
    }

    if (windowBytes > last.windowBytes) {
      bySize.push({ windowBytes, count: 0, bytes: 0 })
    } else {
      last.count++
      last.bytes += delta
    }
  })

  return bySize
}

async function updatesOn (link: LinkOptions, transferBytes: number): Promise<Updates[]> {
  return simulate({}, async sim => {
    const { dialler, listener, watch } = connect(sim, link)
    let readBytes = 0
    listener.addEventListener('stream', evt => {
      evt.detail.addEventListener('message', ({ data }) => { readBytes += data.byteLength })
    })
    await sim.sleep(10 * link.delayMs)
    const stream = await dialler.createStream()
    const sending = sendForEver(stream)
    await sim.until(() => readBytes >= transferBytes)
    const updates = updatesBySize(watch.of(Number(stream.id.replace(/\D/g, ''))))
    stream.abort(new Error('The test is over'))
    await sending

    return updates
  })
}

describe('window updates', () => {
  it.each([['adsl2+', ADSL], ['mobile', MOBILE], ['cable', CABLE], ['gigabit LAN', LAN], ['terrestrial', TERRESTRIAL]])('are at most one for each half window read, and one for each growth: %s', async (_, link) => {
    const sizes = await updatesOn(link, 20_000_000)

    for (const { windowBytes, count, bytes } of sizes) {
      expect(count).toBeLessThanOrEqual((bytes + SLOWED_UPDATE_PART * windowBytes) / (UPDATE_PART * windowBytes))
    }

    expect(sizes.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(3)
  })

  it('are at most one for each quarter of a window that may not grow any more and still holds its sender back', async () => {
    const sizes = await updatesOn(LONG_FAT, 250_000_000)
    const { windowBytes, count, bytes } = sizes[sizes.length - 1]

    expect(windowBytes).toBe(MAX_WINDOW_BYTES - HEAD_START_BYTES)
    expect(count).toBeGreaterThan(10)
    expect(count).toBeLessThanOrEqual((bytes + SLOWED_UPDATE_PART * windowBytes) / (SLOWED_UPDATE_PART * windowBytes))
    // while it grew, every update was a growth
    expect(sizes.slice(0, -1).every(({ count }) => count === 0)).toBe(true)
  })
})

type Read = (sim: Simulation, stream: YamuxStream, onRead: (byteLength: number) => void) => Promise<void>

const SLOW_BYTES_PER_MS = 1000

const slowReaders: Array<[name: string, read: Read]> = [
  ['a for await loop', async (sim, stream, onRead) => {
    for await (const chunk of stream) {
      await sim.sleep(chunk.byteLength / SLOW_BYTES_PER_MS)
      onRead(chunk.byteLength)
    }
  }],
  ['a listener that pauses', async (sim, stream, onRead) => {
    stream.addEventListener('message', ({ data }) => {
      onRead(data.byteLength)
      stream.pause()
      sim.at(sim.nowMs + data.byteLength / SLOW_BYTES_PER_MS, () => {
        if (stream.status === 'open') {
          stream.resume()
        }
      })
    })
  }]
]

describe.each(slowReaders)('a reader at 1 MB/s, %s, behind a sender at full speed', (_, read) => {
  it.each([
    ['gigabit LAN', LAN, INITIAL_BYTES],
    ['terrestrial', TERRESTRIAL, INITIAL_BYTES],
    // who pauses gets a whole window in one event, and looks fast once
    ['cable', CABLE, INITIAL_BYTES + HEAD_START_BYTES + INITIAL_BYTES]
  ])('holds no more than its window and a batch, and the window does not go on growing: %s', async (_, link, mostWindowBytes) => {
    await simulate({}, async sim => {
      // small writes at the beginning would make a reader that pauses for as long as each is long look fast
      const { dialler, listener, watch } = connect(sim, link, { coalesce: { maxQueueDelayMs: Infinity } })
      const opened = accepted(listener)
      await sim.sleep(10 * link.delayMs)
      const stream = await dialler.createStream()
      const sending = sendForEver(stream)
      const id = Number(stream.id.replace(/\D/g, ''))
      let readBytes = 0
      let mostHeldBytes = 0
      const inbound = await opened
      const reading = read(sim, inbound, byteLength => {
        mostHeldBytes = Math.max(mostHeldBytes, watch.of(id).arrivedBytes - readBytes)
        readBytes += byteLength
      })

      await sim.sleep(20_000)
      expect(readBytes).toBeGreaterThan(18_000_000)
      expect(mostHeldBytes).toBeGreaterThan(INITIAL_BYTES / 2)
      expect(mostHeldBytes).toBeLessThanOrEqual(mostWindowBytes + BATCH_BYTES)
      // no more than was read, so the window has not grown since
      expect(watch.grantedBytes(id)).toBeLessThanOrEqual(readBytes + mostWindowBytes - INITIAL_BYTES)

      inbound.abort(new Error('The test is over'))
      await Promise.all([sending, reading.catch(() => {})])
    })
  })
})

test('a stream whose window has grown as far as it may, and that is idle since, leaves as much to the next', async () => {
  await simulate({}, async sim => {
    const { dialler, listener } = connect(sim, LONG_FAT)
    let readBytes = 0
    listener.addEventListener('stream', evt => {
      evt.detail.addEventListener('message', ({ data }) => { readBytes += data.byteLength })
    })

    const transfer = async (byteLength: number): Promise<number> => {
      const stream = await dialler.createStream()
      const startMs = sim.nowMs
      const untilBytes = readBytes + byteLength

      for (let sent = 0; sent < byteLength; sent += message.byteLength) {
        if (!stream.send(message)) {
          await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
        }
      }

      await sim.until(() => readBytes >= untilBytes)

      return sim.nowMs - startMs
    }

    const firstMs = await transfer(100 * 1_048_576)
    await sim.sleep(10_000)
    expect(await transfer(100 * 1_048_576)).toBeLessThan(1.1 * firstMs)
  })
})

test('a stream that is read grows although two readers stand still with all that windows may grow by', async () => {
  await simulate({}, async sim => {
    const { dialler, listener, watch } = connect(sim, LONG_FAT)
    let readBytes = 0
    listener.addEventListener('stream', ({ detail: stream }) => {
      stream.addEventListener('message', ({ data }) => {
        readBytes += data.byteLength

        // the first two have large windows by then, and read no more
        if (stream.id !== '5' && readBytes > 200_000_000) {
          stream.pause()
        }
      })
    })
    const standing = [await dialler.createStream(), await dialler.createStream()]
    const sending = standing.map(sendForEver)
    await sim.until(() => readBytes > 200_000_000)
    await sim.sleep(20_000)

    const next = await dialler.createStream()
    sending.push(sendForEver(next))
    await sim.sleep(5000)
    expect(INITIAL_BYTES + watch.grantedBytes(5) - watch.of(5).arrivedBytes).toBeGreaterThan(1_000_000)
    ;[...standing, next].forEach(stream => { stream.abort(new Error('The test is over')) })
    await Promise.all(sending)
  })
})

const STREAMS = 1000
const BUDGET_BYTES = 67_108_864

test('1,000 streams at full speed may fill a budget of 64 MiB and 256 KiB each, and get on evenly', async () => {
  await simulate({}, async sim => {
    const { dialler, listener, watch } = connect(sim, LONG_FAT, { maxConnectionWindow: BUDGET_BYTES })
    const readBytes = new Map<number, number>()
    let allReadBytes = 0
    let mostHeldBytes = 0

    listener.addEventListener('stream', evt => {
      const id = Number(evt.detail.id.replace(/\D/g, ''))
      evt.detail.addEventListener('message', ({ data }) => {
        readBytes.set(id, (readBytes.get(id) ?? 0) + data.byteLength)
        allReadBytes += data.byteLength
      })
    })

    /** What the senders may make the receiver hold if it reads no more */
    const mayHoldBytes = (): number => [...readBytes].reduce((sum, [id, bytes]) => sum + INITIAL_BYTES + watch.grantedBytes(id) - bytes, 0)

    const streams = await Promise.all(Array.from({ length: STREAMS }, async () => dialler.createStream()))
    const sending = Promise.all(streams.map(sendForEver))

    for (const megabytes of [100, 200, 300, 400]) {
      await sim.until(() => allReadBytes >= megabytes * 1_000_000)
      mostHeldBytes = Math.max(mostHeldBytes, mayHoldBytes())
    }

    const progress = [...readBytes.values()]
    expect(progress).toHaveLength(STREAMS)
    expect(Math.max(...progress) / Math.min(...progress)).toBeLessThan(1.5)
    expect(mostHeldBytes).toBeLessThanOrEqual(BUDGET_BYTES + STREAMS * INITIAL_BYTES)
    streams.forEach(stream => { stream.abort(new Error('The test is over')) })
    await sending
  })
})
