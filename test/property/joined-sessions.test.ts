// Law: between two sessions every stream delivers its bytes in order, and in the end nothing is left of it on either side.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { counts, createSession } from '../core/fixtures/sessions.ts'
import { streamBytes } from './fixtures/chunks.ts'
import type { Session } from '../../src/core/session.ts'
import type { StreamState } from '../../src/core/stream-state.ts'

const MAX_STREAM_BYTES = 1_000_000

const side = fc.nat(1)
const index = fc.nat(20)
const steps = fc.array(fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('open' as const), side }) },
  { weight: 20, arbitrary: fc.record({ does: fc.constant('write' as const), side, index, bytes: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 100_000, max: 200_000 })) }) },
  { weight: 10, arbitrary: fc.record({ does: fc.constant('read' as const), side, index }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('closeWrite' as const), side, index }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('reset' as const), side, index }) },
  { weight: 12, arbitrary: fc.record({ does: fc.constant('pull' as const), side, maxBytes: fc.integer({ min: 2048, max: 70_000 }), maxFrames: fc.constantFrom(1, Infinity) }) },
  { weight: 14, arbitrary: fc.record({ does: fc.constant('deliver' as const), side, bytes: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 100_000 })) }) }
), { minLength: 30, maxLength: 150, size: 'max' })

const setups = fc.record({
  initialWindowBytes: fc.constantFrom(262_144, 400_000),
  frameBytes: fc.constantFrom(1024, 16_384),
  loneFrameBytes: fc.constantFrom(16_384, 65_507),
  mergesMessages: fc.boolean(),
  maxInboundStreams: fc.constantFrom(2, 1000)
})

type Step = typeof steps extends fc.Arbitrary<Array<infer T>> ? T : never
type Setup = typeof setups extends fc.Arbitrary<infer T> ? T : never

/** One direction of one stream */
interface Flow {
  writtenBytes: number
  readBytes: number
}

class Side {
  readonly session: Session<unknown>
  readonly streams: StreamState[] = []
  /** What is on its way to the other side */
  readonly wire: Uint8Array[] = []

  constructor (isDialler: boolean, setup: Setup) {
    this.session = createSession({ isDialler, ...setup })
  }

  takeNews (): void {
    for (const stream of this.session.withNews.splice(0)) {
      stream.news = 0

      if (!this.streams.includes(stream)) {
        this.streams.push(stream)
      }
    }
  }
}

class Connection {
  readonly sides: Side[]
  readonly #flows = new Map<string, Flow>()
  #nowMs = 0

  constructor (setup: Setup) {
    this.sides = [new Side(true, setup), new Side(false, setup)]
  }

  flow (side: number, id: number): Flow {
    const key = `${side}:${id}`
    const flow = this.#flows.get(key) ?? { writtenBytes: 0, readBytes: 0 }
    this.#flows.set(key, flow)

    return flow
  }

  take (step: Step): void {
    const { session, streams } = this.sides[step.side]
    this.#nowMs += 3

    if (step.does === 'open') {
      streams.push(session.open(this.#nowMs))
    } else if (step.does === 'pull') {
      this.pull(step.side, step.maxBytes, step.maxFrames)
    } else if (step.does === 'deliver') {
      this.deliver(step.side, step.bytes)
    } else if (streams.length > 0) {
      this.#act(step, streams[step.index % streams.length])
    }
  }

  pull (side: number, maxBytes: number, maxFrames: number): boolean {
    const { session, wire } = this.sides[side]
    const bytes = session.pull(maxBytes, maxFrames, this.#nowMs)?.slice()
    this.sides[side].takeNews()

    if (bytes != null) {
      wire.push(bytes)
    }

    return bytes != null
  }

  /** The other side receives so much of what `side` has written; it throws if that is not legal */
  deliver (side: number, maxBytes: number): boolean {
    const { wire } = this.sides[side]
    const receiver = this.sides[1 - side]

    if (wire.length === 0) {
      return false
    }

    receiver.session.receive(wire[0].subarray(0, maxBytes), this.#nowMs)
    receiver.takeNews()
    wire[0] = wire[0].subarray(maxBytes)

    if (wire[0].byteLength === 0) {
      wire.shift()
    }

    // what is not read in the turn it came has to wait
    receiver.streams.forEach(({ readBuffer }) => { readBuffer.keep() })

    return true
  }

  read (side: number, stream: StreamState): boolean {
    const flow = this.flow(1 - side, stream.id)
    const before = flow.readBytes

    while (stream.readBuffer.isReady) {
      const bytes = stream.readBuffer.take().subarray()
      expect(Buffer.compare(bytes, streamBytes(this.#seed(1 - side, stream.id), flow.readBytes, flow.readBytes + bytes.byteLength))).toBe(0)
      flow.readBytes += bytes.byteLength
      this.sides[side].session.read(stream, bytes.byteLength)
    }

    return flow.readBytes > before
  }

  #act (step: Extract<Step, { index: number }>, stream: StreamState): void {
    const { session } = this.sides[step.side]

    if (step.does === 'read') {
      this.read(step.side, stream)
    } else if (step.does === 'reset') {
      session.reset(stream, 5)
    } else if (!stream.isOver && !stream.isClosing) {
      const flow = this.flow(step.side, stream.id)

      if (step.does === 'closeWrite') {
        session.closeWrite(stream)
      } else if (flow.writtenBytes + step.bytes <= MAX_STREAM_BYTES) {
        const start = flow.writtenBytes
        flow.writtenBytes += step.bytes
        session.write(stream, streamBytes(this.#seed(step.side, stream.id), start, flow.writtenBytes))
      }
    }
  }

  #seed (side: number, id: number): number {
    return 2 * id + side
  }
}

/** Until both sides have said, heard and read all there is */
function settle (connection: Connection): void {
  for (let goesOn = true; goesOn;) {
    goesOn = false

    for (const side of [0, 1]) {
      goesOn = connection.pull(side, 65_519, Infinity) || goesOn
      goesOn = connection.deliver(side, 65_519) || goesOn

      for (const stream of connection.sides[side].streams) {
        goesOn = connection.read(side, stream) || goesOn
      }
    }
  }
}

test('two sessions deliver every byte of every stream in order, and forget the streams that are over', () => {
  fc.assert(fc.property(setups, steps, (setup, steps) => {
    const connection = new Connection(setup)
    steps.forEach(step => { connection.take(step) })

    for (const { session, streams } of connection.sides) {
      streams.filter(stream => !stream.isOver && !stream.isClosing).forEach(stream => { session.closeWrite(stream) })
    }

    settle(connection)

    // those that the other side opened last were not known when the rest was closed
    for (const { session, streams } of connection.sides) {
      streams.filter(stream => !stream.isOver && !stream.isClosing).forEach(stream => { session.closeWrite(stream) })
    }

    settle(connection)

    for (const [side, { session, streams, wire }] of connection.sides.entries()) {
      expect(wire).toEqual([])
      expect(session.hasOutput).toBe(false)
      expect(counts(session)).toEqual({ size: 0, inbound: 0, outbound: 0, unacked: 0 })

      for (const stream of streams) {
        const { writtenBytes, readBytes } = connection.flow(1 - side, stream.id)

        if (stream.isReset) {
          expect(readBytes).toBeLessThanOrEqual(writtenBytes)
        } else {
          expect(readBytes).toBe(writtenBytes)
        }
      }
    }
  }), { numRuns: 250 })
})
