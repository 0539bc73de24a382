/**
 * One muxer at both ends of a link, and the application that uses it. All in one thread.
 */
import { yamux as stock } from '@libp2p/yamux'
import { systemClock } from '../../src/host/clock.ts'
import { yamux as ours } from '../../src/index.ts'
import { Bulk } from './bulk.ts'
import { Link } from './link.ts'
import { OwnMetrics } from './own-metrics.ts'
import { Urgent } from './urgent.ts'
import type { ContestantName, LinkSetup, Setup } from '../setup.ts'
import type { Report } from '../report.ts'
import type { StreamMuxerFactory } from '@libp2p/interface'

/** What libp2p would have agreed on for the streams; our `priority` goes by it */
const URGENT_PROTOCOL = '/urgent/1.0.0'
const BULK_PROTOCOL = '/bulk/1.0.0'
/** Of the first stream that a connection opens, of any yamux. Its initiator's have odd ids. */
const URGENT_ID = 1
const ID_STEP = 2

export class Contestant {
  readonly #link: Link
  readonly #bulk: Bulk
  readonly #urgent: Urgent
  readonly #metrics: OwnMetrics | undefined
  #last = { atMs: 0, readBytes: 0, bytesPerMs: 0 }

  static async start (name: ContestantName, setup: Setup, onFailure: (err: unknown) => void): Promise<Contestant> {
    const metrics = name === 'ours' ? new OwnMetrics() : undefined
    const link = new Link(setup, URGENT_ID, onFailure)
    const bulk = new Bulk(setup, onFailure)
    const urgent = new Urgent(setup, onFailure)
    const sender = createFactory(name, setup, metrics).createStreamMuxer(link.sender)
    const receiver = createFactory(name, setup).createStreamMuxer(link.receiver)

    receiver.addEventListener('stream', ({ detail: stream }) => {
      const id = Number(stream.id)
      stream.protocol = id === URGENT_ID ? URGENT_PROTOCOL : BULK_PROTOCOL
      id === URGENT_ID ? urgent.echo(stream) : bulk.receive(stream, (id - URGENT_ID) / ID_STEP - 1)
    })

    for (let i = 0; i <= setup.streams; i++) {
      const stream = await sender.createStream()
      stream.protocol = i === 0 ? URGENT_PROTOCOL : BULK_PROTOCOL
      stream.addEventListener('close', ({ error }) => { onFailure(error ?? new Error(`Stream ${stream.id} has closed`)) })
      i === 0 ? urgent.sendOn(stream) : bulk.sendOn(stream)
    }

    urgent.setPaused(false)
    bulk.setPaused(false)

    return new Contestant(link, bulk, urgent, metrics)
  }

  private constructor (link: Link, bulk: Bulk, urgent: Urgent, metrics?: OwnMetrics) {
    this.#link = link
    this.#bulk = bulk
    this.#urgent = urgent
    this.#metrics = metrics
  }

  changeLink (setup: LinkSetup): void {
    this.#link.change(setup)
  }

  setPaused (isPaused: boolean): void {
    this.#urgent.setPaused(isPaused)
    this.#bulk.setPaused(isPaused)
  }

  report (): Report {
    const atMs = systemClock.nowMs()
    const { there, frames, inFlightBytes } = this.#link
    const bytesPerMs = (there.readBytes - this.#last.readBytes) / (atMs - this.#last.atMs)
    this.#last = { atMs, readBytes: there.readBytes, bytesPerMs: (this.#last.bytesPerMs + bytesPerMs) / 2 }

    return {
      atMs,
      wire: { ...frames.totals },
      own: this.#metrics && { ...this.#metrics.totals },
      messages: this.#bulk.arrivedMessages,
      arrivedBytes: there.readBytes,
      inFlightBytes,
      waitingBytes: this.#bulk.waitingBytes,
      latenciesMs: this.#urgent.takeLatenciesMs(),
      oldestMs: this.#urgent.oldestMs,
      cells: frames.cells(there, atMs, this.#last.bytesPerMs),
      lastWrites: frames.lastWrites()
    }
  }
}

function createFactory (name: ContestantName, setup: Setup, metrics?: OwnMetrics): StreamMuxerFactory {
  const limits = { maxInboundStreams: setup.streams + 1, maxOutboundStreams: setup.streams + 1 }

  if (name === 'stock') {
    return stock(limits)()
  }

  const { isMarked, strategy, maxQueueDelayMs } = setup

  return ours({
    ...limits,
    priority: isMarked ? { [URGENT_PROTOCOL]: 'urgent' } : {},
    coalesce: { strategy, maxQueueDelayMs }
  })({ metrics: metrics?.asMetrics })
}
