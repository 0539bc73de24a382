// Both sides write more than a window before either reads, between libp2p nodes over TCP and Noise. Stock takes in what
// nobody reads yet, and finishes; two sides that both keep their credit until somebody reads wait for each other for ever.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MUXER_PAIRS } from '../libp2p/fixtures/muxers.ts'
import { createNode } from '../libp2p/fixtures/node.ts'
import { open } from '../libp2p/fixtures/operations.ts'
import { pattern } from '../libp2p/fixtures/pattern.ts'
import { patternDigest } from '../libp2p/fixtures/pattern-digest.ts'
import { readEach, sendAndClose } from '../libp2p/fixtures/streams.ts'
import type { MuxerPair } from '../libp2p/fixtures/muxers.ts'
import type { TestNode } from '../libp2p/fixtures/node.ts'
import type { Stream } from '@libp2p/interface'

const MEBIBYTE = 2 ** 20
const MUTUAL = '/mutual/1.0.0'
/** What takes stock tens of milliseconds */
const STALLED_MS = 4_000
/** Stock at both ends is the reference: where it finishes, so do all mixes */
const PAIRS: MuxerPair[] = [{ dialler: 'stock', listener: 'stock' }, ...MUXER_PAIRS]

/** Writes all of it with regard to `send()` and 'drain', closes, and only then begins to read: the SHA-256 of what came */
async function writeThenRead (stream: Stream, seed: number, byteLength: number): Promise<string> {
  await sendAndClose(stream, pattern(seed, byteLength))
  const hash = createHash('sha256')
  await readEach(stream, bytes => { hash.update(bytes.subarray()) })

  return hash.digest('hex')
}

/** Ends streams that wait for ever, so that the test says so rather than to run out of time */
async function beforeStalled<T> (work: Promise<T>, streamsOf: () => Stream[]): Promise<T> {
  const finished = new AbortController()
  const stalled = sleep(STALLED_MS, undefined, { signal: finished.signal }).then(() => {
    const streams = streamsOf()
    const state = streams.map(({ direction, writeStatus, writeBufferLength, readBufferLength }) =>
      `${direction}: ${writeStatus}, ${writeBufferLength} bytes to be written, ${readBufferLength} to be read`)
    streams.forEach(stream => { stream.abort(new Error('The test gave up')) })

    throw new Error(`Nothing came of it in ${STALLED_MS} ms; ${state.join('; ')}`)
  })

  try {
    return await Promise.race([work, stalled])
  } finally {
    finished.abort()
    stalled.catch(() => {})
    work.catch(() => {})
  }
}

describe.each(PAIRS)('$dialler that dials $listener', names => {
  let dialler: TestNode
  let listener: TestNode

  beforeAll(async () => {
    [dialler, listener] = await Promise.all([createNode(names.dialler), createNode(names.listener)])
    await dialler.libp2p.dial(listener.libp2p.getMultiaddrs())
  })

  afterAll(async () => {
    await dialler?.libp2p.stop()
    await listener?.libp2p.stop()
  })

  test('finishes when both sides write 1 MiB and close before they read', async () => {
    const accepted = Promise.withResolvers<Stream>()
    await listener.libp2p.handle(MUTUAL, stream => { accepted.resolve(stream) })
    const opened = await dialler.libp2p.getConnections()[0].newStream(MUTUAL)
    const streams = [opened, await accepted.promise]
    const both = Promise.all(streams.map(async (stream, seed) => writeThenRead(stream, seed, MEBIBYTE)))

    expect(await beforeStalled(both, () => streams)).toEqual([patternDigest(1, MEBIBYTE), patternDigest(0, MEBIBYTE)])
  })

  // stock ends a stream of which more than 4 MiB are unread, and whether there are depends on who is faster
  test.each(names.dialler === 'stock' ? [2, 4] : [2, 4, 8])('gets an echo of %i MiB that it reads once it has written all and closed', async mebibytes => {
    const byteLength = mebibytes * MEBIBYTE
    const stream = await open(dialler, 'echo')
    const ends = (): Stream[] => [dialler, listener].flatMap(({ libp2p }) => libp2p.getConnections().flatMap(({ streams }) => streams))

    expect(await beforeStalled(writeThenRead(stream, mebibytes, byteLength), ends)).toBe(patternDigest(mebibytes, byteLength))
  })
})
