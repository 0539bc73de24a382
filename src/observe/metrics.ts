/**
 * The metrics of all connections of a node, for libp2p's `metrics`. Created only if a node has them.
 */
import { LANES } from '../core/scheduler/lane.ts'
import { attempt, toError, watch } from '../foreign/values.ts'
import { logError } from './log.ts'
import type { FlushReason } from '../core/flush.ts'
import type { PathFigures } from '../core/path-control.ts'
import type { Session } from '../core/session.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { WithheldFigures } from '../core/window/credit.ts'
import type { NodeBudget } from '../core/window/node-budget.ts'
import type { Logger, Metrics } from '@libp2p/interface'

const PREFIX = 'libp2p_coalescing_yamux_'

/** Figures of all connections are reported to the sinks in batches of this size, or at a scrape */
const REPORT_FROM_COUNT = 192

const BYTES_BUCKETS = [64, 256, 1024, 4096, 16_384, 65_536, 262_144]
const FRAMES_BUCKETS = [1, 2, 5, 10, 50, 100, 500, 1000]
const WAIT_S_BUCKETS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1]
const ROUND_TRIP_S_BUCKETS = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1]

/** Gathers the figures of one connection */
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

  /** A figure for the sinks: the increment of a counter, or the sample of a histogram */
  gather (name: keyof Sinks, figure: Figure): void {
    this.#node.gather(name, figure)
  }

  onFlush (reason: FlushReason, writtenBytes: number): void {
    const frames = this.#session.sender.framesWritten - this.#framesBefore

    if (writtenBytes > 0) {
      this.#framesBefore += frames
      this.#node.onFlush(reason, writtenBytes, frames)
    }
  }

  end (): void {
    this.#node.forget(this.#session)
  }

  /** Called while the session is idle, as sinks are foreign code */
  report (): void {
    this.#node.report(this.#onThrown)
  }

  readonly #onThrown = (thrown: unknown): void => {
    logError({ log: this.#log }, 'metrics threw - %e', toError(thrown, 'A metrics sink threw'))
  }
}

type Sinks = ReturnType<typeof registerSinks>
type Figure = number | Record<string, number>
type Sink = { observe (figure: Figure): unknown } | { increment (figure: Figure): unknown }

/** The metrics that connections gather figures for; all others are calculated at a scrape */
function registerSinks (metrics: Metrics) {
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
  /** The next batch for the sinks. Not functions, which would keep connections that have ended. */
  gathered: Array<[name: keyof Sinks, figure: Figure]> = []
  /** Flushes by reason, for the next batch */
  #flushes: Partial<Record<FlushReason, number>> = {}
  readonly #sinks: Sinks
  readonly #reportFromCount: number
  readonly #clock: { nowMs (): number }
  #isReporting = false
  /** Of connections that have ended */
  #heldMs = 0
  #limitedMs = 0

  constructor (metrics: Metrics, clock: { nowMs (): number }, budget: NodeBudget, reportFromCount = REPORT_FROM_COUNT) {
    const gauge = (name: string, help: string, calculate: () => number): void => { metrics.registerMetric(PREFIX + name, { help, calculate }) }
    const group = (name: string, label: string, help: string, calculate: () => Record<string, number>): void => { metrics.registerMetricGroup(PREFIX + name, { label, help, calculate }) }
    const { sessions } = this
    this.#reportFromCount = reportFromCount
    this.#clock = clock

    // registered first, so that a scrape fills the sinks before it reads them
    gauge('queue_bytes', 'Bytes queued on open streams', () => {
      this.report(() => {}, 1)

      return sum(this.#streams(), ({ sendQueue }) => sendQueue.byteLength)
    })
    this.#sinks = registerSinks(metrics)
    gauge('blocked_bytes', 'Queued bytes without credit', () => sum(this.#streams(), ({ sendQueue, canSendData, creditBytes }) => Math.max(0, sendQueue.byteLength - (canSendData ? creditBytes : 0))))
    gauge('unread_bytes', 'Unread bytes of open streams', () => sum(this.#streams(), ({ readBuffer }) => readBuffer.byteLength))
    group('streams', 'direction', 'Open streams', () => ({
      inbound: sum(sessions, ({ streams }) => streams.inboundCount),
      outbound: sum(sessions, ({ streams }) => streams.outboundCount)
    }))
    group('in_flight_bytes', 'of', 'Bytes in flight to peers, and their bound', () => ({
      actual: sum(this.#paths(), ({ boundBytes, inFlightBytes }) => boundBytes < Infinity ? inFlightBytes : 0),
      bound: sum(this.#paths(), ({ boundBytes }) => boundBytes < Infinity ? boundBytes : 0)
    }))
    gauge('path_bytes_per_second', 'Measured rate of all paths', () => sum(this.#paths(), ({ bytesPerMs }) => bytesPerMs * 1000))
    gauge('path_round_trip_seconds', 'Longest round trip of a path without a queue', () => largest(this.#paths(), ({ roundTripMs }) => roundTripMs) / 1000)
    // not a counter: @libp2p/prometheus-metrics adds the calculated value to a counter at each scrape. Whole milliseconds: a sum of fractions may fall.
    group('held_seconds_total', 'reason', 'How long data or windows were held', () => ({
      path: (this.#heldMs + sum(this.#paths(), ({ heldMs }) => Math.floor(heldMs))) / 1000,
      upload: (this.#limitedMs + sum(this.#paths(), ({ limitedMs = 0 }) => Math.floor(limitedMs))) / 1000,
      windows: budget.heldMs / 1000
    }))
    group('peer_credit_bytes', 'of', 'Credit in flight to peers, its bound, and withheld credit', () => ({
      in_flight: sum(this.#withholding(), ({ inFlightBytes }) => inFlightBytes),
      bound: sum(this.#withholding(), ({ boundBytes }) => boundBytes),
      withheld: sum(this.#withholding(), ({ withheldBytes }) => withheldBytes)
    }))
    group('window_bytes', 'window', 'Receive windows of all streams', () => ({
      sum: sum(this.#streams(), ({ receiveWindow }) => receiveWindow.windowBytes),
      largest: largest(this.#streams(), ({ receiveWindow }) => receiveWindow.windowBytes),
      ...(budget.maxBytes < Infinity && { limit: budget.maxBytes })
    }))
  }

  connect (session: Session<unknown>, log: Logger): ConnectionMetrics {
    return new ConnectionMetrics(this, session, log)
  }

  /** The connection has ended */
  forget (session: Session<unknown>): void {
    if (this.sessions.delete(session)) {
      const { heldMs = 0, limitedMs = 0 } = session.path.figures(this.#clock.nowMs()) ?? {}
      this.#heldMs += Math.floor(heldMs)
      this.#limitedMs += Math.floor(limitedMs)
    }
  }

  gather (name: keyof Sinks, figure: Figure): void {
    this.gathered.push([name, figure])
  }

  onFlush (reason: FlushReason, writtenBytes: number, frames: number): void {
    this.#flushes[reason] = (this.#flushes[reason] ?? 0) + 1
    this.gather('flushBytes', writtenBytes)
    this.gather('flushFrames', frames)
  }

  /**
   * Reports the gathered figures to the sinks if there are at least `minCount`. Sinks are foreign code, which may send, abort or throw:
   * figures that they cause are reported the next time. `onThrown` is also called for promises that are rejected.
   */
  report (onThrown: (thrown: unknown) => void, minCount = this.#reportFromCount): void {
    if (this.#isReporting || this.gathered.length < minCount) {
      return
    }

    const { gathered } = this
    const reasons = this.#flushes
    this.#flushes = {}
    this.gathered = []
    this.#isReporting = true

    for (const [name, figure] of [['flushes', reasons] as const, ...gathered]) {
      const sink = this.#sinks[name] as Sink
      attempt(() => { watch('observe' in sink ? sink.observe(figure) : sink.increment(figure), onThrown) }, onThrown)
    }

    this.#isReporting = false
  }

  #paths (): PathFigures[] {
    return Array.from(this.sessions, ({ path }) => path.figures(this.#clock.nowMs())).filter(figures => figures !== undefined)
  }

  #withholding (): WithheldFigures[] {
    return Array.from(this.sessions, ({ credit }) => credit.figures).filter(figures => figures !== undefined)
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
