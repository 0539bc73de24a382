/**
 * What libp2p's metrics can show of all connections of a node. Without them none of this exists.
 */
import { LANES } from '../core/scheduler/lane.ts'
import { attempt, toError, watch } from '../foreign/values.ts'
import { logError } from './log.ts'
import type { FlushReason } from '../core/flush.ts'
import type { PathFigures } from '../core/path-control.ts'
import type { Session } from '../core/session.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { Logger, Metrics } from '@libp2p/interface'

const PREFIX = 'libp2p_coalescing_yamux_'

/** Sinks are told so many figures together, of all connections, and at the latest when a metric is asked for */
const TOLD_TOGETHER = 192

const BYTES_BUCKETS = [64, 256, 1024, 4096, 16_384, 65_536, 262_144]
const FRAMES_BUCKETS = [1, 2, 5, 10, 50, 100, 500, 1000]
const WAIT_S_BUCKETS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1]
const ROUND_TRIP_S_BUCKETS = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1]

/** What a connection tells of itself */
export class ConnectionMetrics {
  readonly #node: NodeMetrics
  readonly #session: Session<unknown>
  readonly #log: Logger
  #framesBefore = 0

  constructor (node: NodeMetrics, session: Session<unknown>, log: Logger) {
    this.#node = node
    this.#session = session
    this.#log = log
    session.roundTrip.onMeasured = roundTripMs => { node.gather('roundTrip', roundTripMs / 1000) }
    session.lanes.onWaited = (lane, waitedMs) => { node.gather('waits', { [LANES[lane]]: waitedMs / 1000 }) }
    node.sessions.add(session)
  }

  /** What sinks are to be told: of a counter how many more, of a histogram what was measured */
  gather (name: keyof Told, figure: Figure): void {
    this.#node.gather(name, figure)
  }

  onFlush (reason: FlushReason, writtenBytes: number): void {
    const frames = this.#session.framesWritten - this.#framesBefore

    if (writtenBytes > 0) {
      this.#framesBefore += frames
      this.#node.onFlush(reason, writtenBytes, frames)
    }
  }

  end (): void {
    this.#node.forget(this.#session)
  }

  /** The session is in nobody's hands: sinks may be told */
  report (): void {
    this.#node.tell(this.#onThrown)
  }

  readonly #onThrown = (thrown: unknown): void => {
    logError({ log: this.#log }, 'metrics threw - %e', toError(thrown, 'A metrics sink threw'))
  }
}

/** What connections tell of */
type Told = ReturnType<typeof registerTold>
type Figure = number | Record<string, number>
type Sink = { observe (figure: Figure): unknown } | { increment (figure: Figure): unknown }

function registerTold (metrics: Metrics) {
  return {
    flushes: metrics.registerCounterGroup(`${PREFIX}flushes_total`, { label: 'reason', help: 'Flushes by reason' }),
    flushBytes: metrics.registerHistogram(`${PREFIX}flush_bytes`, { help: 'Bytes per flush', buckets: BYTES_BUCKETS }),
    flushFrames: metrics.registerHistogram(`${PREFIX}flush_frames`, { help: 'Frames per flush', buckets: FRAMES_BUCKETS }),
    waits: metrics.registerHistogramGroup(`${PREFIX}frame_wait_seconds`, { label: 'lane', help: 'How long data frames waited', buckets: WAIT_S_BUCKETS }),
    roundTrip: metrics.registerHistogram(`${PREFIX}round_trip_seconds`, { help: 'Measured round trips', buckets: ROUND_TRIP_S_BUCKETS }),
    violations: metrics.registerCounterGroup(`${PREFIX}violations_total`, { label: 'code', help: 'Connections ended because of the peer' }),
    stalls: metrics.registerCounter(`${PREFIX}stalled_streams_total`, { help: 'Streams whose ends both wait for credit' }),
    refusals: metrics.registerCounter(`${PREFIX}refused_streams_total`, { help: 'Refused streams' })
  }
}

/** The metrics of a node, summed over its connections */
export class NodeMetrics {
  readonly sessions = new Set<Session<unknown>>()
  /** What sinks are told together, but for flushes by their reasons. Not as functions: they would keep connections that have ended. */
  gathered: Array<[name: keyof Told, figure: Figure]> = []
  #flushes: Partial<Record<FlushReason, number>> = {}
  readonly #told: Told
  readonly #toldTogether: number
  #isTelling = false
  /** On connections that have ended */
  #heldMs = 0

  constructor (metrics: Metrics, clock: { nowMs (): number }, toldTogether = TOLD_TOGETHER) {
    const gauge = (name: string, help: string, calculate: () => number): void => { metrics.registerMetric(PREFIX + name, { help, calculate }) }
    const group = (name: string, label: string, help: string, calculate: () => Record<string, number>): void => { metrics.registerMetricGroup(PREFIX + name, { label, help, calculate }) }
    const { sessions } = this
    this.#toldTogether = toldTogether

    // registered first: a scrape asks for it before it reads what it tells
    gauge('queue_bytes', 'Bytes queued on open streams', () => {
      this.tell(() => {}, 1)

      return sum(this.#streams(), ({ sendQueue }) => sendQueue.byteLength)
    })
    this.#told = registerTold(metrics)
    gauge('blocked_bytes', 'Those of them without credit', () => sum(this.#streams(), ({ blockedBytes }) => blockedBytes))
    gauge('unread_bytes', 'Unread bytes of open streams', () => sum(this.#streams(), ({ readBuffer }) => readBuffer.byteLength))
    group('streams', 'direction', 'Open streams', () => ({
      inbound: sum(sessions, ({ streams }) => streams.inboundCount),
      outbound: sum(sessions, ({ streams }) => streams.outboundCount)
    }))
    group('in_flight_bytes', 'of', 'Bytes on their way to peers, and how many may be, where there is a bound', () => ({
      actual: sum(this.#bounded(clock.nowMs()), ({ inFlightBytes }) => inFlightBytes),
      bound: sum(this.#bounded(clock.nowMs()), ({ boundBytes }) => boundBytes)
    }))
    gauge('path_bytes_per_second', 'What all known paths carry together', () => sum(sessions, ({ path }) => (path.figures(clock.nowMs())?.bytesPerMs ?? 0) * 1000))
    gauge('path_round_trip_seconds', 'The longest round trip without a queue', () => largest(sessions, ({ path }) => path.figures(clock.nowMs())?.roundTripMs ?? 0) / 1000)
    // no counter: @libp2p/prometheus-metrics adds to one what it calculates, once more at each scrape
    gauge('held_back_seconds_total', 'How long data waited because enough was in flight', () => (this.#heldMs + sum(sessions, ({ path }) => path.figures(clock.nowMs())?.heldMs ?? 0)) / 1000)
    group('window_bytes', 'window', 'Receive windows of all streams', () => ({
      sum: sum(this.#streams(), ({ receiveWindow }) => receiveWindow.windowBytes),
      largest: largest(this.#streams(), ({ receiveWindow }) => receiveWindow.windowBytes)
    }))
  }

  /** One more */
  connect (session: Session<unknown>, log: Logger): ConnectionMetrics {
    return new ConnectionMetrics(this, session, log)
  }

  /** Its connection has ended */
  forget (session: Session<unknown>): void {
    if (this.sessions.delete(session)) {
      this.#heldMs += session.path.figures(0)?.heldMs ?? 0
    }
  }

  gather (name: keyof Told, figure: Figure): void {
    this.gathered.push([name, figure])
  }

  onFlush (reason: FlushReason, writtenBytes: number, frames: number): void {
    this.#flushes[reason] = (this.#flushes[reason] ?? 0) + 1
    this.gather('flushBytes', writtenBytes)
    this.gather('flushFrames', frames)
  }

  /**
   * Tells the sinks what was gathered, if it is enough. They are foreign code, which may send, abort or throw: what they cause is told the
   * next time, and what they return is ignored, but for a promise that is rejected.
   */
  tell (onThrown: (thrown: unknown) => void, leastCount = this.#toldTogether): void {
    if (this.#isTelling || this.gathered.length < leastCount) {
      return
    }

    const { gathered } = this
    const reasons = this.#flushes
    this.#flushes = {}
    this.gathered = []
    this.#isTelling = true

    for (const [name, figure] of [['flushes', reasons] as const, ...gathered]) {
      const sink = this.#told[name] as Sink
      attempt(() => { watch('observe' in sink ? sink.observe(figure) : sink.increment(figure), onThrown) }, onThrown)
    }

    this.#isTelling = false
  }

  #bounded (nowMs: number): PathFigures[] {
    return Array.from(this.sessions, ({ path }) => path.figures(nowMs)).filter(figures => figures !== undefined && figures.boundBytes < Infinity) as PathFigures[]
  }

  * #streams (): Iterable<StreamState> {
    for (const { streams } of this.sessions) {
      yield * streams.values()
    }
  }
}

function sum<Item> (items: Iterable<Item>, value: (item: Item) => number): number {
  return Array.from(items, value).reduce((sum, value) => sum + value, 0)
}

function largest<Item> (items: Iterable<Item>, value: (item: Item) => number): number {
  return Array.from(items, value).reduce((largest, value) => Math.max(largest, value), 0)
}
