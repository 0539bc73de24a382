// Ours and stock at the two ends of a connection: a reader that waits holds its writer, and loses nothing.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MUXER_PAIRS } from '../libp2p/fixtures/muxers.ts'
import { pattern, patternBytes } from '../libp2p/fixtures/pattern.ts'
import { patternDigest } from '../libp2p/fixtures/pattern-digest.ts'
import { readDigest, readEach, sendAll } from '../libp2p/fixtures/streams.ts'
import { connect, openBoth } from './fixtures/connected-pair.ts'
import type { ConnectedPair } from './fixtures/connected-pair.ts'
import type { Stream } from '@libp2p/interface'

const MEBIBYTE = 2 ** 20
/** What a side may take from a stream without anybody reading it, unless it grants more */
const WINDOW_BYTES = 256 * 1024
const QUIET_MS = 60

async function quiet (): Promise<void> {
  return new Promise(resolve => { setTimeout(resolve, QUIET_MS) })
}

/** Sends a pattern and counts what the stream has let go of */
class Writer {
  done = false
  readonly finished: Promise<void>
  #offeredBytes = 0
  readonly #stream: Stream

  constructor (stream: Stream, seed: number, byteLength: number) {
    this.#stream = stream
    this.finished = sendAll(stream, pattern(seed, byteLength), sentBytes => { this.#offeredBytes += sentBytes })
      .then(async () => {
        this.done = true
        await stream.close()
      })
  }

  get sentBytes (): number {
    return this.#offeredBytes - this.#stream.writeBufferLength
  }
}

describe.each(MUXER_PAIRS)('$dialler that dials $listener', names => {
  let pair: ConnectedPair

  beforeEach(async () => {
    pair = await connect(names)
  })

  afterEach(() => {
    pair.disconnect()
  })

  test.each(['opener', 'acceptor'])('holds a writer whose reader, the %s, pauses, and loses nothing', async reader => {
    const [opened, accepted] = await openBoth(pair)
    const [source, sink] = reader === 'opener' ? [accepted, opened] : [opened, accepted]
    const received: Uint8Array[] = []
    const end = readEach(sink, bytes => { received.push(bytes.subarray()) })
    // stock: pause() before the stream is established never sends the ACK
    source.send(patternBytes(1, 4))
    sink.send(patternBytes(1, 4))
    await quiet()
    sink.pause()
    const writer = new Writer(source, 2, 3 * MEBIBYTE)
    await quiet()

    expect(writer.done).toBe(false)
    expect(writer.sentBytes).toBeGreaterThan(0)
    expect(writer.sentBytes).toBeLessThanOrEqual(2 * WINDOW_BYTES)
    expect(received).toHaveLength(1)

    sink.resume()
    await Promise.all([writer.finished, end])

    expect(Buffer.compare(Buffer.concat(received.slice(1)), Buffer.concat([...pattern(2, 3 * MEBIBYTE)]))).toBe(0)
  })

  test('lets other streams pass while one is held', async () => {
    const [opened, accepted] = await openBoth(pair)
    accepted.send(patternBytes(1, 4))
    await quiet()
    accepted.pause()
    const writer = new Writer(opened, 3, MEBIBYTE)
    const [otherOpened, otherAccepted] = await openBoth(pair)
    const digest = readDigest(otherAccepted)
    await new Writer(otherOpened, 4, 2 * MEBIBYTE).finished

    expect(await digest).toBe(patternDigest(4, 2 * MEBIBYTE))
    expect(writer.done).toBe(false)

    const held = readDigest(accepted)
    accepted.resume()
    expect(await held).toBe(patternDigest(3, MEBIBYTE))
    await writer.finished
  })

  test('loses nothing to a reader that pauses at every message', async () => {
    const [opened, accepted] = await openBoth(pair)
    const received: Uint8Array[] = []
    const end = readEach(accepted, bytes => {
      received.push(bytes.subarray())

      if (accepted.readStatus === 'readable') {
        accepted.pause()
        setImmediate(() => {
          // the connection may have ended behind the last message, and stock throws then
          if (accepted.readStatus === 'paused' && accepted.status === 'open') {
            accepted.resume()
          }
        })
      }
    })
    const writer = new Writer(opened, 5, 2 * MEBIBYTE)
    await Promise.all([writer.finished, end])

    expect(Buffer.compare(Buffer.concat(received), Buffer.concat([...pattern(5, 2 * MEBIBYTE)]))).toBe(0)
  })
})
