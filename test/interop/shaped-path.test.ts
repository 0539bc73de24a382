// Urgent messages beside bulk on a slow path with a large buffer. They overtake only if the peer's pongs show what is in flight.
import { median } from 'simple-statistics'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { RecordingMetrics } from '../muxer/fixtures/recording-metrics.ts'
import { describeEachPair } from './fixtures/each-pair.ts'
import { connect } from './fixtures/pair.ts'
import { ShapedPath } from './fixtures/shaped-path.ts'
import { echoBeside } from './fixtures/urgent-echo.ts'
import type { Pair } from './fixtures/pair.ts'

const MEBIBYTE = 2 ** 20
/** 20 Mbit/s, and more room than anybody needs */
const LINK = { bytesPerMs: 2500, delayMs: 10, bufferBytes: 64 * MEBIBYTE, segmentBytes: 1460 }

/** Of each stream, sent at once, and less than the first window that any peer grants: all of it could be handed down at once */
const BULK_BYTES = 256_000
const BULK_STREAMS = 10
const TOTAL_BYTES = BULK_STREAMS * BULK_BYTES
const PEERS_BULK_BYTES = 3 * MEBIBYTE / 2
const PEERS_PIECE_BYTES = 65_536

/** Of the path as it is taken to be when the bulk begins. Its own is 20 ms. */
const LONGEST_ROUND_TRIP_MS = 50
const LEARNING_TIMEOUT_MS = 10_000

/** Ten times what fills the path, for a machine that stands still makes it look longer */
const MOST_IN_FLIGHT_BYTES = TOTAL_BYTES / 2
/** Of the bulk that was to come when a message was sent, what passes until it is back: a tenth on an idle machine, and all of it if nothing is held back */
const MOST_PASSED_PART = 3 / 4
const FEWEST_MESSAGES = 5
/** It is real time: a machine that stands still in the middle of the bulk has all of it pass. What is wrong with the bound is so each time. */
const ONCE_MORE = { retry: 1 }

interface Message {
  /** Our bulk that had not passed the path when it was sent */
  aheadBytes: number
  /** What passed it from then until the message was back */
  passedBytes: number
  /** When it was sent. No bound is 0. */
  inFlight: { actual: number, bound: number }
}

describeEachPair((kind, dialler) => {
  let path: ShapedPath
  let sink: RecordingMetrics
  let pair: Pair

  async function begin (): Promise<void> {
    path = new ShapedPath(LINK, dialler)
    sink = new RecordingMetrics()
    // a window for the peer that grew would let its bulk make our round trip as long
    pair = await connect(kind, dialler, { muxer: 'oursWithFirstWindow', metrics: sink.asMetrics, path })
    await learnRoundTrip()
  }

  beforeAll(begin)

  // one that has seen a standstill allows for the next: the second try has a connection of its own, which knows its path
  beforeEach(async ({ task }) => {
    if ((task.result?.retryCount ?? 0) > 0) {
      await pair.stop()
      await begin()
      await sendUrgentBeside()
    }
  })

  afterAll(async () => {
    await pair?.stop()
  })

  /** While nobody fills the path. The first ping of a connection may wait for processes that have just begun. */
  async function learnRoundTrip (): Promise<void> {
    await vi.waitFor(async () => {
      await pair.session.muxer.ping()
      expect(sink.calculate('path_round_trip_seconds')).toBeLessThan(LONGEST_ROUND_TRIP_MS / 1000)
    }, LEARNING_TIMEOUT_MS)
  }

  /** Returns the messages that were sent behind the first quarter of our bulk, when the path was known, and ahead of the last */
  async function sendUrgentBeside (peersBulk?: Promise<unknown>): Promise<Message[]> {
    const messages: Message[] = []
    const endBytes = path.passedBytes + TOTAL_BYTES

    const bulk = Promise.all([
      ...Array.from({ length: BULK_STREAMS }, async () => pair.opener.send(BULK_BYTES, BULK_BYTES, 0)),
      peersBulk
    ])

    await Promise.all([bulk, echoBeside(bulk, pair.session.openStream, () => {
      const sentAtBytes = path.passedBytes
      const inFlight = sink.calculate('in_flight_bytes') as Message['inFlight']

      return () => { messages.push({ aheadBytes: endBytes - sentAtBytes, passedBytes: path.passedBytes - sentAtBytes, inFlight }) }
    })])

    return messages.filter(({ aheadBytes }) => aheadBytes > TOTAL_BYTES / 4 && aheadBytes < TOTAL_BYTES * 3 / 4)
  }

  function expectOvertaking (messages: Message[]): void {
    expect(messages.length).toBeGreaterThanOrEqual(FEWEST_MESSAGES)
    expect(Math.min(...messages.map(({ inFlight }) => inFlight.bound))).toBeGreaterThan(0)
    expect(Math.max(...messages.map(({ inFlight }) => inFlight.actual))).toBeLessThan(MOST_IN_FLIGHT_BYTES)
    expect(median(messages.map(({ passedBytes, aheadBytes }) => passedBytes / aheadBytes))).toBeLessThan(MOST_PASSED_PART)
  }

  test('urgent messages overtake bulk, because the peer answers marks', ONCE_MORE, async () => {
    expectOvertaking(await sendUrgentBeside())

    expect(sink.calculate('path_bytes_per_second')).toBeGreaterThan(0)
    expect(sink.calculate('path_round_trip_seconds')).toBeGreaterThanOrEqual(2 * LINK.delayMs / 1000)
    expect(Object(sink.calculate('held_seconds_total')).path).toBeGreaterThan(0)
  })

  test('they do while the peer sends bulk too, and its pongs wait behind that', ONCE_MORE, async () => {
    expectOvertaking(await sendUrgentBeside(pair.peer.call('send', PEERS_BULK_BYTES, PEERS_PIECE_BYTES, 0)))

    expect(pair.acceptor.failures).toEqual([])
  })
})
