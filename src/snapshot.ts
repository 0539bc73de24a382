/**
 * @packageDocumentation
 *
 * What the connections and streams of a node are doing now, as plain JSON: which peer and which stream have a message that waits, and for
 * what. docs/operating.md says how to read it.
 *
 * @example
 *
 * ```typescript
 * import { snapshotNode } from 'libp2p-coalescing-yamux/snapshot'
 *
 * console.log(JSON.stringify(snapshotNode(node)))
 * ```
 */
import { InvalidParametersError } from '@libp2p/interface'
import { LANES, URGENT } from './core/scheduler/lane.ts'
import { driverOf } from './muxer/driver-key.ts'
import type { Lane } from './core/scheduler/lane.ts'
import type { StreamState } from './core/stream-state.ts'
import type { MuxedStream } from './stream/stream.ts'
import type { Libp2p, MessageStreamDirection, MessageStreamReadStatus, StreamMuxer, StreamMuxerStatus } from '@libp2p/interface'

export type { Lane }

/**
 * What a stream waits for:
 *
 * - `credit`: the peer lets it send no more until its program reads
 * - `transport`: the transport takes nothing, for any stream of the connection
 * - `path`: enough is in flight, so data that is not urgent is held, in whatever lane
 * - `turn`: its turn among the streams, or the next flush
 * - `acknowledgement`: this side has opened it, and the peer has sent nothing on it
 * - `reader`: this side's program, to read what has arrived
 */
export type WaitsFor = 'credit' | 'transport' | 'path' | 'turn' | 'acknowledgement' | 'reader'

/** Undefined is what is not known, or does not exist. Times are milliseconds with fractions. */
export interface StreamSnapshot {
  /** As `stream.id` */
  id: string
  /** Undefined until it is negotiated */
  protocol: string | undefined
  direction: MessageStreamDirection
  /** The lane of what this side sends */
  priority: Lane
  /** This side's half. `closing`: the FIN is to follow the last byte, and the transport has not taken it yet. */
  writeStatus: 'writable' | 'closing' | 'closed'
  /** The peer's half. `closed` after its FIN. */
  remoteWriteStatus: 'writable' | 'closed'
  /** Whether the program reads; undefined before it knows of the stream */
  readStatus: MessageStreamReadStatus | undefined
  /** How much this side may send */
  creditBytes: number
  /** How much the peer may send */
  peerCreditBytes: number
  /** The receive window: what the peer may send, and what it has sent that was not read or not given back */
  windowBytes: number
  /** Waits to be sent */
  queuedBytes: number
  /**
   * Has arrived, and was not read, including the chunk that a loop holds: that counts as read when it asks for more, or with
   * `windowUpdateMode: 'onReceive'` when the loop takes it
   */
  unreadBytes: number
  /** How long no bytes have moved on the stream, in either direction */
  quietMs: number
  /** What has to happen first. Output goes before input: the cause of `unreadBytes` is named if nothing waits to be sent. */
  waitsFor: WaitsFor | undefined
  /**
   * How long the stream has stood still with data, or a FIN, to send; for `acknowledgement` since it was opened. Short while it keeps sending,
   * however slow that is. For data it is counted from the first snapshot of the connection at the earliest, unless the node has metrics. Undefined
   * for `reader`.
   */
  waitingMs: number | undefined
}

/** Undefined is what is not known, or does not exist. Times are milliseconds with fractions. */
export interface ConnectionSnapshot {
  /** The peer's id; undefined from `snapshot`, as a muxer does not know it */
  peer: string | undefined
  multiplexer: string
  direction: MessageStreamDirection
  /** That of the muxer */
  status: StreamMuxerStatus
  /** The last round trip that a ping has measured: at most 30 s old with the default keep-alive */
  roundTripMs: number | undefined
  /** The round trip of the path without a queue */
  pathRoundTripMs: number | undefined
  /** What the path carries, as far as it was measured */
  bytesPerSecond: number | undefined
  /** Handed to the transport, and not confirmed by a pong, though it may have arrived; undefined if it is not bounded */
  inFlightBytes: number | undefined
  /** How much may be in flight */
  boundBytes: number | undefined
  /** Data that is not urgent waits because enough is in flight */
  isHeld: boolean
  /** For how long it has been held without a pause */
  heldMs: number | undefined
  /** The transport takes no more until it drains */
  isTransportFull: boolean
  /** What waits to be sent, by lane */
  queuedBytes: Record<Lane, number>
  /** What has arrived and waits to be read, on streams that have not ended */
  unreadBytes: number
  /** The receive windows of all streams together */
  windowBytes: number
  streams: StreamSnapshot[]
}

/** A connection with another muxer, of which nothing more is known */
export interface OtherConnectionSnapshot {
  peer: string
  /** The protocol of the muxer, which another implementation may share; undefined if the connection has none */
  multiplexer: string | undefined
  streams?: undefined
}

export interface NodeSnapshot {
  connections: Array<ConnectionSnapshot | OtherConnectionSnapshot>
}

/** A snapshot was asked for of something else than a muxer of this package */
export class OtherMuxerError extends InvalidParametersError {
  readonly code = 'ERR_OTHER_MUXER'

  constructor () {
    super('snapshot() takes a muxer of libp2p-coalescing-yamux: for a node and all its connections, call snapshotNode()')
  }
}

/**
 * What a connection is doing now. Takes muxers of `libp2p-coalescing-yamux` and of `/light`, also after they have ended.
 *
 * Costs nothing before the first call. From then on the muxer notes when a message begins to wait: that is one reading of the clock for each
 * message that finds its stream's queue empty.
 *
 * Throws OtherMuxerError for another muxer.
 */
export function snapshot (muxer: StreamMuxer): ConnectionSnapshot {
  const driver = driverOf(muxer)

  if (driver === undefined) {
    throw new OtherMuxerError()
  }

  const { session: { path, roundTrip, streams: states }, writer, clock, transport } = driver
  const nowMs = clock.nowMs()
  const { boundBytes, inFlightBytes, bytesPerMs = 0, roundTripMs, heldSinceMs } = path.figures(nowMs) ?? {}
  const isBounded = finite(boundBytes) !== undefined
  const streams = Array.from(states.values(), state => snapshotStream(state, driver, nowMs))
  const sum = (bytes: (stream: StreamSnapshot) => number): number => streams.reduce((sum, stream) => sum + bytes(stream), 0)
  const queuedIn = (lane: Lane): number => sum(({ priority, queuedBytes }) => priority === lane ? queuedBytes : 0)
  timeWaits(driver, nowMs)

  return {
    peer: undefined,
    multiplexer: muxer.protocol,
    direction: transport.direction,
    status: muxer.status,
    roundTripMs: roundTrip.lastMs,
    // 0 until it was measured, as the rate
    pathRoundTripMs: finite(roundTripMs) || undefined,
    bytesPerSecond: finite(bytesPerMs * 1000) || undefined,
    inFlightBytes: isBounded ? finite(inFlightBytes) : undefined,
    boundBytes: finite(boundBytes),
    isHeld: path.isHeld,
    heldMs: heldSinceMs === undefined ? undefined : finite(nowMs - heldSinceMs),
    isTransportFull: writer.isTransportFull,
    queuedBytes: { urgent: queuedIn('urgent'), normal: queuedIn('normal'), bulk: queuedIn('bulk') },
    unreadBytes: sum(({ unreadBytes }) => unreadBytes),
    windowBytes: sum(({ windowBytes }) => windowBytes),
    streams
  }
}

/** What all connections of a node are doing now. See `snapshot` for the cost. */
export function snapshotNode (node: Pick<Libp2p, 'getConnections'>): NodeSnapshot {
  return {
    connections: node.getConnections().map(connection => {
      const { multiplexer } = connection
      const peer = connection.remotePeer.toString()
      // libp2p's class has it, and its interface does not
      const { muxer } = connection as { muxer?: StreamMuxer }

      return muxer === undefined || driverOf(muxer) === undefined ? { peer, multiplexer } : { ...snapshot(muxer), peer }
    })
  }
}

type Driver = NonNullable<ReturnType<typeof driverOf>>
type State = StreamState<MuxedStream>

function snapshotStream (state: State, driver: Driver, nowMs: number): StreamSnapshot {
  const { id, isOutbound, owner, lane, life: { writeStatus, remoteWriteStatus }, creditBytes, receiveWindow, sendQueue, lastActiveMs } = state
  const waitsFor = causeOf(state, driver)
  const waitsSinceMs = sinceMsOf(state, waitsFor)

  return {
    id: String(id),
    protocol: owner?.protocol || undefined,
    direction: isOutbound ? 'outbound' : 'inbound',
    priority: LANES[lane],
    writeStatus,
    remoteWriteStatus,
    readStatus: owner?.readStatus,
    creditBytes,
    peerCreditBytes: receiveWindow.availableBytes,
    windowBytes: receiveWindow.windowBytes,
    queuedBytes: sendQueue.byteLength,
    unreadBytes: state.unreadBytes,
    quietMs: nowMs - lastActiveMs,
    waitsFor,
    waitingMs: waitsSinceMs === undefined ? undefined : nowMs - waitsSinceMs
  }
}

function causeOf (state: State, { session: { path }, writer }: Driver): WaitsFor | undefined {
  const { sendQueue, life, lane, awaitsAck, canSendData } = state
  const hasQueued = sendQueue.byteLength > 0

  if (hasQueued && !canSendData) {
    return awaitsAck ? 'acknowledgement' : 'credit'
  }

  if (hasQueued || life.writeStatus === 'closing') {
    // control frames are never held
    const isHeld = hasQueued && path.isHeld && (lane !== URGENT || path.isUrgentSpent)

    return writer.isTransportFull ? 'transport' : isHeld ? 'path' : 'turn'
  }

  return awaitsAck ? 'acknowledgement' : state.unreadBytes > 0 ? 'reader' : undefined
}

function sinceMsOf ({ sendQueue, waitsSinceMs, openedMs, lastActiveMs }: State, waitsFor: WaitsFor | undefined): number | undefined {
  if (waitsFor === undefined || waitsFor === 'reader') {
    return undefined
  }

  if (waitsFor === 'acknowledgement') {
    return openedMs
  }

  // a FIN without bytes before it waits since the program ended writing
  return sendQueue.byteLength > 0 ? waitsSinceMs : lastActiveMs
}

/** Begins to time waits. Messages that wait already count from now. */
function timeWaits (driver: Driver, nowMs: number): void {
  if (!driver.timesWaits) {
    driver.timesWaits = true

    for (const state of driver.session.streams.values()) {
      if (state.sendQueue.byteLength > 0) {
        state.waitsSinceMs = nowMs
      }
    }
  }
}

/** Undefined for what JSON has no number for */
function finite (value: number | undefined): number | undefined {
  return Number.isFinite(value) ? value : undefined
}
