// How many round trips a request takes on a new stream, protocol included, in virtual time: no more than with the stock muxer.
import { handle, select } from '@libp2p/multistream-select'
import { expect, test } from 'vitest'
import { pattern } from '../../testing/pattern.ts'
import { factories } from './fixtures/echo.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { MuxerName } from './fixtures/echo.ts'
import type { Simulation } from '../../testing/simulation/simulate.ts'
import type { Stream, StreamMuxer } from '@libp2p/interface'

const PROTOCOL = '/answers/1.0.0'
const FAST_BYTES_PER_S = 1_250_000_000

async function read (stream: Stream, byteLength: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(byteLength)
  let offset = 0

  return new Promise((resolve, reject) => {
    stream.addEventListener('message', ({ data }) => {
      bytes.set(data.subarray(), offset)
      offset += data.byteLength

      if (offset === byteLength) {
        resolve(bytes)
      }
    })
    stream.addEventListener('close', ({ error }) => { reject(error ?? new Error(`${offset} bytes came of ${byteLength}`)) })
  })
}

async function write (stream: Stream, bytes: Uint8Array): Promise<void> {
  stream.send(bytes)
  await stream.close()
}

interface Exchange {
  requestBytes: number
  answerBytes: number
}

/** How long one takes on a stream of its own, from opening it to the last byte of the answer */
async function exchange (sim: Simulation, dialler: StreamMuxer, { requestBytes, answerBytes }: Exchange): Promise<number> {
  const startMs = sim.nowMs
  const stream = await dialler.createStream()
  await select(stream, PROTOCOL)
  const answered = read(stream, answerBytes)
  await Promise.all([answered, write(stream, pattern(requestBytes))])
  expect(await answered).toEqual(pattern(answerBytes))

  return sim.nowMs - startMs
}

/** How many round trips the last of these takes, with a pause behind each */
async function lastRoundTrips (muxer: MuxerName, delayMs: number, pauseMs: number, exchanges: Exchange[]): Promise<number> {
  return simulate({}, async sim => {
    const { dialler, listener } = sim.connect({ rateBytesPerS: FAST_BYTES_PER_S, delayMs }, factories(muxer, muxer))
    let opened = 0
    let tookMs = 0

    listener.addEventListener('stream', ({ detail: stream }) => {
      const { requestBytes, answerBytes } = exchanges[opened++]

      ;(async () => {
        await handle(stream, PROTOCOL)
        await read(stream, requestBytes)
        await write(stream, pattern(answerBytes))
      })().catch(err => { stream.abort(err) })
    })

    for (const sizes of exchanges) {
      tookMs = await exchange(sim, dialler, sizes)
      await sim.sleep(pauseMs)
    }

    return tookMs / (2 * delayMs)
  })
}

/** The path is known when the third begins, as on any connection that is not new */
async function roundTrips (muxer: MuxerName, delayMs: number, sizes: Exchange): Promise<number> {
  return lastRoundTrips(muxer, delayMs, 10 * delayMs, [sizes, sizes, sizes])
}

const KIBIBYTE = 1024
/** What the link itself takes for 2 MiB, as a part of the shortest round trip */
const SLACK = 0.35

// the first round trip agrees on the protocol, the last one is the answer's
test.each([
  [10, 256, 2], [10, 300, 2], [10, 1060, 2],
  [100, 300, 2], [100, 1060, 2], [100, 2048, 3]
])('on a path of %d ms, %d KiB take %d round trips as an answer and as a request, and no more than with the stock muxer', async (roundTripMs, kibibytes, most) => {
  const small = 100
  const large = kibibytes * KIBIBYTE

  for (const sizes of [{ requestBytes: small, answerBytes: large }, { requestBytes: large, answerBytes: small }]) {
    const ours = await roundTrips('ours', roundTripMs / 2, sizes)

    expect(ours).toBeLessThan(most + SLACK)
    expect(ours).toBeLessThan(await roundTrips('stock', roundTripMs / 2, sizes) + SLACK)
  }
})

test.each([10, 64, 256])('behind two small answers of a while ago, one of %d KiB over a path of 100 ms takes two round trips', async kibibytes => {
  const before = { requestBytes: 100, answerBytes: 10_000 }
  const exchanges = [before, before, { requestBytes: 100, answerBytes: kibibytes * KIBIBYTE }]

  expect(await lastRoundTrips('ours', 50, 2000, exchanges)).toBeLessThan(2 + SLACK)
})

test.each([2, 3, 4, 5, 6, 8, 12])('behind %d answers of 10 KB with pauses between them, one of 256 KiB over a path of 100 ms takes two round trips', async count => {
  const before = { requestBytes: 100, answerBytes: 10_000 }
  const exchanges = [...new Array<typeof before>(count).fill(before), { requestBytes: 100, answerBytes: 256 * KIBIBYTE }]

  expect(await lastRoundTrips('ours', 50, 2000, exchanges)).toBeLessThan(2 + SLACK)
})
