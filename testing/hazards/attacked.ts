/**
 * A muxer under attack: what it costs and what it holds, and what became of the connection.
 */
import { setImmediate } from 'node:timers/promises'
import { StreamMessageEvent } from '@libp2p/interface'
import { systemClock } from '../../src/host/clock.ts'
import { fullControl } from '../../src/path-control.ts'
import { createConfig } from '../../src/options/config.ts'
import { Muxer } from '../../src/muxer/muxer.ts'
import { collectGarbage } from '../protocol/garbage.ts'
import { ACK, concat, SYN, windowUpdate } from '../protocol/frames.ts'
import { RawTransport } from '../protocol/raw-peer.ts'
import type { Application, Attack } from './attacks.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface Manner {
  frameCount: number
  /** One, or as many as a Noise record holds */
  framesPerChunk: number
  /** Else the transport is full for ever */
  isReading: boolean
}

export interface Outcome {
  /** Until the connection ended, or all */
  frameCount: number
  /** User and system time of the process while it dealt with them */
  cpuS: number
  /** The most that the connection was seen to add to heap and buffers, less the windows of its open streams */
  beyondWindowsBytes: number
  writes: number
  opened: number
  delivered: number
  /** The code of the error that the connection ended with */
  endedWith: string | undefined
}

/** Chunks that are dealt with in one turn of the event loop, as many as a socket has ready */
const CHUNKS_PER_TURN = 16
const LOOKS = 5
const INITIAL_WINDOW_BYTES = 262_144
/** The application's own, which no peer makes it hold */
const PAYLOAD = new Uint8Array(4_000_000)

class DiscardingTransport extends RawTransport {
  writeCount = 0

  override send (bytes: Uint8Array | Uint8ArrayList): boolean {
    this.writeCount++

    return this.status === 'open' && bytes.byteLength > 0 && !this.isFull
  }
}

class Victim {
  readonly transport = new DiscardingTransport('outbound')
  readonly muxer: Muxer
  opened = 0
  delivered = 0
  endedWith: string | undefined
  readonly #application: Application

  constructor ({ application = {}, options }: Attack) {
    this.#application = application
    const config = { ...createConfig({ enableKeepAlive: false, ...options }), maxUnansweredStreams: 256 }
    this.muxer = new Muxer(this.transport as unknown as MessageStream, config, systemClock, { createPathControl: fullControl() })
    this.muxer.addEventListener('stream', ({ detail }) => {
      this.opened++
      this.#serve(detail)
    })
  }

  /** Stream 1 is open, and stream 2, which the peer has opened */
  async start (): Promise<void> {
    const { sendsBytes = 0 } = this.#application
    const stream = await this.muxer.createStream()
    this.#read(stream)
    stream.addEventListener('close', ({ error }) => { this.endedWith = (error as { code?: string } | undefined)?.code })
    this.deliver([windowUpdate(1, 0, ACK), windowUpdate(2, 0, SYN)])

    if (sendsBytes > 0) {
      stream.send(PAYLOAD.subarray(0, sendsBytes))
      await setImmediate()
    }
  }

  deliver (frames: Uint8Array[]): void {
    this.transport.dispatchEvent(new StreamMessageEvent(concat(...frames)))
  }

  get windowBytes (): number {
    return this.muxer.streams.length * INITIAL_WINDOW_BYTES
  }

  #serve (stream: YamuxStream): void {
    const { refuses = false, answersBytes = 0 } = this.#application

    if (refuses) {
      stream.abort(new Error('Not served here'))
      return
    }

    this.#read(stream)

    if (answersBytes > 0) {
      stream.send(PAYLOAD.subarray(0, answersBytes))
      stream.close().catch(() => {})
    }
  }

  #read (stream: YamuxStream): void {
    if (this.#application.loops === true) {
      this.#loop(stream).catch(() => {})
    } else if (this.#application.isPaused !== true) {
      stream.addEventListener('message', () => { this.delivered++ })
    }
  }

  async #loop (stream: YamuxStream): Promise<void> {
    for await (const chunk of stream) {
      this.delivered += Number(chunk.byteLength > 0)
    }
  }
}

/** What it costs to hand over chunks to somebody who ignores them: the transport's part, not the muxer's */
export async function measureHandover (manner: Manner): Promise<number> {
  const transport = new DiscardingTransport('outbound')
  const ping = new Uint8Array(12 * manner.framesPerChunk)
  let cpuS = 0
  transport.addEventListener('message', () => {})

  for (let frames = 0; frames < manner.frameCount; frames += CHUNKS_PER_TURN * manner.framesPerChunk) {
    cpuS += await deal(transport, Array.from({ length: CHUNKS_PER_TURN }, () => ping))
  }

  return cpuS
}

/** Beside the stream that is attacked another one is open */
export async function endure (attack: Attack, { frameCount, framesPerChunk, isReading }: Manner): Promise<Outcome> {
  const before = await memoryBytes()
  const victim = new Victim(attack)
  await victim.start()
  victim.transport.isFull = !isReading
  const outcome: Outcome = { frameCount: 0, cpuS: 0, beyondWindowsBytes: 0, writes: 0, opened: 0, delivered: 0, endedWith: undefined }
  let step = 0
  const nextChunk = (): Uint8Array => {
    const frames: Uint8Array[] = []

    while (frames.length < framesPerChunk) {
      frames.push(...attack.frames(step++))
    }

    outcome.frameCount += frames.length

    return concat(...frames)
  }

  for (let look = 1; look <= LOOKS; look++) {
    while (outcome.frameCount < frameCount * look / LOOKS && victim.muxer.status !== 'closed') {
      outcome.cpuS += await deal(victim.transport, Array.from({ length: CHUNKS_PER_TURN }, nextChunk))
    }

    outcome.beyondWindowsBytes = Math.max(outcome.beyondWindowsBytes, await memoryBytes() - before - victim.windowBytes)
  }

  outcome.writes = victim.transport.writeCount
  outcome.opened = victim.opened
  outcome.delivered = victim.delivered
  outcome.endedWith = victim.endedWith
  victim.muxer.abort(new Error('The attack is over'))

  return outcome
}

async function deal (transport: RawTransport, chunks: Uint8Array[]): Promise<number> {
  const before = process.cpuUsage()

  for (const chunk of chunks) {
    transport.dispatchEvent(new StreamMessageEvent(chunk))
    await Promise.resolve()
  }

  await setImmediate()
  const { user, system } = process.cpuUsage(before)

  return (user + system) / 1e6
}

async function memoryBytes (): Promise<number> {
  await collectGarbage()
  await collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()

  return heapUsed + arrayBuffers
}
