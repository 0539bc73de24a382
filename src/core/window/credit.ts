/**
 * Grants credit to the peer: for bytes that were read, and when a window is raised. While the peer control bounds
 * what the peer may have in flight, portions.ts chooses who gets credit. The size of windows is in receive-window.ts, the connection's
 * budget in connection-budget.ts. Hot: `giveBack` runs once per event.
 */
import { NO_PEER_CONTROL } from '../peer-control.ts'
import { PENDING_UPDATE } from '../stream-state.ts'
import { Portions } from './portions.ts'
import { FAR_MS } from './receive-window.ts'
import type { PeerControl } from '../peer-control.ts'
import type { StreamState } from '../stream-state.ts'
import type { ConnectionBudget } from './connection-budget.ts'
import type { ReceiveWindow } from './receive-window.ts'
import type { RoundTrip } from './round-trip.ts'

/** While credit is withheld: how often `look` runs, and how long nothing may arrive before all is given back */
export const WITHHELD_LOOK_MS = 1000
const SILENCE_MS = 10_000

/** A frame */
const TOLD_FROM_BYTES = 16_384

/** A window that lasts for so many trips of credit keeps the path busy */
const LASTING_TRIPS = 8
/** Streams begin together if there is less time between them */
const TOGETHER_MS = 1000

/** For metrics */
export interface WithheldFigures {
  boundBytes: number
  inFlightBytes: number
  withheldBytes: number
}

export interface CreditHost<Owner> {
  readonly receivedMs: number
  readonly isGoingAway: boolean
  readonly remoteGoAwayCode: number | undefined
  readonly roundTrip: RoundTrip
  readonly streams: { readonly budget: ConnectionBudget, values (): Iterable<StreamState<Owner>> }
  readonly path: { readonly peer: PeerControl | undefined, readonly isHeld: boolean }
  ping (): void
  schedule (stream: StreamState<Owner>, pending: number, canWait?: boolean): void
  /** An update must wait for the end of a long frame */
  readonly receiver: { delaysUpdate (stream: StreamState<Owner>, nowMs: number): boolean }
}

export class Credit<Owner> {
  /** How long the program works before it reads the next chunk; 0 if that is short */
  programMs = 0
  readonly #host: CreditHost<Owner>
  readonly #peer: PeerControl
  /** `onReceived` is called once this much has arrived, so that a few small messages cost nothing; for each chunk while the peer is bounded */
  toldFromBytes: number
  /** Credit goes back in portions; undefined while the peer is not bound */
  portions: Portions<Owner> | undefined
  /** How long credit travels, as far as windows should allow for it: on a slow path most of a round trip may be the queue of the peer */
  #travelMs: number | undefined
  /** A round lasts from a ping to its pong */
  #isInRound = false
  #roundPing = -1
  #wantsPing = false
  #receivedBytes = 0
  /** Of streams that begin together, the first: its window, when its head start was given, and how many bytes had arrived by then */
  #firstWindow: ReceiveWindow | undefined
  #firstMs = 0
  #firstFromBytes = 0

  constructor (host: CreditHost<Owner>) {
    this.#host = host
    const { peer = NO_PEER_CONTROL } = host.path
    this.#peer = peer
    this.toldFromBytes = peer === NO_PEER_CONTROL ? Infinity : TOLD_FROM_BYTES
  }

  /**
   * Gives back bytes of the window that were read, and queues an update if one is due. Uses the time of the last chunk: to read the clock
   * for each event would cost too much. Hot: runs once per event.
   */
  giveBack (stream: StreamState<Owner>, payloadBytes: number): void {
    const { receiveWindow, life } = stream
    const { roundTrip, receivedMs: nowMs } = this.#host

    if (life.remoteWriteStatus === 'closed') {
      receiveWindow.readBytes += payloadBytes

      if (!life.isOver) {
        receiveWindow.shrink(this.#host.streams.budget)
      }

      return
    }

    // payloadBytes is 0 at the end of a long frame, for which a head start may have waited
    const hasHeadStart = receiveWindow.isNew ? this.#addHeadStart(stream) : payloadBytes === 0 && receiveWindow.isRaised
    receiveWindow.read(payloadBytes, nowMs)

    if (this.portions !== undefined) {
      if (hasHeadStart) {
        this.#grant(stream)
      }

      this.portions.enlist(stream, this.#peer.boundBytes)
      this.#serve()

      // no pong is on its way that would free it
      if (this.isWithheld && !this.#isInRound) {
        this.#ping()
      }

      return
    }

    const isDue = receiveWindow.isUpdateDue(nowMs, this.#travelMs, this.programMs)

    if (isDue || hasHeadStart) {
      if (!stream.mayGrant || this.#host.receiver.delaysUpdate(stream, nowMs)) {
        stream.hasDelayedUpdate = true
        return
      }

      this.#host.schedule(stream, PENDING_UPDATE, !isDue)

      if (isDue && (this.#wantsPing || roundTrip.isStale(nowMs))) {
        this.#host.ping()
      }
    }
  }

  /** The peer sends no more: its unused credit is free for other streams, and so is whatever is read from now on */
  onFin (stream: StreamState<Owner>): void {
    this.portions?.forget(stream)
    stream.receiveWindow.shrink(this.#host.streams.budget)
  }

  /** Grants a stalled stream more, up to `maxUnreadBytes` unread; returns whether anything was granted */
  relieve (stream: StreamState<Owner>, maxUnreadBytes: number, nowMs: number): boolean {
    // credit that is withheld comes back without a program that reads
    if (this.portions?.waiting.has(stream) === true) {
      return false
    }

    // unread bytes count, not the window: a loop may hold a part of it while it waits to send
    const roomBytes = maxUnreadBytes - stream.readBuffer.byteLength
    const isRelieved = stream.receiveWindow.relieve(roomBytes, nowMs, this.#host.streams.budget)

    if (isRelieved) {
      this.portions?.relieve(stream)
      this.#host.schedule(stream, PENDING_UPDATE)
    }

    return isRelieved
  }

  /** Returns how much the window update that is being written grants */
  take (stream: StreamState<Owner>, nowMs: number): number {
    const { receiveWindow } = stream

    if (this.portions === undefined) {
      return receiveWindow.takeUpdate(nowMs, this.#travelMs, this.#host.streams.budget, this.programMs)
    }

    const deltaBytes = receiveWindow.takePortion(stream.queuedGrantBytes, nowMs)
    this.portions.onGranted(stream, deltaBytes)

    return deltaBytes
  }

  // The part that withholds credit

  /** Credit waits to be given back */
  get isWithheld (): boolean {
    return this.portions !== undefined && this.portions.waiting.size > 0
  }

  /** For metrics; undefined while the peer is not bound */
  get figures (): WithheldFigures | undefined {
    return this.portions && { boundBytes: this.#peer.boundBytes, inFlightBytes: this.portions.inFlightBytes, withheldBytes: this.portions.withheldBytes }
  }

  /** So much has arrived, and was handled */
  onReceived (byteLength: number, nowMs: number): void {
    this.#receivedBytes += byteLength
    this.portions?.onReceived()
    const isPingDue = this.#peer.onReceived(byteLength, nowMs)
    this.#wantsPing ||= isPingDue && !this.#isInRound
    this.#serve()

    // otherwise the ping goes with the next update: a peer may close its socket after its last data, and a write would then lose the rest
    if (this.portions !== undefined && this.#wantsPing) {
      this.#ping()
    }
  }

  /** A round begins, unless one is in progress: grants until then are in front of the ping */
  onPingWritten (nowMs: number): void {
    this.#wantsPing = false

    if (!this.#isInRound) {
      this.#isInRound = true
      this.#roundPing = this.#host.roundTrip.lastValue
      this.portions?.beginRound()
      this.#peer.onRoundBegun(this.#inFlightBytes, this.isWithheld, nowMs)
    }
  }

  /** A pong to this ping or a later one ends the round. While credit is withheld, another round follows: its pong may free some. */
  onPong (roundTripMs: number, nowMs: number): void {
    if (this.#isInRound && !this.#host.roundTrip.isAwaited(this.#roundPing)) {
      this.#isInRound = false
      this.portions?.endRound()
      this.#peer.onRoundEnded(roundTripMs, nowMs)
      this.#serve()

      if (this.isWithheld) {
        this.#ping()
      }
    }

    const { smoothedMs } = this.#host.roundTrip
    this.#travelMs = smoothedMs !== undefined && this.#peer.creditMs < smoothedMs ? this.#peer.creditMs : smoothedMs
  }

  /** Neither end is leaving. A write to a closed socket would cost the peer data that it has not read. */
  get #mayPing (): boolean {
    return !this.#host.isGoingAway && this.#host.remoteGoAwayCode === undefined
  }

  #ping (): void {
    if (this.#mayPing) {
      this.#host.ping()
    }
  }

  /** Credit is withheld. If nothing comes that frees some, the pong may be lost. */
  look (nowMs: number): void {
    if (this.isWithheld) {
      if (nowMs - this.#host.receivedMs >= SILENCE_MS) {
        this.#peer.onSilence()
        this.#serve()
      } else if (this.#host.roundTrip.isStale(nowMs)) {
        this.#ping()
      }
    }
  }

  /** Grants the portions that the bound allows now. When there is no bound any more, all is given back. */
  #serve (): void {
    // nothing is withheld if no pong would free it
    const boundBytes = this.#mayPing ? this.#peer.boundBytes : Infinity

    if (boundBytes < Infinity) {
      this.portions ??= this.#bind(boundBytes)
      this.portions.serve(boundBytes, stream => this.#grant(stream), (stream, wishBytes) => stream.receiveWindow.raise(wishBytes, this.#host.receivedMs, this.#host.streams.budget))
    } else if (this.portions !== undefined) {
      this.portions.end()
      this.portions = undefined
      this.toldFromBytes = TOLD_FROM_BYTES

      for (const stream of this.#host.streams.values()) {
        // the first bytes that are read decide on a head start
        if (!stream.receiveWindow.isNew) {
          this.giveBack(stream, 0)
          stream.receiveWindow.forgetRate()
        }
      }
    }
  }

  #bind (boundBytes: number): Portions<Owner> {
    const portions = new Portions<Owner>()
    this.toldFromBytes = 1
    // an update that is queued and not written gives back no more than its portion
    for (const stream of this.#host.streams.values()) {
      portions.enlist(stream, boundBytes)
    }

    return portions
  }

  /** Granted in portions, and not known to be used */
  get #inFlightBytes (): number {
    return this.portions?.inFlightBytes ?? 0
  }

  /** Also within a long frame: at its end the peer would have no credit, and the link nothing to carry until the portion arrives */
  #grant (stream: StreamState<Owner>): boolean {
    stream.hasDelayedUpdate = !stream.mayGrant

    if (!stream.hasDelayedUpdate) {
      this.#host.schedule(stream, PENDING_UPDATE)
    }

    return !stream.hasDelayedUpdate
  }

  /**
   * Gives a stream its head start when its first bytes are read. Credit takes about as long as the peer's first answer did, its program included.
   * While data of this side is held, a head start would become a queue in front of its pongs.
   */
  #addHeadStart (stream: StreamState<Owner>): boolean {
    const { roundTrip, receivedMs, streams, path } = this.#host

    if (path.isHeld) {
      return false
    }

    const answerMs = stream.isOutbound ? receivedMs - stream.openedMs : Math.max(roundTrip.shorterMs ?? 0, this.programMs)
    // the first answer of a peer may take long because its program is cold
    const creditMs = Math.min(answerMs, Math.max(this.#peer.shortestMs, this.programMs))

    if (creditMs < FAR_MS || !stream.mayGrant) {
      return false
    }

    const mostBytes = this.#peer === NO_PEER_CONTROL ? Infinity : Math.min(this.#peer.boundBytes - this.#inFlightBytes, this.#lastingBytes(stream, creditMs))

    return stream.receiveWindow.addHeadStart(creditMs, streams.budget, mostBytes)
  }

  /**
   * How large the window of a new stream has to be. Several head starts would fill a slow path for seconds. So among streams that begin together
   * the first has one, and the others only if what arrives meanwhile shows that their windows are too small.
   */
  #lastingBytes ({ receiveWindow }: StreamState<Owner>, creditMs: number): number {
    const { receivedMs } = this.#host
    const tookMs = receivedMs - this.#firstMs

    if (this.#firstWindow === undefined || this.#firstWindow.headStartBytes === 0 || tookMs >= TOGETHER_MS) {
      this.#firstWindow = receiveWindow
      this.#firstMs = receivedMs
      this.#firstFromBytes = this.#receivedBytes
      return Infinity
    }

    return LASTING_TRIPS * creditMs * (this.#receivedBytes - this.#firstFromBytes) / Math.max(1, tookMs)
  }
}
