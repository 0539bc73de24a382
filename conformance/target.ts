// The other end of a connection, as a case talks with it: send, and wait for what must come. Pings of the target are answered by the way.
import { setTimeout as sleep } from 'node:timers/promises'
import { ACK, DATA, FIN, GO_AWAY, ping, PING, RST, SYN, WINDOW_UPDATE } from '../testing/protocol/frames.ts'
import { HeaderReader } from '../testing/protocol/header-reader.ts'
import { ANSWER_MS, MAX_PINGS, MAX_RECEIVED_BYTES, MAX_RECEIVED_FRAMES, MAX_SENT_BYTES, MAX_SENT_FRAMES, SILENCE_MS } from './bounds.ts'
import { frameText, partText } from './frame-text.ts'
import { Stream } from './stream.ts'
import { Failure, Transcript } from './transcript.ts'
import type { FrameHeader } from '../testing/protocol/header-reader.ts'
import type { MessageStream } from '@libp2p/interface'

/** Bytes that come one at a time come this far apart, so that they do not meet in a buffer */
const SLOW_BYTE_MS = 2
const KNOWN_FLAGS = SYN | ACK | FIN | RST

export interface TargetInit {
  /** Whether the suite has dialled, and so has the odd ids */
  isDialled: boolean
  /** What a stream begins with before the target echoes; in libp2p the agreement on a protocol, which is an echo by itself */
  preamble: Uint8Array
  /** Makes another connection */
  another (): Promise<Target>
}

export class Target {
  readonly preamble: Uint8Array
  readonly isDialled: boolean
  readonly another: TargetInit['another']
  /** Whatever has come, in its order, pings excluded */
  readonly headers: FrameHeader[] = []
  /** In their order */
  readonly pings: FrameHeader[] = []
  readonly pongs: FrameHeader[] = []
  hasEnded = false
  readonly #connection: MessageStream
  readonly #streams = new Map<number, Stream>()
  readonly #reader = new HeaderReader()
  readonly #transcript = new Transcript()
  readonly #waiting = new Set<() => void>()
  #openedCount = 0
  #pingCount = 0
  #sentBytes = 0
  #sentFrames = 0
  #receivedBytes = 0
  #receivedFrames = 0
  /** What the target has not kept to, whatever the case is about */
  #broken: string | undefined
  #bodyStream: Stream | undefined
  /** Answers that wait for the end of a frame that is sent in pieces */
  #waitingPongs: Uint8Array[] | undefined

  constructor (connection: MessageStream, { isDialled, preamble, another }: TargetInit) {
    this.#connection = connection
    this.isDialled = isDialled
    this.preamble = preamble
    this.another = another
    connection.addEventListener('message', ({ data }) => {
      for (const part of data instanceof Uint8Array ? [data] : data) {
        this.#receive(part)
      }
    })
    connection.addEventListener('close', () => {
      this.hasEnded = true
      this.#transcript.add('< the connection is closed')
      this.#wake()
    })
  }

  get goAway (): FrameHeader | undefined {
    return this.headers.find(({ type }) => type === GO_AWAY)
  }

  /** Streams that the target has opened */
  get opened (): Stream[] {
    return [...this.#streams.values()].filter(stream => stream.headers.some(({ flags }) => (flags & SYN) !== 0))
  }

  /** A stream with an id of the suite's that was not used; nothing is sent */
  newStream (id = this.#openedCount++ * 2 + (this.isDialled ? 1 : 2)): Stream {
    const stream = new Stream(this, id)
    this.#streams.set(id, stream)

    return stream
  }

  /** Opens a stream with a WINDOW_UPDATE, as most implementations do */
  open (): Stream {
    return this.newStream().open()
  }

  /** Sends frames, or parts of frames, in one write */
  send (...parts: Uint8Array[]): void {
    this.#write(Buffer.concat(parts))
    this.#sentFrames += parts.length
    parts.forEach(part => { this.#transcript.add(`> ${partText(part)}`) })

    if (this.#sentFrames > MAX_SENT_FRAMES) {
      throw new Error(`This case sends more than ${MAX_SENT_FRAMES} frames, which none may`)
    }
  }

  /** Sends frames in pieces of so many bytes, a little apart */
  async sendInPieces (pieceBytes: number, ...parts: Uint8Array[]): Promise<void> {
    const bytes = Buffer.concat(parts)
    const pongs: Uint8Array[] = this.#waitingPongs = []
    parts.forEach(part => { this.#transcript.add(`> ${partText(part)}, in pieces of ${pieceBytes}`) })

    for (let offset = 0; offset < bytes.byteLength && !this.hasEnded; offset += pieceBytes) {
      this.#write(bytes.subarray(offset, offset + pieceBytes))
      await sleep(SLOW_BYTE_MS)
    }

    this.#waitingPongs = undefined
    this.#deliver(Buffer.concat(pongs))
  }

  /** Waits for what is expected */
  async until (expected: string, isSo: () => boolean, waitMs = ANSWER_MS): Promise<void> {
    const giveUp = AbortSignal.timeout(waitMs)
    giveUp.addEventListener('abort', () => { this.#wake() })

    while (this.#broken == null && !isSo()) {
      if (this.hasEnded) {
        throw this.#failure(`${expected}, but the target has ended the connection`)
      }

      if (giveUp.aborted) {
        throw this.#failure(`${expected} within ${waitMs / 1000} s`)
      }

      await new Promise<void>(resolve => { this.#waiting.add(resolve) })
    }

    if (this.#broken != null) {
      throw this.#failure(this.#broken)
    }
  }

  check (expected: string, isSo: boolean): void {
    if (!isSo) {
      throw this.#failure(expected)
    }
  }

  /** Sends a ping and waits for its pong, so that all that was sent before has been read */
  async answers (value = 0x5afe0000 + this.#pingCount++): Promise<void> {
    const pongsBefore = this.pongs.length
    this.send(ping(value, SYN))
    await this.until(`PING ACK value 0x${value.toString(16).padStart(8, '0')}`, () => this.pongs.slice(pongsBefore).some(({ length }) => length === value))
  }

  /** The target has read all, and has had time for what it should not say */
  async isSilent (): Promise<void> {
    await this.answers()
    await sleep(SILENCE_MS)
  }

  /** Waits until the target has either answered or ended the connection, as it may after what is too much; true if it goes on */
  async answersOrEnds (): Promise<boolean> {
    try {
      await this.answers()
    } catch (error) {
      if (!this.hasEnded) {
        throw error
      }
    }

    return !this.hasEnded
  }

  /** The process behind the target is there: once this connection is cut off, it takes another and answers on it */
  async takesAnother (): Promise<void> {
    this.leave()
    const another = await this.another()

    try {
      await another.answers()
    } catch {
      throw this.#failure('a ping on another connection to be answered')
    } finally {
      another.leave()
    }
  }

  /** The target takes a violation for one: it has reset the stream, sent a GoAway with a code, or ended the connection */
  isRefused (stream?: Stream): boolean {
    return this.hasEnded || (this.goAway?.length ?? 0) > 0 || stream?.isReset === true
  }

  async refuses (what: string, stream?: Stream): Promise<void> {
    await this.until(`${what} to be refused`, () => this.isRefused(stream))
  }

  /** What the target does with what the specification leaves open */
  async reaction (stream?: Stream): Promise<string> {
    const goesOn = await this.answersOrEnds()
    await sleep(SILENCE_MS)

    if (this.goAway != null) {
      return `ends the connection, GoAway ${this.goAway.length}`
    }

    return this.hasEnded || !goesOn ? 'ends the connection' : stream?.isReset === true ? 'resets the stream' : 'goes on'
  }

  /** Closes in good order, or cuts the connection off */
  leave (isAbrupt = true): void {
    if (isAbrupt) {
      this.#connection.abort(new Error('The case is over'))
    } else {
      this.#connection.close().catch(() => {})
    }
  }

  #write (bytes: Uint8Array): void {
    this.#sentBytes += bytes.byteLength

    if (this.#sentBytes > MAX_SENT_BYTES) {
      throw new Error(`This case sends more than ${MAX_SENT_BYTES} bytes, which none may`)
    }

    this.#deliver(bytes)
  }

  #deliver (bytes: Uint8Array): void {
    if (this.#connection.status === 'open') {
      this.#connection.send(bytes)
    }
  }

  /** A target that does so is left at once */
  #breaks (expected: string): void {
    this.#broken ??= expected
    this.leave()
  }

  #receive (bytes: Uint8Array): void {
    this.#receivedBytes += bytes.byteLength

    if (this.#receivedBytes > MAX_RECEIVED_BYTES) {
      this.#breaks(`at most ${MAX_RECEIVED_BYTES} bytes from the target`)
      return
    }

    this.#reader.push(bytes, (header, version) => { this.#receiveHeader(header, version) }, part => { this.#bodyStream?.receivedBody(part) })
    this.#wake()
  }

  #receiveHeader (header: FrameHeader, version: number): void {
    const { type, flags, id, length } = header

    if (++this.#receivedFrames > MAX_RECEIVED_FRAMES) {
      this.#breaks(`at most ${MAX_RECEIVED_FRAMES} frames from the target`)
      return
    }

    this.#transcript.add(`< ${frameText(header, version)}`)

    if (version !== 0 || type > GO_AWAY) {
      this.#broken ??= `frames of version 0 and types 0 to 3, not ${frameText(header, version)}`
    } else if (type !== PING) {
      this.headers.push(header)
    } else if ((flags & SYN) === 0) {
      this.pongs.push(header)
    } else {
      this.pings.push(header)
      this.#answer(ping(length, ACK))
    }

    if (type === DATA || type === WINDOW_UPDATE) {
      const stream = this.#streams.get(id) ?? this.newStream(id)
      const mayOpen = stream.headers.length === 0 && id % 2 === (this.isDialled ? 0 : 1)

      if ((flags & ~KNOWN_FLAGS) !== 0) {
        this.#broken ??= `no flags but SYN, ACK, FIN and RST, not ${frameText(header, version)}`
      } else if ((flags & SYN) !== 0 && !mayOpen) {
        this.#broken ??= `SYN only on the first frame of a stream that the target opens, not ${frameText(header, version)}`
      } else if (type === DATA && length > 0 && stream.isFinished) {
        this.#broken ??= `no data after FIN, not ${frameText(header, version)}`
      }

      stream.received(header)
      this.#bodyStream = type === DATA ? stream : undefined
    }
  }

  #answer (pong: Uint8Array): void {
    if (this.pings.length > MAX_PINGS) {
      this.#breaks(`at most ${MAX_PINGS} pings from the target`)
    } else if (this.#waitingPongs == null) {
      this.#transcript.add(`> ${partText(pong)}`)
      this.#deliver(pong)
    } else {
      this.#waitingPongs.push(pong)
    }
  }

  #failure (expected: string): Failure {
    return new Failure(expected, this.#transcript.toLines())
  }

  #wake (): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    waiting.forEach(resolve => { resolve() })
  }
}
