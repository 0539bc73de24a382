// What this side does with the streams that the peer opens: their first line names the job.
import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { patternPieces } from '../pattern.ts'
import { closeOf, readAll, sendAll, sendAndClose } from '../libp2p/streams.ts'
import { StreamReader } from './stream-reader.ts'
import type { Stream } from '@libp2p/interface'
import type { Hash } from 'node:crypto'

/** What a reader that pauses takes between two pauses */
export const PACE_BYTES = 64 * 1024

/** Takes in the pieces as they are sent */
export function * hashed (pieces: Iterable<Uint8Array>, hash: Hash): Generator<Uint8Array> {
  for (const piece of pieces) {
    hash.update(piece)
    yield piece
  }
}

/** How a stream that is left open here ends: `reset`, `reset <code>`, `end` or `error <message>` */
export async function howItEnds (stream: Stream): Promise<string> {
  const [{ error }] = await Promise.all([closeOf(stream), readAll(stream).catch(() => {})])
  const { errorCode } = error as { errorCode?: number } ?? {}

  if (error == null) {
    return 'end'
  }
  if (error.name !== 'StreamResetError') {
    return `error ${error.message}`
  }

  return errorCode == null ? 'reset' : `reset ${errorCode}`
}

export class Acceptor {
  /** How the last stream of job `hang` ended */
  lastEnd: Promise<string> | undefined
  /** What streams of jobs `hash` and `exchange` have read, and the most that one of them held unread */
  takenBytes = 0
  peakUnreadBytes = 0
  /** What went wrong in jobs */
  readonly failures: string[] = []

  /** Never rejects */
  async accept (stream: Stream): Promise<void> {
    try {
      const reader = new StreamReader(stream)
      const [job, ...parameters] = (await reader.line()).split(' ')
      await this.#do(stream, reader, job, Number(parameters[0]))
    } catch (err: any) {
      this.failures.push(`${err.name}: ${err.message}`)
      stream.abort(err)
    }
  }

  async #do (stream: Stream, reader: StreamReader, job: string, parameter: number): Promise<void> {
    switch (job) {
      case 'echo':
        return this.#echo(stream, reader)
      case 'hash':
        return this.#hash(stream, reader, parameter)
      case 'source':
        return this.#source(stream, reader, parameter)
      case 'exchange':
        return this.#exchange(stream, reader, parameter)
      case 'hang':
        this.lastEnd = howItEnds(stream)
        stream.send(Uint8Array.of(1))
        return
      case 'reset':
        stream.abort(Object.assign(new Error('The job was to reset the stream'), { errorCode: parameter }))
        return
      default:
        throw new Error(`There is no job "${job}"`)
    }
  }

  /** Sends back what it reads, and closes once the opener has */
  async #echo (stream: Stream, reader: StreamReader): Promise<void> {
    for (let bytes = await reader.next(Infinity); bytes != null; bytes = await reader.next(Infinity)) {
      await sendAll(stream, [bytes])
    }

    await stream.close()
  }

  /** Reads to the end, with a pause now and then, and only then answers with the SHA-256 */
  async #hash (stream: Stream, reader: StreamReader, pauseMs: number): Promise<void> {
    await sendAndClose(stream, [await this.#digest(stream, reader, pauseMs)])
  }

  async #digest (stream: Stream, reader: StreamReader, pauseMs: number): Promise<Uint8Array> {
    const hash = createHash('sha256')

    for (let bytes = await reader.next(PACE_BYTES); bytes != null; bytes = await reader.next(PACE_BYTES)) {
      this.peakUnreadBytes = Math.max(this.peakUnreadBytes, stream.readBufferLength + reader.heldBytes)
      this.takenBytes += bytes.byteLength
      hash.update(bytes)

      if (pauseMs > 0) {
        await setTimeout(pauseMs)
      }
    }

    return hash.digest()
  }

  /** Sends so many bytes and the SHA-256 of them */
  async #source (stream: Stream, reader: StreamReader, byteLength: number): Promise<void> {
    const hash = createHash('sha256')
    await sendAll(stream, hashed(patternPieces(byteLength, 1), hash))
    await sendAndClose(stream, [hash.digest()])
    await reader.expectEnd()
  }

  /** Sends so many bytes before it reads any, as the opener does, and then the SHA-256 of what was sent and of what was read */
  async #exchange (stream: Stream, reader: StreamReader, byteLength: number): Promise<void> {
    const sent = createHash('sha256')
    await sendAll(stream, hashed(patternPieces(byteLength, 1), sent))
    this.peakUnreadBytes = Math.max(this.peakUnreadBytes, stream.readBufferLength + reader.heldBytes)
    const readDigest = await this.#digest(stream, reader, 0)
    await sendAndClose(stream, [sent.digest(), readDigest])
  }
}
