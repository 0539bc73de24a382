// Law: whatever a peer sends, a session ends in a legal state or with a ProtocolError, holds no more than its windows and writes only legal frames.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ProtocolError } from '../../src/core/errors.ts'
import { freeBytesOf } from '../../testing/core/budgets.ts'
import { createSession, SESSION_INIT } from '../../testing/core/sessions.ts'
import { concat, DATA, FIN, frame, parseFrames, pattern, SYN, WINDOW_UPDATE } from '../../testing/protocol/frames.ts'
import { StrictPeer } from '../../testing/protocol/strict-peer.ts'
import { cutInto, cuts } from './fixtures/chunks.ts'
import type { Session } from '../../src/core/session.ts'
import type { StreamState } from '../../src/core/stream-state.ts'

const MAX_UINT32 = 0xffff_ffff
const MAX_INBOUND_STREAMS = 3

const id = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, MAX_UINT32, MAX_UINT32 - 1) }
)
const flags = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.constant(1) },
  { weight: 3, arbitrary: fc.constantFrom(2, 4, 5, 6, 8) },
  { weight: 1, arbitrary: fc.nat(0xffff) }
)
const value = fc.oneof(fc.nat(3), fc.nat(300_000), fc.constant(MAX_UINT32))

/** Mostly what a peer might say, in an order no peer would */
const frames = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant(DATA), flags, id, length: fc.oneof(fc.nat(100), fc.nat(66_000), fc.nat(300_000)) }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant(1), flags, id, length: value }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant(2), flags, id: fc.constant(0), length: value }) },
  { weight: 1, arbitrary: fc.record({ type: fc.nat(5), flags: fc.nat(0xffff), id, length: value.filter(length => length < MAX_UINT32) }) }
)

const index = fc.nat(10)
const steps = fc.array(fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant('receive' as const), frames: fc.array(frames, { minLength: 1, maxLength: 4 }), cuts }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('open' as const) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('write' as const), index, bytes: fc.nat(100_000) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('read' as const), index }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('closeWrite' as const), index }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('reset' as const), index }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('ping' as const) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('pull' as const), maxBytes: fc.integer({ min: 12, max: 70_000 }), maxFrames: fc.constantFrom(1, 3, Infinity) }) }
), { minLength: 1, maxLength: 40, size: 'max' })

type Step = typeof steps extends fc.Arbitrary<Array<infer T>> ? T : never

/** A FIN on a stream that nobody has opened is no FIN of the stream that is opened then */
const FINISHED_BEFORE_OPENED: Step[] = [
  { does: 'receive', frames: [{ type: WINDOW_UPDATE, flags: FIN, id: 7, length: 0 }, { type: DATA, flags: SYN, id: 7, length: 130_810 }], cuts: [] },
  { does: 'read', index: 0 }
]

/** A session, its application, and what is checked of both */
class Run {
  readonly session: Session<unknown>
  /** Every stream there ever was: what the peer can make it hold counts after its end too */
  readonly streams: StreamState[] = []
  readonly #output: StrictPeer
  /** Messages are never cut, so one of them may be more than a write is to hold */
  readonly #areMessagesWhole: boolean
  #isJudged = true
  #nowMs = 0

  constructor (isDialler: boolean, mergeFromBytes: number) {
    this.session = createSession({ isDialler, mergeFromBytes, maxInboundStreams: MAX_INBOUND_STREAMS })
    this.#output = new StrictPeer(isDialler)
    this.#areMessagesWhole = mergeFromBytes === Infinity
  }

  /** Throws a ProtocolError, nothing else, unless a law is broken */
  take (step: Step): void {
    const { session } = this
    this.#nowMs += 7

    if (step.does === 'receive') {
      this.#receive(concat(...step.frames.map(({ type, flags, id, length }) => frame(type, flags, id, type === DATA ? pattern(length) : length))), step)
    } else if (step.does === 'open') {
      this.streams.push(session.open(this.#nowMs))
    } else if (step.does === 'ping') {
      session.ping()
    } else if (step.does === 'pull') {
      this.pull(step.maxBytes, step.maxFrames)
    } else if (this.streams.length > 0) {
      this.#act(this.streams[step.index % this.streams.length], step)
    }
  }

  pull (maxBytes: number, maxFrames: number): boolean {
    const bytes = this.session.sender.pull(maxBytes, maxFrames, this.#nowMs, 0)
    this.#takeEvents()

    if (bytes != null && this.#isJudged) {
      const frames = parseFrames(bytes.subarray())
      const last = frames[frames.length - 1]
      const isOneMessage = last.type === DATA && frames.filter(({ type }) => type === DATA).length === 1
      const uncutBytes = this.#areMessagesWhole && isOneMessage ? last.length + 12 : 0

      expect(bytes.byteLength - uncutBytes).toBeLessThanOrEqual(maxBytes)
      frames.forEach(frame => { this.#output.wrote(frame) })
    }

    return bytes != null
  }

  check (): void {
    const { streams } = this.session
    const live = [...streams.values()]
    const liveInbound = live.filter(({ isOutbound }) => !isOutbound).length

    for (const stream of this.streams) {
      const { windowBytes, availableBytes } = stream.receiveWindow
      expect(availableBytes).toBeGreaterThanOrEqual(0)
      expect(availableBytes + stream.readBuffer.byteLength).toBeLessThanOrEqual(windowBytes)
      expect(stream.creditBytes).toBeGreaterThanOrEqual(0)
      expect(stream.creditBytes).toBeLessThanOrEqual(MAX_UINT32)
      expect(streams.get(stream.id) === stream).toBe(!stream.life.isOver)
    }

    expect(streams.inboundCount).toBeGreaterThanOrEqual(liveInbound)
    expect(streams.inboundCount).toBeLessThanOrEqual(MAX_INBOUND_STREAMS)
    expect(streams.outboundCount).toBeGreaterThanOrEqual(live.length - liveInbound)
    expect(streams.unackedCount).toBe(live.filter(({ awaitsAck }) => awaitsAck).length)
    expect(freeBytesOf(streams.budget)).toBeGreaterThanOrEqual(0)
  }

  /** All that there is to say has been said: only live streams hold a place or a part of the budget */
  checkEnd (): void {
    const { streams } = this.session
    const live = [...streams.values()]

    expect(streams.inboundCount).toBe(live.filter(({ isOutbound }) => !isOutbound).length)
    expect(streams.outboundCount).toBe(live.filter(({ isOutbound }) => isOutbound).length)
    live.forEach(stream => { this.session.forget(stream) })
    expect([streams.size, streams.inboundCount, streams.outboundCount, streams.unackedCount]).toEqual([0, 0, 0, 0])
    expect(freeBytesOf(streams.budget)).toBe(SESSION_INIT.maxGrowthBytes)
  }

  #receive (bytes: Uint8Array, step: Extract<Step, { does: 'receive' }>): void {
    try {
      cutInto(bytes, step.cuts).forEach(chunk => { this.session.receive(chunk, this.#nowMs) })
      step.frames.forEach(frame => { this.#output.received(frame) })
    } catch (err) {
      // how far the session came is its own affair, and so is what it still says
      this.#isJudged = false
      throw err
    } finally {
      this.#takeEvents()
    }
  }

  #act (stream: StreamState, step: Extract<Step, { does: 'write' | 'read' | 'closeWrite' | 'reset' }>): void {
    const { session } = this

    if (step.does === 'read') {
      while (stream.readBuffer.readyBytes > 0) {
        session.credit.giveBack(stream, stream.readBuffer.take().byteLength)
      }
    } else if (step.does === 'reset') {
      session.reset(stream, 1, 0)
    } else if (stream.life.writeStatus === 'writable') {
      if (step.does === 'write') {
        session.send(stream, pattern(step.bytes))
      } else {
        session.closeWrite(stream, 0)
      }
    }
  }

  #takeEvents (): void {
    for (const stream of this.session.eventful.splice(0)) {
      stream.events = 0

      if (!this.streams.includes(stream)) {
        this.streams.push(stream)
      }
    }
  }
}

/** Returns the violation that ended the session */
function play (run: Run, steps: Step[]): unknown {
  for (const step of steps) {
    try {
      run.take(step)
    } catch (err) {
      if (err instanceof ProtocolError) {
        return err
      }

      throw err
    } finally {
      run.check()
    }
  }

  return undefined
}

test('any sequence of frames ends in a legal state or a ProtocolError', () => {
  let completed = 0
  let violated = 0

  fc.assert(fc.property(fc.boolean(), fc.constantFrom(0, 16_384, Infinity), steps, (isDialler, mergeFromBytes, steps) => {
    const run = new Run(isDialler, mergeFromBytes)

    if (play(run, steps) == null) {
      completed++
    } else {
      violated++
      run.session.goAway(1)
    }

    while (run.pull(65_519, Infinity)) {
      run.check()
    }

    run.checkEnd()
  }), { numRuns: 300, examples: [[false, 0, FINISHED_BEFORE_OPENED]] })

  // neither kind of run may be missing
  expect(Math.min(completed, violated)).toBeGreaterThan(10)
})

test('any sequence of bytes ends in a legal state or a ProtocolError', () => {
  fc.assert(fc.property(fc.boolean(), fc.uint8Array({ maxLength: 200, size: 'max' }), cuts, (isDialler, bytes, cuts) => {
    // a version of 0 lets the fuzz get past the first check
    const prepared = bytes.map((byte, i) => i % 12 < 3 ? byte % 4 * (i % 12) : byte)
    const session = createSession({ isDialler })

    try {
      cutInto(prepared, cuts).forEach(chunk => { session.receive(chunk, 0) })
    } catch (err) {
      expect(err).toBeInstanceOf(ProtocolError)
    }

    for (const stream of session.streams.values()) {
      expect(stream.readBuffer.byteLength).toBeLessThanOrEqual(bytes.byteLength)
    }
  }), { numRuns: 300 })
})
