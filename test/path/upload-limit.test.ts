// The worked example of docs/path-control.md, in virtual time: what leaves, when, and that all of it arrives.
import { describe, expect, test } from 'vitest'
import { yamux } from '../../src/index.ts'
import { fullControl, uploadLimit } from '../../src/path-control.ts'
import { snapshot } from '../../src/snapshot.ts'
import { chunksOf, sendAll } from '../../testing/libp2p/streams.ts'
import { pattern } from '../../testing/pattern.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import { RecordingMetrics } from '../muxer/fixtures/recording-metrics.ts'
import type { YamuxMuxer, YamuxStream } from '../../src/index.ts'
import type { CreatePathControl, PathControl, UploadLimit } from '../../src/path-control.ts'
import type { LinkOptions } from '../../testing/simulation/link.ts'
import type { Simulation } from '../../testing/simulation/simulate.ts'
import type { Metrics } from '@libp2p/interface'

const HEADER_BYTES = 12
const LIMIT: Required<UploadLimit> = { bytesPerS: 100_000, burstBytes: 65_536 }

interface Sent {
  atMs: number
  byteLength: number
}

interface Uploader {
  muxer: YamuxMuxer
  peer: YamuxMuxer
  deliveredBytes: number
}

/** Connections of one node with a limit, and all that they send */
function connect (sim: Simulation, links: LinkOptions[], limit: UploadLimit = LIMIT, metrics?: Metrics): { uploaders: Uploader[], sent: Sent[] } {
  const sent: Sent[] = []
  const factory = yamux({ pathControl: uploadLimit(limit) })({ metrics })
  const peers = yamux()()

  const uploaders = links.map(link => {
    const { dialler, listener } = sim.connect({
      ...link,
      onSend: ({ atMs, to, bytes }) => {
        if (to === 'listener') {
          sent.push({ atMs, byteLength: bytes.byteLength })
        }
      }
    }, { dialler: () => factory, listener: () => peers })
    const uploader: Uploader = { muxer: dialler, peer: listener, deliveredBytes: 0 }

    listener.addEventListener('stream', ({ detail }) => { count(detail, uploader).catch(() => {}) })

    return uploader
  })

  return { uploaders, sent }
}

/** Connections of one node with a limit, which end when the test is over */
async function uploading (links: LinkOptions[], run: (connected: ReturnType<typeof connect> & { sim: Simulation }) => Promise<void>, limit?: UploadLimit, metrics?: Metrics): Promise<void> {
  await simulate({}, async sim => {
    const connected = connect(sim, links, limit, metrics)
    await run({ sim, ...connected })
    connected.uploaders.forEach(({ muxer }) => { muxer.abort(new Error('The test is over')) })
  })
}

async function count (stream: YamuxStream, uploader: Pick<Uploader, 'deliveredBytes'>): Promise<void> {
  for await (const bytes of chunksOf(stream)) {
    uploader.deliveredBytes += bytes.byteLength
  }
}

/** The most by which any window of time exceeds the rate; it may be the burst */
function mostAboveRate (sent: Sent[], bytesPerS: number): number {
  let aboveBytes = 0
  let mostBytes = 0
  let lastMs = 0

  for (const { atMs, byteLength } of sent) {
    aboveBytes = Math.max(0, aboveBytes - (atMs - lastMs) * bytesPerS / 1000) + byteLength
    mostBytes = Math.max(mostBytes, aboveBytes)
    lastMs = atMs
  }

  return mostBytes
}

async function upload ({ muxer }: Pick<Uploader, 'muxer'>, byteLength: number): Promise<void> {
  const stream = await muxer.createStream()
  await sendAll(stream, [pattern(byteLength)])
  await stream.close()
}

const NEAR: LinkOptions = { delayMs: 5, rateBytesPerS: 10_000_000 }
const FAR: LinkOptions = { delayMs: 100, rateBytesPerS: 10_000_000 }

test.each([
  [LIMIT],
  [{ bytesPerS: 20_000, burstBytes: 16_384 }],
  [{ bytesPerS: 3_000_000, burstBytes: 200_000 }]
])('with %o one connection sends that and no more, in any time', async limit => {
  await uploading([NEAR], async ({ sim, uploaders: [uploader], sent }) => {
    const byteLength = 10 * limit.bytesPerS
    await upload(uploader, byteLength)
    const tookS = sim.nowMs / 1000
    await sim.until(() => uploader.deliveredBytes === byteLength)

    expect(mostAboveRate(sent, limit.bytesPerS)).toBeLessThanOrEqual(limit.burstBytes)
    expect(mostAboveRate(sent, limit.bytesPerS)).toBeGreaterThan(limit.burstBytes / 2)
    expect(tookS).toBeLessThan(10.1)
  }, limit)
})

test('connections share it, the far ones and the one that comes later too', async () => {
  await uploading([NEAR, FAR, NEAR, FAR, NEAR], async ({ sim, uploaders, sent }) => {
    const all = uploaders.map(async (uploader, index) => {
      await sim.sleep(index === 4 ? 5000 : 0)
      await upload(uploader, 1_000_000)
    })
    await sim.sleep(10_000)
    const before = uploaders.map(({ deliveredBytes }) => deliveredBytes)
    await sim.sleep(20_000)
    const shares = uploaders.map(({ deliveredBytes }, index) => (deliveredBytes - before[index]) / 400_000)
    expect(Math.min(...shares)).toBeGreaterThan(0.9)
    expect(Math.max(...shares)).toBeLessThan(1.1)

    await Promise.all(all)
    await sim.until(() => uploaders.every(({ deliveredBytes }) => deliveredBytes === 1_000_000))
    expect(sim.nowMs).toBeLessThan(51_000)
    // each may write a control frame, which nothing holds
    expect(mostAboveRate(sent, LIMIT.bytesPerS)).toBeLessThanOrEqual(LIMIT.burstBytes + 5 * HEADER_BYTES)
  })
})

test('a connection that sends a message each millisecond leaves their turns to the others', async () => {
  await uploading([NEAR, NEAR], async ({ sim, uploaders: [talker, uploader], sent }) => {
    const talk = await talker.muxer.createStream()
    const all = upload(uploader, 1_000_000)

    for (let i = 0; i < 10_000; i++) {
      talk.send(pattern(100))
      await sim.sleep(1)
    }

    expect(uploader.deliveredBytes).toBeGreaterThan(400_000)
    expect(mostAboveRate(sent, LIMIT.bytesPerS)).toBeLessThanOrEqual(LIMIT.burstBytes)
    await all
    await sim.until(() => talker.deliveredBytes === 1_000_000)
  })
})

describe('beside the upload of another connection', () => {
  test.each([undefined, 16_384])('requests on new streams leave within its turns, with a burst of %s', async burstBytes => {
    await uploading([NEAR, NEAR], async ({ sim, uploaders: [quiet, busy] }) => {
      upload(busy, 100_000_000).catch(() => {})
      await sim.sleep(3000)

      for (let request = 1; request <= 5; request++) {
        const atMs = sim.nowMs
        await upload(quiet, 200)
        await sim.until(() => quiet.deliveredBytes === request * 200)
        expect(sim.nowMs - atMs).toBeLessThan(100)
        await sim.sleep(500)
      }
    }, { bytesPerS: 1_000_000, burstBytes })
  })

  test('connections that only receive take no turns', async () => {
    await uploading(Array.from({ length: 8 }, () => NEAR), async ({ sim, uploaders: [busy, ...quiet] }) => {
      upload(busy, 10_000_000).catch(() => {})
      const talk = await busy.muxer.createStream()

      for (const { muxer, peer } of quiet) {
        muxer.addEventListener('stream', ({ detail }) => { count(detail, { deliveredBytes: 0 }).catch(() => {}) })
        const stream = await peer.createStream()
        const send = async (): Promise<void> => {
          while (stream.status === 'open') {
            stream.send(pattern(100))
            await sim.sleep(20)
          }
        }
        send().catch(() => {})
      }

      await sim.sleep(2000)
      const latenciesMs: number[] = []

      for (let message = 0; message < 20; message++) {
        const atMs = sim.nowMs
        talk.send(pattern(100))
        await sim.until(() => talk.writeBufferLength === 0)
        latenciesMs.push(sim.nowMs - atMs)
        await sim.sleep(100)
      }

      expect(Math.max(...latenciesMs)).toBeLessThan(200)
    })
  })

  test('urgent messages give no connection the turns of the others', async () => {
    await uploading([NEAR, NEAR, NEAR], async ({ sim, uploaders }) => {
      uploaders.forEach(uploader => { upload(uploader, 60_000_000).catch(() => {}) })
      const urgent = await uploaders[0].muxer.createStream()
      urgent.priority = 'urgent'
      await sim.sleep(2000)
      const before = uploaders.map(({ deliveredBytes }) => deliveredBytes)

      for (let message = 0; message < 5000; message++) {
        urgent.send(pattern(10))
        await sim.sleep(1)
      }

      const shares = uploaders.map(({ deliveredBytes }, index) => (deliveredBytes - before[index]) / 5_000_000)
      expect(Math.min(...shares)).toBeGreaterThan(0.25)
    }, { bytesPerS: 1_000_000 })
  })

  test.each([[5, 0.93], [20, 0.75]])('%d connections whose own links are slow leave it %d of the limit', async (count, part) => {
    await uploading([NEAR, ...Array.from({ length: count }, () => ({ delayMs: 5, rateBytesPerS: 5000 }))], async ({ sim, uploaders: [fast, ...slow] }) => {
      ;[...slow, fast].forEach(uploader => { upload(uploader, 60_000_000).catch(() => {}) })
      await sim.sleep(20_000)
      const before = fast.deliveredBytes
      await sim.sleep(10_000)

      expect((fast.deliveredBytes - before) / 10_000_000).toBeGreaterThan(part)
    }, { bytesPerS: 1_000_000 })
  })
})

test('the first message after a pause leaves at once, also on another connection', async () => {
  await uploading([NEAR, NEAR], async ({ sim, uploaders: [busy, idle], sent }) => {
    const stream = await idle.muxer.createStream()
    await upload(busy, 300_000)
    await sim.sleep(2000)
    const before = sent.length
    const atMs = sim.nowMs
    stream.send(pattern(50_000))
    await sim.until(() => idle.deliveredBytes === 50_000)

    expect(sent.slice(before).map(write => write.atMs)).toContain(atMs)
    expect(sim.nowMs - atMs).toBeLessThan(20)
  })
})

describe('urgent data', () => {
  test('leaves at once while other data is held, and other data pays for it', async () => {
    await uploading([NEAR], async ({ sim, uploaders: [uploader], sent }) => {
      const all = upload(uploader, 1_000_000)
      const urgent = await uploader.muxer.createStream()
      urgent.priority = 'urgent'
      await sim.sleep(2000)

      for (let i = 0; i < 20; i++) {
        const before = sent.length
        urgent.send(pattern(100))
        const atMs = sim.nowMs
        await sim.sleep(50)
        expect(sent.slice(before)).toContainEqual({ atMs, byteLength: 112 })
      }

      await all
      expect(mostAboveRate(sent, LIMIT.bytesPerS)).toBeLessThanOrEqual(LIMIT.burstBytes + 20 * 112)
    })
  })

  test('in megabytes overdraws the limit by one burst, and then has its rate', async () => {
    await uploading([NEAR], async ({ sim, uploaders: [uploader], sent }) => {
      const urgent = await uploader.muxer.createStream()
      urgent.priority = 'urgent'
      await sendAll(urgent, [pattern(1_000_000)])
      await urgent.close()
      await sim.until(() => uploader.deliveredBytes === 1_000_000)

      // it goes on while anything is left to overdraw, by a frame
      expect(mostAboveRate(sent, LIMIT.bytesPerS)).toBeLessThanOrEqual(2 * LIMIT.burstBytes + 16_384 + 36)
    })
  })
})

// urgent messages to other peers waited for 19 s behind a close with megabytes queued
test('the last bytes of a connection that is closed are not held, and other connections wait for a burst of them at most', async () => {
  await uploading([NEAR, NEAR], async ({ sim, uploaders: [closed, other], sent }) => {
    const stream = await closed.muxer.createStream()
    stream.send(pattern(1_000_000))
    await sim.sleep(1000)
    const all = upload(other, 100_000)
    const beganMs = sim.nowMs
    await closed.muxer.close()
    expect(sim.nowMs - beganMs).toBeLessThan(500)
    expect(closed.deliveredBytes).toBe(1_000_000)

    await all
    await sim.until(() => other.deliveredBytes === 100_000)
    const msOf = (bytes: number): number => bytes / LIMIT.bytesPerS * 1000
    expect(sent.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeGreaterThan(1_100_000)
    expect(sim.nowMs - beganMs).toBeGreaterThan(msOf(100_000))
    expect(sim.nowMs - beganMs).toBeLessThan(msOf(100_000 + 3 * LIMIT.burstBytes))
  })
})

describe('a limit', () => {
  test.each([
    [{ bytesPerS: 0.9 }, 'uploadLimit.bytesPerS is 0.9, it must be a number from 1 to 1000000000000'],
    [{ bytesPerS: NaN }, 'uploadLimit.bytesPerS is NaN, it must be a number from 1 to 1000000000000'],
    [{ bytesPerS: Infinity }, 'uploadLimit.bytesPerS is Infinity, it must be a number from 1 to 1000000000000'],
    [{}, 'uploadLimit.bytesPerS is undefined, it must be a number from 1 to 1000000000000'],
    [{ bytesPerS: 100_000, burstBytes: 16_383 }, 'uploadLimit.burstBytes is 16383, it must be a whole number from 16384 to Infinity'],
    [{ bytesPerS: 100_000, burst: 1 }, 'uploadLimit.burst is not an option, use one of: bytesPerS, burstBytes'],
    [5, 'uploadLimit is 5, it must be an object']
  ])('of %o is refused', (init, message) => {
    expect(() => uploadLimit(init as UploadLimit)).toThrow(expect.objectContaining({ name: 'InvalidParametersError', message }))
  })

  test.each([
    [20_000, 65_536],
    [20_000_000, 1_000_000]
  ])('of %d bytes a second lets %d leave at once unless it says how many', async (bytesPerS, burstBytes) => {
    await uploading([{ delayMs: 0.1, rateBytesPerS: 1_000_000_000 }], async ({ uploaders: [uploader], sent }) => {
      await upload(uploader, 10 * burstBytes)

      // and perhaps a control frame, which nothing holds
      expect(mostAboveRate(sent, bytesPerS)).toBeLessThanOrEqual(burstBytes + HEADER_BYTES)
      expect(mostAboveRate(sent, bytesPerS)).toBeGreaterThan(burstBytes / 2)
    }, { bytesPerS })
  })
})

test('a limit that is far away changes no write, nor when it leaves', async () => {
  async function writes (pathControl: CreatePathControl): Promise<string[]> {
    const seen: string[] = []

    await simulate({}, async sim => {
      const peers = yamux()()
      const factory = yamux({ pathControl })()
      const muxers = [NEAR, FAR].map((link, index) => sim.connect({
        ...link,
        onSend: ({ atMs, to, bytes }) => { seen.push(`${index} ${atMs} to ${to} ${Buffer.from(bytes).toString('hex')}`) }
      }, { dialler: () => factory, listener: () => peers }))

      await Promise.all(muxers.map(async ({ dialler, listener }) => {
        listener.addEventListener('stream', ({ detail }) => { count(detail, { deliveredBytes: 0 }).catch(() => {}) })
        const urgent = await dialler.createStream()
        urgent.priority = 'urgent'
        const bulk = upload({ muxer: dialler }, 3_000_000)

        for (let message = 0; message < 10; message++) {
          urgent.send(pattern(100))
          await sim.sleep(20)
        }

        await bulk
        await dialler.close()
      }))
    })

    return seen
  }

  const limited = await writes(uploadLimit({ bytesPerS: 1e12 }))
  expect(limited.length).toBeGreaterThan(100)
  expect(limited).toEqual(await writes(fullControl()))
})

describe('metrics and snapshots', () => {
  test('show for how long the limit has held data, apart from what the path held, also of connections that have ended', async () => {
    await simulate({}, async sim => {
      const sink = new RecordingMetrics()
      const { uploaders: [uploader, idle] } = connect(sim, [NEAR, NEAR], LIMIT, sink.asMetrics)
      const heldS = (): Record<string, number> => sink.calculate('held_seconds_total') as Record<string, number>
      await idle.muxer.createStream()
      await upload(uploader, 50_000)
      expect(heldS().upload).toBe(0)

      // what the burst leaves takes so long, less the last turn
      await upload(uploader, 1_000_000)
      const tookS = sim.nowMs / 1000
      expect(heldS().upload).toBeGreaterThan(0.9 * tookS)
      expect(heldS().upload).toBeLessThanOrEqual(tookS)
      expect(heldS().path).toBeLessThan(0.1 * tookS)

      const before = heldS()
      uploader.muxer.abort(new Error('The test is over'))
      expect(heldS()).toEqual(before)
      idle.muxer.abort(new Error('The test is over'))
    })
  })

  test('stay the same to the last digit while nothing is held', async () => {
    let control: PathControl | undefined
    const createControl: CreatePathControl = (init, positions) => (control = uploadLimit(LIMIT)(init, positions))

    await simulate({}, async sim => {
      const { dialler, listener } = sim.connect(NEAR, { dialler: () => yamux({ pathControl: createControl })(), listener: () => yamux()() })
      let deliveredBytes = 0
      listener.addEventListener('stream', ({ detail }) => {
        detail.addEventListener('message', ({ data }) => { deliveredBytes += data.byteLength })
      })
      await sendAll(await dialler.createStream(), [pattern(200_000)])
      await sim.until(() => deliveredBytes === 200_000)
      const limitedMs = Array.from({ length: 1000 }, (_, i) => control?.figures(sim.nowMs + i * 10.037)?.limitedMs)

      expect(limitedMs[0]).toBeGreaterThan(500)
      expect(new Set(limitedMs).size).toBe(1)
      dialler.abort(new Error('The test is over'))
    })
  })

  test('show since when it holds data of a stream, and nothing once that is gone', async () => {
    const sink = new RecordingMetrics()
    const heldS = (): Record<string, number> => sink.calculate('held_seconds_total') as Record<string, number>
    await uploading([NEAR], async ({ sim, uploaders: [uploader] }) => {
      const stream = await uploader.muxer.createStream()
      stream.send(pattern(200_000))
      await sim.sleep(500)
      const held = snapshot(uploader.muxer)
      expect(held).toMatchObject({ isHeld: true, streams: [{ waitsFor: 'path' }] })
      expect(held.heldMs).toBeGreaterThan(0)
      expect(held.heldMs).toBeLessThanOrEqual(500)
      // that hold lasts
      const beforeS = heldS().upload
      await sim.sleep(300)
      expect(heldS().upload - beforeS).toBeCloseTo(0.3)

      stream.abort(new Error('No longer wanted'))
      await sim.sleep(10_000)
      expect(snapshot(uploader.muxer)).toMatchObject({ isHeld: false, heldMs: undefined })
    }, { bytesPerS: 10_000 }, sink.asMetrics)
  })
})

test('connections that end with data queued leave their turns to the others', async () => {
  await uploading(Array.from({ length: 60 }, () => NEAR), async ({ sim, uploaders: [last, ...others] }) => {
    others.forEach(uploader => { upload(uploader, 1_000_000).catch(() => {}) })
    await sim.sleep(2000)
    others.forEach(({ peer }) => { peer.abort(new Error('Enough')) })
    const startMs = sim.nowMs
    await upload(last, 300_000)
    await sim.until(() => last.deliveredBytes === 300_000)

    expect(sim.nowMs - startMs).toBeLessThan(4500)
  })
})
