// A second connection in the same process, which nothing is wrong with: nothing of the first may show in it.
import { systemClock } from '../../../src/host/clock.ts'
import { fullControl } from '../../../src/path-control.ts'
import { createConfig } from '../../../src/options/config.ts'
import { Muxer } from '../../../src/muxer/muxer.ts'
import { Flow, law } from './flow.ts'
import { WireTap } from './wire-tap.ts'
import type { Run } from './run.ts'
import type { Random } from '../../../testing/simulation/random.ts'
import type { Link } from '../../../testing/simulation/link.ts'
import type { Stream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

const LINK = { rateBytesPerS: 10_000_000, delayMs: 1, socketBufferBytes: Infinity }
const SEND_CHANCE = 0.3
const MESSAGE_BYTES = { min: 1, max: 20_000 }
const MAX_BYTES = 400_000
/** No stream of the first connection has the same bytes */
const FLOW_ID = 1001

export class Neighbour {
  readonly #run: Run
  readonly #random: Random
  readonly #flow = new Flow(FLOW_ID, true)
  readonly #link: Link
  readonly #dialler: Muxer
  readonly #listener: Muxer
  #stream: Stream | undefined
  /** How each end of the stream came to its end */
  readonly #closes: Array<Error | undefined> = []

  constructor (run: Run, random: Random, strategy: 'turn' | 'off') {
    this.#run = run
    this.#random = random
    const taps = { listener: new WireTap(true, true, () => {}), dialler: new WireTap(false, true, () => {}) }

    this.#link = run.sim.link({
      ...LINK,
      // a muxer would take it for a failure of its transport
      onSend: ({ to, bytes }) => { run.attempt(() => { taps[to].wrote(bytes) }) },
      onArrived: ({ to, bytes }) => { taps[to === 'listener' ? 'dialler' : 'listener'].received(bytes) }
    })

    // no timers, which would be counted as those of the first connection
    const config = createConfig({ enableKeepAlive: false, coalesce: { strategy, maxQueueDelayMs: Infinity }, limits: { openTimeoutMs: Infinity, closeTimeoutMs: Infinity } })
    this.#dialler = new Muxer(this.#link.diallerEnd, config, systemClock, { createPathControl: fullControl() })
    this.#listener = new Muxer(this.#link.listenerEnd, config, systemClock, { createPathControl: fullControl() })
    this.#listener.addEventListener('stream', evt => { this.#receive(evt.detail) })
    run.start(run.track('createStream() of the neighbour', this.#open()))
  }

  /** Now and then */
  act (): void {
    if (this.#random.chance(SEND_CHANCE)) {
      this.send()
    }
  }

  send (): void {
    const byteLength = Math.min(this.#random.integer(MESSAGE_BYTES.min, MESSAGE_BYTES.max), MAX_BYTES - this.#flow.sentBytes)

    if (byteLength > 0 && this.#stream?.writeStatus === 'writable') {
      this.#stream.send(this.#flow.take(byteLength))
    }
  }

  /** Sends a last time, and closes its stream */
  finish (): void {
    const stream = this.#stream
    this.send()

    if (stream != null) {
      this.#run.start(this.#run.track('close() of the stream of the neighbour', stream.close()))
    }
  }

  /** Everything has come, and nothing was ever wrong */
  checkFinished (): void {
    const { sentBytes, receivedBytes } = this.#flow
    law(receivedBytes === sentBytes, () => `the neighbour received ${receivedBytes} of ${sentBytes} bytes`)
    law(this.#closes.length === 2 && this.#closes.every(err => err == null), () => `the streams of the neighbour closed with ${this.#closes}`)
  }

  async end (): Promise<void> {
    for (const [muxer, linkEnd] of [[this.#dialler, this.#link.diallerEnd], [this.#listener, this.#link.listenerEnd]] as const) {
      await muxer.close()
      await linkEnd.close()
    }
  }

  async #open (): Promise<void> {
    this.#stream = await this.#dialler.createStream()
    this.#watch(this.#stream)
  }

  #receive (stream: Stream): void {
    this.#watch(stream)
    stream.addEventListener('message', evt => { this.#run.attempt(() => { this.#flow.receive(evt.data as Uint8ArrayList) }) })
    stream.addEventListener('remoteCloseWrite', () => { this.#run.start(this.#run.track('close() of the other stream of the neighbour', stream.close())) })
  }

  #watch (stream: Stream): void {
    stream.addEventListener('close', evt => { this.#closes.push(evt.error) })
  }
}
