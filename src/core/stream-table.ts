/**
 * The live streams by id, the limits on how many there may be, and the ids that the peer has used.
 *
 * Invariant: 0 <= inboundCount <= maxInboundStreams, and 0 <= unackedCount <= MAX_UNACKED_STREAMS, or maxUnansweredStreams before the peer's
 * first answer. A stream counts as inbound until the peer is told of its end: it holds its slot until the RST is written. As outbound and as
 * unacknowledged it counts until it ends here: a RST is written before a later SYN.
 */
import { URGENT } from './scheduler/lane.ts'
import { StreamState } from './stream-state.ts'
import { ConnectionBudget } from './window/connection-budget.ts'
import { MAX_UINT32 } from './wire/frame.ts'
import type { SessionInit } from './session-init.ts'

/**
 * How many streams of this side the peer may leave unanswered. go-yamux and hashicorp/yamux queue 256 streams for accept, and reset any
 * more.
 */
export const MAX_UNACKED_STREAMS = 256
/** The part of the growth budget that is reserved for streams that come after others have taken the rest */
const RESERVE_PART = 1 / 8

export class StreamTable<Owner> extends Map<number, StreamState<Owner>> {
  inboundCount = 0
  outboundCount = 0
  unackedCount = 0
  /** Streams of the urgent lane */
  urgentCount = 0
  readonly budget: ConnectionBudget
  /** The peer has answered a ping or a stream of this side */
  isAnswered = false
  readonly #init: SessionInit
  #nextId: number

  constructor (init: SessionInit) {
    super()
    this.#nextId = init.isDialler ? 1 : 2
    this.#init = init
    const reserveBytes = Math.floor(RESERVE_PART * init.maxGrowthBytes)
    this.budget = new ConnectionBudget(init.maxGrowthBytes - reserveBytes, reserveBytes, init.nodeBudget)
  }

  /** An id is left for a stream of this side */
  get hasOutboundId (): boolean {
    return this.#nextId <= MAX_UINT32
  }

  get isAckBacklogFull (): boolean {
    return this.unackedCount >= (this.isAnswered ? MAX_UNACKED_STREAMS : this.#init.maxUnansweredStreams)
  }

  get isInboundFull (): boolean {
    return this.inboundCount >= this.#init.maxInboundStreams
  }

  addOutbound (nowMs: number): StreamState<Owner> {
    const stream = this.#add(this.#nextId, true, nowMs)
    this.#nextId += 2
    stream.awaitsAck = true
    this.unackedCount++
    this.outboundCount++

    return stream
  }

  addInbound (id: number, nowMs: number): StreamState<Owner> {
    this.inboundCount++

    return this.#add(id, false, nowMs)
  }

  /** The peer knows the stream: its slot in the ACK backlog is free */
  acknowledge (stream: StreamState<Owner>): void {
    if (stream.awaitsAck) {
      stream.awaitsAck = false
      this.unackedCount--
    }
  }

  /** Frames no longer reach the stream */
  remove (stream: StreamState<Owner>): void {
    this.acknowledge(stream)

    if (this.delete(stream.id)) {
      this.urgentCount -= stream.lane === URGENT ? 1 : 0
      this.outboundCount -= stream.isOutbound ? 1 : 0
      this.budget.release(stream.receiveWindow)
    }
  }

  /** The peer knows that the stream has ended: another of its streams may take the slot */
  freeSlot (stream: StreamState<Owner>): void {
    this.inboundCount -= stream.isOutbound ? 0 : 1
  }

  #add (id: number, isOutbound: boolean, nowMs: number): StreamState<Owner> {
    const stream = new StreamState<Owner>(id, isOutbound, this.#init, nowMs)
    this.set(id, stream)
    this.budget.add(stream.receiveWindow)

    return stream
  }
}

/**
 * The most skipped ranges that are remembered: beyond it the ids of the oldest count as used. A peer may have opened 256 streams whose SYN
 * it has not sent, which skip at most 256 ranges.
 */
const MAX_SKIPPED_RANGES = 1024

/**
 * The stream ids that the peer has used. Each may be used once, in any order. rust-yamux takes the id when a stream is opened, and sends the SYN with
 * the first data.
 *
 * Stored as the next id in order and the skipped ranges below it: memory grows with the disorder, not with the number of streams.
 */
export class InboundIds {
  /** The next id in order */
  #next: number
  /** Ascending, disjoint, inclusive */
  readonly #skipped: Array<{ first: number, last: number }> = []

  /** `first` is 1 for a peer that dialled and 2 for one that listened */
  constructor (first: number) {
    this.#next = first
  }

  /** Takes an id of the right parity; returns false if it was taken before */
  take (id: number): boolean {
    const skipped = this.#skipped

    if (id >= this.#next) {
      if (id > this.#next) {
        skipped.push({ first: this.#next, last: id - 2 })
      }

      this.#next = id + 2
    } else {
      // a skipped id mostly comes soon: search from the newest range back
      const index = skipped.findLastIndex(({ first }) => first <= id)

      if (index === -1 || skipped[index].last < id) {
        return false
      }

      const { first, last } = skipped[index]
      skipped.splice(index, 1, ...[{ first, last: id - 2 }, { first: id + 2, last }].filter(range => range.first <= range.last))
    }

    if (skipped.length > MAX_SKIPPED_RANGES) {
      skipped.shift()
    }

    return true
  }
}
