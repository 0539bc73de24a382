// How windows grow at full speed beside streams that are idle, or that nobody reads.
import { pEvent } from 'p-event'
import { expect, test } from 'vitest'
import { yamux } from '../../src/index.ts'
import { snapshot } from '../../src/snapshot.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { YamuxMuxer, YamuxMuxerInit } from '../../src/index.ts'
import type { LinkOptions } from '../../testing/simulation/link.ts'
import type { ConnectedMuxers, Simulation } from '../../testing/simulation/simulate.ts'
import type { Stream } from '@libp2p/interface'

const LONG_FAT: LinkOptions = { rateBytesPerS: 125_000_000, delayMs: 50 }
const message = new Uint8Array(65_536)

function connect (sim: Simulation, init?: YamuxMuxerInit): ConnectedMuxers<YamuxMuxer, YamuxMuxer> {
  const createMuxer = yamux(init)

  return sim.connect(LONG_FAT, { dialler: createMuxer, listener: createMuxer })
}

/** Goes on until the stream is reset */
async function sendForEver (stream: Stream): Promise<void> {
  while (stream.writeStatus === 'writable') {
    if (!stream.send(message)) {
      await pEvent(stream, 'drain', { rejectionEvents: ['close'] }).catch(() => {})
    }
  }
}

test('a stream whose window has grown as far as it may, and that is idle since, leaves as much to the next', async () => {
  await simulate({}, async sim => {
    const { dialler, listener } = connect(sim)
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

/** Of 24 MB, one after another, each on a stream whose other half stays open; returns how long each took */
async function upload (muxer: YamuxMuxer, sim: Simulation, count: number, readBytes: () => number): Promise<number[]> {
  const tookMs: number[] = []

  for (let index = 0; index < count; index++) {
    const startMs = sim.nowMs
    const untilBytes = readBytes() + 24 * 1_048_576
    const stream = await muxer.createStream()

    for (let sent = 0; sent < 24 * 1_048_576; sent += message.byteLength) {
      if (!stream.send(message)) {
        await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
      }
    }

    stream.close().catch(() => {})
    await sim.until(() => readBytes() >= untilBytes)
    tookMs.push(sim.nowMs - startMs)
  }

  return tookMs
}

// every window became NaN, and 0.4 MB of an upload arrived
test.each([
  { maxConnectionWindow: Infinity },
  { limits: { maxNodeWindow: Infinity } },
  { streamOptions: { maxReadBufferLength: Infinity, maxWriteBufferLength: Infinity } }
])('an upload arrives with %j', async init => {
  await simulate({}, async sim => {
    const { dialler, listener } = connect(sim, init)
    let readBytes = 0
    listener.addEventListener('stream', ({ detail: stream }) => {
      stream.addEventListener('message', ({ data }) => { readBytes += data.byteLength })
    })
    const [tookMs] = await upload(dialler, sim, 1, () => readBytes)

    expect(tookMs).toBeLessThan(2000)
  })
})

// the windows of streams that only the peer had ended kept all that windows may grow by: uploads took up to 9.9 s instead of 0.5
test.each([
  ['as they come', 0],
  ['a second later', 1000]
])('uploads whose answers are still due leave as much to the next, if they are read %s', async (_, pauseMs) => {
  await simulate({}, async sim => {
    const { dialler, listener } = connect(sim)
    let readBytes = 0
    listener.addEventListener('stream', ({ detail: stream }) => {
      let unpausedBytes = 20 * 1_048_576

      stream.addEventListener('message', ({ data }) => {
        readBytes += data.byteLength
        unpausedBytes -= data.byteLength

        // the rest arrives meanwhile, and the FIN
        if (unpausedBytes <= 0 && pauseMs > 0) {
          unpausedBytes = Infinity
          stream.pause()
          sim.sleep(pauseMs).then(() => { stream.resume() }, () => {})
        }
      })
    })
    const tookMs = await upload(dialler, sim, 9, () => readBytes)
    const { windowBytes, streams } = snapshot(listener)

    expect(Math.max(...tookMs.slice(1))).toBeLessThan(2 * tookMs[0])
    expect(streams).toHaveLength(9)
    expect(windowBytes).toBe(0)
  })
})

// the limit fell to maxReadBufferLength once the bytes were read for the first time, and the stream was reset
test('a reader may put back a whole window after the FIN', async () => {
  await simulate({}, async sim => {
    const { dialler, listener } = connect(sim)
    let readBytes = 0
    let looks = 0
    listener.addEventListener('stream', ({ detail: stream }) => {
      stream.addEventListener('message', ({ data }) => {
        readBytes += data.byteLength

        if (stream.remoteWriteStatus === 'closed' && looks < 3) {
          looks++
          readBytes -= data.byteLength
          stream.unshift(data)
        } else if (looks === 0 && readBytes > 14 * 1_048_576 && stream.readStatus !== 'paused') {
          // 10 MiB wait with the FIN
          stream.pause()
          sim.sleep(5000).then(() => { stream.resume() }, () => {})
        }
      })
    })
    await upload(dialler, sim, 1, () => readBytes)

    expect(looks).toBe(3)
    expect(readBytes).toBe(24 * 1_048_576)
  })
})

test('what a loop has taken when it ends gives credit, though nobody reads on', async () => {
  await simulate({}, async sim => {
    const { dialler, listener } = connect(sim)
    const [stream, { detail: read }] = await Promise.all([dialler.createStream(), pEvent<'stream', CustomEvent<Stream>>(listener, 'stream')])
    read.pause()

    for (let sent = 0; sent < 8 * message.byteLength; sent += message.byteLength) {
      stream.send(message)
    }

    await sim.sleep(1000)
    const windowBytes = read.readBufferLength
    let takenBytes = 0
    read.resume()

    for await (const { byteLength } of read) {
      takenBytes += byteLength

      if (takenBytes === windowBytes) {
        break
      }
    }

    await sim.sleep(1000)
    expect(takenBytes).toBe(262_144)
    expect(read.readBufferLength).toBe(262_144)
  })
})

test('a stream that is read grows although two readers stand still with all that windows may grow by', async () => {
  await simulate({}, async sim => {
    const { dialler, listener } = connect(sim)
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
    expect(snapshot(listener).streams.find(({ id }) => id === '5')?.windowBytes).toBeGreaterThan(1_000_000)
    ;[...standing, next].forEach(stream => { stream.abort(new Error('The test is over')) })
    await Promise.all(sending)
  })
})
