/**
 * Two ends and a way in each direction, in real time.
 */
import { systemClock } from '../../src/host/clock.ts'
import { FrameLog } from './frame-log.ts'
import { OneWay } from './one-way.ts'
import { OneWayEnd } from './one-way-end.ts'
import type { OneWayOptions } from './one-way.ts'
import type { LinkSetup } from '../setup.ts'

const BITS_PER_BYTE = 8
const TICK_MS = 1
/** Of one end, before timers and the other end have their turn. Event loops read a socket several times as well. */
const READS_PER_TICK = 4

function optionsOf ({ mbitPerS, delayMs, bufferBytes }: LinkSetup): OneWayOptions {
  return { bytesPerMs: mbitPerS * 1000 / BITS_PER_BYTE, delayMs, bufferBytes }
}

export class Link {
  readonly there: OneWay
  readonly back: OneWay
  readonly sender: OneWayEnd
  readonly receiver: OneWayEnd
  readonly frames: FrameLog
  readonly #onFailure: (err: unknown) => void
  #isTicking = false

  constructor (setup: LinkSetup, urgentId: number, onFailure: (err: unknown) => void) {
    this.#onFailure = onFailure
    this.there = new OneWay(optionsOf(setup))
    this.back = new OneWay(optionsOf(setup))
    this.frames = new FrameLog(urgentId)
    this.sender = new OneWayEnd('outbound', {
      onWrite: bytes => { this.frames.onWrite(bytes) },
      transmit: bytes => this.#transmit(this.there, bytes)
    })
    this.receiver = new OneWayEnd('inbound', { transmit: bytes => this.#transmit(this.back, bytes) })
  }

  change (setup: LinkSetup): void {
    this.there.change(optionsOf(setup), systemClock.nowMs())
    this.back.change(optionsOf(setup), systemClock.nowMs())
  }

  /** Handed down by the sender's muxer, and not read by the receiver's */
  get inFlightBytes (): number {
    return this.frames.totals.bytes - this.there.readBytes
  }

  #transmit (way: OneWay, bytes: Parameters<OneWay['send']>[0]): boolean {
    const canSendMore = way.send(bytes, systemClock.nowMs())
    this.#tickSoon()

    return canSendMore
  }

  #tickSoon (): void {
    if (!this.#isTicking) {
      this.#isTicking = true
      systemClock.nextTurn(this.#tick)
    }
  }

  readonly #tick = (): void => {
    try {
      const hasMore = [this.#move(this.there, this.sender, this.receiver), this.#move(this.back, this.receiver, this.sender)].includes(true)
      this.frames.onRead(this.there.readBytes)
      this.#isTicking = false

      if (hasMore) {
        this.#tickSoon()
      } else if (this.there.isBusy || this.back.isBusy) {
        this.#isTicking = true
        // timers that set timers are clamped to 4 ms, those that a message sets are not
        setTimeout(() => { systemClock.nextTurn(this.#tick) }, TICK_MS)
      }
    } catch (err) {
      this.#onFailure(err)
    }
  }

  /** Returns whether more has arrived than these reads have taken */
  #move (way: OneWay, from: OneWayEnd, to: OneWayEnd): boolean {
    way.settle(systemClock.nowMs())

    for (let reads = 0; reads < READS_PER_TICK && way.readBytes < way.arrivedBytes; reads++) {
      to.arrived(way.read())
    }

    if (way.takeDrained()) {
      from.drained()
    }

    return way.readBytes < way.arrivedBytes
  }
}
