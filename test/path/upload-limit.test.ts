// The worked example of docs/path-control.md, in virtual time: what leaves, when, and that all of it arrives.
import { describe, expect, test } from 'vitest'
import { uploadLimit } from '../../docs/examples/upload-limit/upload-limit.ts'
import { yamux } from '../../src/index.ts'
import { chunksOf, sendAll } from '../../testing/libp2p/streams.ts'
import { pattern } from '../../testing/pattern.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { UploadLimit } from '../../docs/examples/upload-limit/upload-limit.ts'
import type { YamuxMuxer, YamuxStream } from '../../src/index.ts'
import type { LinkOptions } from '../../testing/simulation/link.ts'
import type { Simulation } from '../../testing/simulation/simulate.ts'

const HEADER_BYTES = 12
const LIMIT: UploadLimit = { bytesPerS: 100_000, burstBytes: 65_536 }

interface Sent {
  atMs: number
  byteLength: number
}

interface Uploader {
  muxer: YamuxMuxer
  deliveredBytes: number
}

/** Connections of one node with a limit, and all that they send */
function connect (sim: Simulation, links: LinkOptions[], limit = LIMIT): { uploaders: Uploader[], sent: Sent[] } {
  const sent: Sent[] = []
  const factory = yamux({ pathControl: uploadLimit(limit) })()
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
    const uploader: Uploader = { muxer: dialler, deliveredBytes: 0 }

    listener.addEventListener('stream', ({ detail }) => { count(detail, uploader).catch(() => {}) })

    return uploader
  })

  return { uploaders, sent }
}

async function count (stream: YamuxStream, uploader: Uploader): Promise<void> {
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

async function upload ({ muxer }: Uploader, byteLength: number): Promise<void> {
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
  await simulate({}, async sim => {
    const { uploaders: [uploader], sent } = connect(sim, [NEAR], limit)
    const byteLength = 10 * limit.bytesPerS
    await upload(uploader, byteLength)
    const tookS = sim.nowMs / 1000
    await sim.until(() => uploader.deliveredBytes === byteLength)

    expect(mostAboveRate(sent, limit.bytesPerS)).toBeLessThanOrEqual(limit.burstBytes)
    expect(mostAboveRate(sent, limit.bytesPerS)).toBeGreaterThan(limit.burstBytes / 2)
    expect(tookS).toBeLessThan(10.1)
    uploader.muxer.abort(new Error('The test is over'))
  })
})

test('connections share it, the far ones and the one that comes later too', async () => {
  await simulate({}, async sim => {
    const { uploaders, sent } = connect(sim, [NEAR, FAR, NEAR, FAR, NEAR])
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
    uploaders.forEach(({ muxer }) => { muxer.abort(new Error('The test is over')) })
  })
})

test('a connection that sends a message each millisecond leaves their turns to the others', async () => {
  await simulate({}, async sim => {
    const { uploaders: [talker, uploader], sent } = connect(sim, [NEAR, NEAR])
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
    ;[talker, uploader].forEach(({ muxer }) => { muxer.abort(new Error('The test is over')) })
  })
})

test('the first message after a pause leaves at once, also on another connection', async () => {
  await simulate({}, async sim => {
    const { uploaders: [busy, idle], sent } = connect(sim, [NEAR, NEAR])
    const stream = await idle.muxer.createStream()
    await upload(busy, 300_000)
    await sim.sleep(2000)
    const before = sent.length
    const atMs = sim.nowMs
    stream.send(pattern(50_000))
    await sim.until(() => idle.deliveredBytes === 50_000)

    expect(sent.slice(before).map(write => write.atMs)).toContain(atMs)
    expect(sim.nowMs - atMs).toBeLessThan(20)
    ;[busy, idle].forEach(({ muxer }) => { muxer.abort(new Error('The test is over')) })
  })
})

describe('urgent data', () => {
  test('leaves at once while other data is held, and other data pays for it', async () => {
    await simulate({}, async sim => {
      const { uploaders: [uploader], sent } = connect(sim, [NEAR])
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
      uploader.muxer.abort(new Error('The test is over'))
    })
  })

  test('in megabytes overdraws the limit by one burst, and then has its rate', async () => {
    await simulate({}, async sim => {
      const { uploaders: [uploader], sent } = connect(sim, [NEAR])
      const urgent = await uploader.muxer.createStream()
      urgent.priority = 'urgent'
      await sendAll(urgent, [pattern(1_000_000)])
      await urgent.close()
      await sim.until(() => uploader.deliveredBytes === 1_000_000)

      // it goes on while anything is left to overdraw, by a frame
      expect(mostAboveRate(sent, LIMIT.bytesPerS)).toBeLessThanOrEqual(2 * LIMIT.burstBytes + 16_384 + 36)
      uploader.muxer.abort(new Error('The test is over'))
    })
  })
})

test('the last bytes of a connection that is closed are not held, and other connections wait for as long as they would have taken', async () => {
  await simulate({}, async sim => {
    const { uploaders: [closed, other], sent } = connect(sim, [NEAR, NEAR])
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
    const sentBytes = sent.reduce((sum, { byteLength }) => sum + byteLength, 0)
    expect(sim.nowMs).toBeGreaterThan((sentBytes - LIMIT.burstBytes) / LIMIT.bytesPerS * 1000)
    other.muxer.abort(new Error('The test is over'))
  })
})

test.each([
  [0, 65_536], [NaN, 65_536], [100_000, 16_383], [100_000, NaN]
])('bytesPerS %d with burstBytes %d is refused', (bytesPerS, burstBytes) => {
  expect(() => uploadLimit({ bytesPerS, burstBytes })).toThrow(RangeError)
})
