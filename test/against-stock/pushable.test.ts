// Ours and stock at the two ends of a protocol as much of libp2p's ecosystem writes them: what is to be sent is pushed to
// an it-pushable, which is piped into a stream, and what comes is read with `for await`.
import { pushable } from 'it-pushable'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MUXER_PAIRS } from '../libp2p/fixtures/muxers.ts'
import { pattern, patternBytes } from '../libp2p/fixtures/pattern.ts'
import { patternDigest } from '../libp2p/fixtures/pattern-digest.ts'
import { drained, readDigest } from '../libp2p/fixtures/streams.ts'
import { connect, openBoth } from './fixtures/connected-pair.ts'
import type { ConnectedPair } from './fixtures/connected-pair.ts'
import type { Stream } from '@libp2p/interface'
import type { Pushable } from 'it-pushable'
import type { Uint8ArrayList } from 'uint8arraylist'

type Bytes = Uint8Array | Uint8ArrayList

const MEBIBYTE = 2 ** 20
const PIECE_BYTES = 64 * 1024
const WINDOW_BYTES = 256 * 1024
const QUIET_MS = 60

async function quiet (): Promise<void> {
  return new Promise(resolve => { setTimeout(resolve, QUIET_MS) })
}

/** Sends what is pushed as fast as the stream allows, then closes: the most that the stream held at once */
async function pipeInto (stream: Stream, source: Pushable<Bytes>): Promise<number> {
  let peakHeldBytes = 0

  for await (const bytes of source) {
    const canSendMore = stream.send(bytes)
    peakHeldBytes = Math.max(peakHeldBytes, stream.writeBufferLength)

    if (!canSendMore) {
      await drained(stream)
    }
  }

  await stream.close()

  return peakHeldBytes
}

/** How a pushable holds its producer back; without a signal 3.2.4 does not wait */
async function taken (source: Pushable<Bytes>): Promise<void> {
  await source.onEmpty({ signal: new AbortController().signal })
}

/** Pushes each piece once the one before has been taken */
async function pushEach (source: Pushable<Bytes>, pieces: Iterable<Uint8Array>, onPushed?: (byteLength: number) => void): Promise<void> {
  for (const piece of pieces) {
    source.push(piece)
    onPushed?.(piece.byteLength)
    await taken(source)
  }

  source.end()
}

describe.each(MUXER_PAIRS)('$dialler that dials $listener', names => {
  let pair: ConnectedPair
  let opened: Stream
  let accepted: Stream

  beforeEach(async () => {
    pair = await connect(names);
    [opened, accepted] = await openBoth(pair)
  })

  afterEach(() => {
    pair.disconnect()
  })

  test('answers each piece through a pushable of its own', async () => {
    const answers = pushable<Bytes>()
    const questions = pushable<Bytes>()
    const answer = async (): Promise<void> => {
      for await (const bytes of accepted) {
        answers.push(bytes)
        await taken(answers)
      }

      answers.end()
    }
    const [digest] = await Promise.all([
      readDigest(opened),
      pipeInto(opened, questions),
      pushEach(questions, pattern(1, 4 * MEBIBYTE, PIECE_BYTES)),
      answer(),
      pipeInto(accepted, answers)
    ])

    expect(digest).toBe(patternDigest(1, 4 * MEBIBYTE))
  })

  test('sends all that was pushed at once, as the stream allows', async () => {
    const source = pushable<Bytes>()

    for (const piece of pattern(2, MEBIBYTE, 1_000)) {
      source.push(piece)
    }

    source.end()
    const [digest, peakHeldBytes] = await Promise.all([readDigest(accepted), pipeInto(opened, source)])

    expect(digest).toBe(patternDigest(2, MEBIBYTE))
    expect(peakHeldBytes).toBeLessThanOrEqual(2 * WINDOW_BYTES)
  })

  test.each(['opener', 'acceptor'])('holds a producer back whose reader, the %s, is busy, and loses nothing', async reader => {
    const [source, sink] = reader === 'opener' ? [accepted, opened] : [opened, accepted]
    const queue = pushable<Bytes>()
    const busy = Promise.withResolvers<void>()
    const received: Uint8Array[] = []
    let pushedBytes = 0
    let peakQueuedBytes = 0

    const read = async (): Promise<void> => {
      for await (const bytes of sink) {
        await busy.promise
        received.push(bytes.subarray())
      }
    }
    const finished = Promise.all([
      pipeInto(source, queue),
      read(),
      pushEach(queue, pattern(3, 3 * MEBIBYTE, PIECE_BYTES), byteLength => {
        pushedBytes += byteLength
        peakQueuedBytes = Math.max(peakQueuedBytes, queue.readableLength)
      })
    ])
    await quiet()
    const takenBytes = pushedBytes
    busy.resolve()
    const [peakHeldBytes] = await finished

    expect(Buffer.compare(Buffer.concat(received), patternBytes(3, 3 * MEBIBYTE))).toBe(0)
    expect(peakQueuedBytes).toBeLessThanOrEqual(PIECE_BYTES)
    expect(peakHeldBytes).toBeLessThanOrEqual(2 * WINDOW_BYTES)
    expect(takenBytes).toBeGreaterThan(0)
    // stock's loops take in all that comes, however busy they are
    const weRead = (reader === 'opener' ? names.dialler : names.listener) === 'ours'
    expect(weRead ? takenBytes : 0).toBeLessThanOrEqual(3 * WINDOW_BYTES)
  })
})
