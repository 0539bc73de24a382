// What this side does on streams of its own, each for one job of the other side's acceptor.
import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { pattern, patternPieces } from '../pattern.ts'
import { sendAll } from '../libp2p/streams.ts'
import { PACE_BYTES, hashed, howItEnds } from './acceptor.ts'
import { StreamReader } from './stream-reader.ts'
import type { Stream } from '@libp2p/interface'

const DIGEST_BYTES = 32
const SEED = 2

export function line (...words: Array<string | number>): Uint8Array {
  return new TextEncoder().encode(`${words.join(' ')}\n`)
}

export function expectSame (received: Uint8Array, expected: Uint8Array, what: string): void {
  if (Buffer.compare(received, expected) !== 0) {
    throw new Error(`${what}: expected ${Buffer.from(expected).toString('hex', 0, DIGEST_BYTES)}, received ${Buffer.from(received).toString('hex', 0, DIGEST_BYTES)}`)
  }
}

export class Opener {
  /** By all calls of `send` and `receive` so far */
  sentBytes = 0
  receivedBytes = 0
  /** The most that a stream of `send` held unsent */
  peakHeldBytes = 0
  /** The most that a stream of `exchange` held unread when all was written */
  peakUnreadBytes = 0
  readonly #open: () => Promise<Stream>

  constructor (open: () => Promise<Stream>) {
    this.#open = open
  }

  /** Streams that are all open at once, each of which gives back its own bytes */
  async echo (streamCount: number, byteLength: number): Promise<void> {
    const streams = await Promise.all(Array.from({ length: streamCount }, async (_, seed) => {
      const stream = await this.#open()
      const reader = new StreamReader(stream)
      const payload = pattern(byteLength, seed)
      // at once: a peer may acknowledge a stream no sooner than with its answer, and more than 256 wait for that
      await sendAll(stream, [line('echo'), payload])
      expectSame(await reader.exactly(byteLength), payload, `stream ${stream.id}`)

      return { stream, reader }
    }))

    await Promise.all(streams.map(async ({ stream, reader }) => {
      await stream.close()
      await reader.expectEnd()
    }))
  }

  /** Sends in pieces, closes, and gets the SHA-256 after that; the other side pauses while it reads */
  async send (byteLength: number, pieceBytes: number, pauseMs: number): Promise<void> {
    const stream = await this.#open()
    const hash = createHash('sha256')
    await sendAll(stream, [line('hash', pauseMs)])

    for (const piece of patternPieces(byteLength, SEED, pieceBytes)) {
      hash.update(piece)
      this.peakHeldBytes = Math.max(this.peakHeldBytes, await sendAll(stream, [piece]))
      this.sentBytes += piece.byteLength
    }

    await stream.close()
    const reader = new StreamReader(stream)
    expectSame(await reader.exactly(DIGEST_BYTES), hash.digest(), 'digest of what was sent')
    await reader.expectEnd()
  }

  /** Reads what the other side sends, with a pause now and then, and the SHA-256 of it */
  async receive (byteLength: number, pauseMs: number): Promise<void> {
    const stream = await this.#open()
    const reader = new StreamReader(stream)
    const hash = createHash('sha256')
    await sendAll(stream, [line('source', byteLength)])
    await stream.close()

    for (let leftBytes = byteLength; leftBytes > 0;) {
      const bytes = await reader.next(Math.min(leftBytes, PACE_BYTES))

      if (bytes == null) {
        throw new Error(`The stream ended ${leftBytes} bytes early`)
      }

      hash.update(bytes)
      leftBytes -= bytes.byteLength
      this.receivedBytes += bytes.byteLength

      if (pauseMs > 0) {
        await setTimeout(pauseMs)
      }
    }

    expectSame(await reader.exactly(DIGEST_BYTES), hash.digest(), 'digest of what was received')
    await reader.expectEnd()
  }

  /** Sends so many bytes before it reads any, as the other side does, and reads the SHA-256 of both behind what that sent */
  async exchange (byteLength: number): Promise<void> {
    const stream = await this.#open()
    const sent = createHash('sha256')
    await sendAll(stream, [line('exchange', byteLength)])
    await sendAll(stream, hashed(patternPieces(byteLength, SEED), sent))
    await stream.close()
    this.peakUnreadBytes = Math.max(this.peakUnreadBytes, stream.readBufferLength)

    const reader = new StreamReader(stream)
    const received = createHash('sha256').update(await reader.exactly(byteLength))
    expectSame(await reader.exactly(DIGEST_BYTES), received.digest(), 'digest of what was received')
    expectSame(await reader.exactly(DIGEST_BYTES), sent.digest(), 'digest of what was sent')
    await reader.expectEnd()
  }

  /** A stream that the other side has and does nothing with */
  async hang (): Promise<Stream> {
    const stream = await this.#open()
    await sendAll(stream, [line('hang')])
    await new Promise(resolve => { stream.addEventListener('message', resolve, { once: true }) })

    return stream
  }

  /** Resets a stream that the other side has */
  async reset (errorCode: number): Promise<void> {
    const stream = await this.hang()
    stream.abort(Object.assign(new Error('The test resets this stream'), { errorCode }))
  }

  /** Lets the other side reset a stream and returns how it ended here */
  async beReset (errorCode: number): Promise<string> {
    const stream = await this.#open()
    const end = howItEnds(stream)
    await sendAll(stream, [line('reset', errorCode)])

    return end
  }
}
