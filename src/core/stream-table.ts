/**
 * The live streams by id, the limits on how many there may be, and the ids that the peer has used.
 *
 * Invariant: 0 <= inboundCount <= maxInboundStreams, 0 <= unackedCount <= MAX_UNACKED_STREAMS; a stream counts until
 * its end is known to the peer, so a reset that waits to be written still holds its place.
 */
import { ReadBuffer } from './buffers/read-buffer.ts'
import { SendQueue } from './buffers/send-queue.ts'
import { URGENT } from './scheduler/lane.ts'
import { StreamState } from './stream-state.ts'
import { ConnectionBudget, ReceiveWindow } from './window/receive-window.ts'
import { MAX_UINT32 } from './wire/frame.ts'
import type { MessageBoundaries } from './buffers/send-queue.ts'

/**
 * Streams this side has opened that the peer has not answered. go-yamux and hashicorp/yamux queue
 * 256 for accept and reset what goes beyond.
 */
export const MAX_UNACKED_STREAMS = 256

export interface StreamTableInit {
  maxInboundStreams: number
  /** What every new stream's receive window is raised to */
  initialWindowBytes: number
  /** What it may grow to */
  maxWindowBytes: number
  /** What all windows of the connection may grow by together */
  maxGrowthBytes: number
  /** The largest payload of a frame while streams contend, and the longest message that is kept apart from others */
  frameBytes: number
  /** See MessageBoundaries; the same for events on receipt */
  mergeFromBytes: number
}

export class StreamTable<Owner> {
  inboundCount = 0
  outboundCount = 0
  /** Those of them whose end does not wait to be written */
  openOutboundCount = 0
  unackedCount = 0
  /** Streams of the urgent lane */
  urgentCount = 0
  readonly budget: ConnectionBudget
  readonly #init: StreamTableInit
  readonly #boundaries: MessageBoundaries
  readonly #streams = new Map<number, StreamState<Owner>>()
  #nextId: number

  constructor (isDialler: boolean, init: StreamTableInit) {
    this.#nextId = isDialler ? 1 : 2
    this.#init = init
    this.#boundaries = { mergeFromBytes: init.mergeFromBytes, maxWholeBytes: init.frameBytes }
    this.budget = new ConnectionBudget(init.maxGrowthBytes)
  }

  get (id: number): StreamState<Owner> | undefined {
    return this.#streams.get(id)
  }

  get size (): number {
    return this.#streams.size
  }

  values (): MapIterator<StreamState<Owner>> {
    return this.#streams.values()
  }

  /** There is an id left for a stream of this side */
  get hasOutboundId (): boolean {
    return this.#nextId <= MAX_UINT32
  }

  get isAckBacklogFull (): boolean {
    return this.unackedCount >= MAX_UNACKED_STREAMS
  }

  get isInboundFull (): boolean {
    return this.inboundCount >= this.#init.maxInboundStreams
  }

  addOutbound (nowMs: number): StreamState<Owner> {
    const stream = this.#create(this.#nextId, true, nowMs)
    this.#nextId += 2
    stream.awaitsAck = true
    this.unackedCount++
    this.outboundCount++
    this.openOutboundCount++
    this.#streams.set(stream.id, stream)

    return stream
  }

  addInbound (id: number, nowMs: number): StreamState<Owner> {
    const stream = this.#create(id, false, nowMs)
    this.inboundCount++
    this.#streams.set(id, stream)

    return stream
  }

  /** The peer has shown that it knows the stream: its slot of the ack backlog is free */
  acknowledge (stream: StreamState<Owner>): void {
    if (stream.awaitsAck) {
      stream.awaitsAck = false
      this.unackedCount--
    }
  }

  /** No frame can reach the stream any more */
  remove (stream: StreamState<Owner>): void {
    if (this.#streams.delete(stream.id)) {
      this.urgentCount -= stream.lane === URGENT ? 1 : 0
      this.openOutboundCount -= stream.isOutbound ? 1 : 0
    }

    this.budget.release(stream.receiveWindow)
  }

  /** The peer knows that the stream is over: another may take its place */
  release (stream: StreamState<Owner>): void {
    if (stream.isOutbound) {
      this.outboundCount--
    } else {
      this.inboundCount--
    }
  }

  #create (id: number, isOutbound: boolean, nowMs: number): StreamState<Owner> {
    const { initialWindowBytes, maxWindowBytes, mergeFromBytes } = this.#init

    return new StreamState(id, isOutbound, new ReceiveWindow(initialWindowBytes, maxWindowBytes), new ReadBuffer(mergeFromBytes), new SendQueue(this.#boundaries), nowMs)
  }
}

/**
 * So many skipped ranges are remembered; the oldest is then taken for used. A peer may have 256
 * streams open that it has not shown yet, which can skip no more than 256 ranges.
 */
const MAX_SKIPPED_RANGES = 1024

interface Range {
  first: number
  last: number
}

/**
 * Which stream ids the peer has used. An id may be used once, but not in order: rust-yamux takes an id when a stream is opened and sends
 * its SYN with the first data.
 *
 * Kept as the highest id seen and the ranges below it that were skipped, so that memory follows the disorder and not the number of streams.
 */
export class InboundIds {
  /** The next id in order */
  #next: number
  /** Ascending, disjoint, inclusive */
  #skipped: Range[] = []

  /** `first` is 1 for a peer that dialled and 2 for one that listened */
  constructor (first: number) {
    this.#next = first
  }

  /** Takes an id of the right parity; false if it was taken before */
  take (id: number): boolean {
    if (id >= this.#next) {
      if (id > this.#next) {
        this.#replace(this.#skipped.length, 0, { first: this.#next, last: id - 2 })
      }

      this.#next = id + 2
      return true
    }

    // ids that come late come soon: look from the newest range back
    for (let i = this.#skipped.length - 1; i >= 0 && this.#skipped[i].last >= id; i--) {
      if (this.#skipped[i].first <= id) {
        const { first, last } = this.#skipped[i]
        const rest = [{ first, last: id - 2 }, { first: id + 2, last }]
        this.#replace(i, 1, ...rest.filter(range => range.first <= range.last))
        return true
      }
    }

    return false
  }

  #replace (index: number, count: number, ...ranges: Range[]): void {
    this.#skipped.splice(index, count, ...ranges)

    if (this.#skipped.length > MAX_SKIPPED_RANGES) {
      this.#skipped.shift()
    }
  }
}
