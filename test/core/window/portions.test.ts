// Credit in portions, at the level of a session: the test is the peer, and its control says how much may be in flight.
import { beforeEach, describe, expect, test } from 'vitest'
import { NO_PEER_CONTROL } from '../../../src/core/peer-control.ts'
import { NoControl } from '../../../src/core/path-control.ts'
import { encodeHeader, FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN, HEADER_BYTES, TYPE_DATA, TYPE_PING, TYPE_WINDOW_UPDATE } from '../../../src/core/wire/frame.ts'
import { createSession, pullAll, takeEvents } from '../../../testing/core/sessions.ts'
import { collectGarbage } from '../../../testing/protocol/garbage.ts'
import type { Session } from '../../../src/core/session.ts'

const WINDOW_BYTES = 262_144
const PORTION_BYTES = 16_384
const BOUND_BYTES = 65_536

let session: Session<unknown>
let boundBytes: number
let silences: number
let nowMs: number

beforeEach(() => {
  boundBytes = BOUND_BYTES
  silences = 0
  nowMs = 0
  const peer = { ...NO_PEER_CONTROL, get boundBytes () { return boundBytes }, onSilence () { silences++ } }
  session = createSession({ isDialler: false, createPathControl: init => Object.assign(new NoControl(init), { peer }) })
})

function frame (type: number, flags: number, id: number, length: number, body = new Uint8Array(0)): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + body.byteLength)
  encodeHeader(bytes, 0, type, flags, id, length)
  bytes.set(body, HEADER_BYTES)

  return bytes
}

/** The peer sends so much in frames of 16 KiB, and the program reads it */
function receive (id: number, byteLength: number, flags = 0): void {
  for (let rest = byteLength; rest > 0; rest -= PORTION_BYTES) {
    const payload = new Uint8Array(Math.min(PORTION_BYTES, rest))
    session.receive(frame(TYPE_DATA, rest > PORTION_BYTES ? flags & ~FLAG_FIN : flags, id, payload.byteLength, payload), nowMs)
    const stream = session.streams.get(id)
    stream?.readBuffer.take()

    if (stream != null) {
      session.credit.giveBack(stream, payload.byteLength)
    }
  }
}

function open (...ids: number[]): void {
  ids.forEach(id => { session.receive(frame(TYPE_WINDOW_UPDATE, FLAG_SYN, id, 0), nowMs) })
  pullAll(session)
}

/** What is granted now, by stream */
function granted (): Record<number, number> {
  const grants: Record<number, number> = {}

  for (const { type, id, length } of pullAll(session)) {
    if (type === TYPE_WINDOW_UPDATE && length > 0) {
      grants[id] = (grants[id] ?? 0) + length
    }
  }

  return grants
}

const sum = (grants: Record<number, number>): number => Object.values(grants).reduce((sum, bytes) => sum + bytes, 0)

function answerPing (): void {
  session.ping()
  const [{ length: value }] = pullAll(session).filter(({ type }) => type === TYPE_PING)
  session.receive(frame(TYPE_PING, FLAG_ACK, 0, value), ++nowMs)
}

describe('while the peer is bound', () => {
  test('an update that was due before, and not written, is not lost', () => {
    boundBytes = Infinity
    open(1)
    receive(1, WINDOW_BYTES)
    boundBytes = BOUND_BYTES
    // the control sees this first, and nothing is read
    session.receive(frame(TYPE_DATA, FLAG_SYN, 3, PORTION_BYTES, new Uint8Array(PORTION_BYTES)), nowMs)

    expect(granted()).toEqual({ 1: BOUND_BYTES })
    expect(session.credit.isWithheld).toBe(true)
  })

  test('no more is granted than may be in flight, and the rest when that has arrived', () => {
    open(1)
    receive(1, WINDOW_BYTES)
    expect(granted()).toEqual({ 1: BOUND_BYTES })
    expect(session.credit.isWithheld).toBe(true)

    receive(1, PORTION_BYTES)
    expect(granted()).toEqual({ 1: PORTION_BYTES })
  })

  test('streams get their portions by turns', () => {
    open(1, 3, 5)
    boundBytes = 1
    ;[1, 3, 5].forEach(id => { receive(id, WINDOW_BYTES) })
    granted()

    boundBytes = 8 * PORTION_BYTES
    answerPing()
    const grants = granted()
    expect(Object.keys(grants)).toHaveLength(3)
    expect(Math.max(...Object.values(grants)) - Math.min(...Object.values(grants))).toBeLessThanOrEqual(PORTION_BYTES)
  })

  test('credit that nobody uses stops the others until a pong to a later ping comes', () => {
    open(1, 3)
    receive(1, WINDOW_BYTES)
    expect(sum(granted())).toBe(BOUND_BYTES)
    receive(3, WINDOW_BYTES)
    // this ping was written before the grants
    answerPing()
    expect(granted()).toEqual({})

    answerPing()
    expect(granted()).toEqual({ 1: BOUND_BYTES / 2, 3: BOUND_BYTES / 2 })
  })

  test('what was granted to a stream that the peer has closed is not in flight', () => {
    open(1, 3)
    receive(1, WINDOW_BYTES)
    expect(sum(granted())).toBe(BOUND_BYTES)
    receive(3, WINDOW_BYTES)
    session.receive(frame(TYPE_WINDOW_UPDATE, FLAG_FIN, 1, 0), nowMs)

    expect(granted()).toEqual({ 3: BOUND_BYTES })
  })

  test('a stream with half of its window left gets nothing', () => {
    open(1)
    receive(1, WINDOW_BYTES / 2 - PORTION_BYTES)

    expect(granted()).toEqual({})
    expect(session.credit.isWithheld).toBe(false)
  })

  test('a window that holds its stream back grows to the bound, by whole bytes', () => {
    boundBytes = 2 * WINDOW_BYTES + 0.7
    open(1)

    for (let round = 0; round < 4; round++) {
      receive(1, WINDOW_BYTES / 2)
      granted()
    }

    expect(session.streams.get(1)?.receiveWindow.windowBytes).toBe(2 * WINDOW_BYTES)
  })

  test('a stream whose credit is withheld is not relieved as a stalled one', () => {
    open(1)
    receive(1, WINDOW_BYTES)
    boundBytes = 1
    granted()
    const stream = session.streams.get(1)
    session.send(stream as never, new Uint8Array(WINDOW_BYTES + 1))
    pullAll(session)

    expect(stream?.sendQueue.byteLength).toBe(1)
    expect(session.credit.relieve(stream as never, 4 * WINDOW_BYTES, nowMs)).toBe(false)
  })

  test.each([['FIN', FLAG_FIN], ['RST', FLAG_RST]])('a stream that waits for credit when its %s comes waits no more', (_, flag) => {
    open(1, 3)
    receive(1, WINDOW_BYTES)
    granted()
    receive(3, WINDOW_BYTES)
    session.receive(frame(TYPE_WINDOW_UPDATE, flag, 1, 0), nowMs)
    session.receive(frame(TYPE_WINDOW_UPDATE, flag, 3, 0), nowMs)

    expect(session.credit.figures).toMatchObject({ withheldBytes: 0, inFlightBytes: 0 })
    expect(session.credit.isWithheld).toBe(false)
  })

  test('what is in flight is counted once for each chunk, however many streams are read after it', () => {
    const ids = Array.from({ length: 200 }, (_, index) => 1 + 2 * index)
    boundBytes = 1e9
    open(...ids)
    ids.forEach(id => { receive(id, WINDOW_BYTES) })
    granted()
    boundBytes = 1
    let looks = 0

    for (const { receiveWindow } of session.streams.values()) {
      let { availableBytes } = receiveWindow
      Object.defineProperty(receiveWindow, 'availableBytes', {
        get () {
          looks++

          return availableBytes
        },
        set (bytes: number) { availableBytes = bytes }
      })
    }

    for (const stream of session.streams.values()) {
      session.credit.giveBack(stream, 8192)
    }

    expect(looks).toBeLessThan(10 * ids.length)
  })

  test('a stalled stream that has read less than a portion gets that back', () => {
    open(1, 3)
    receive(3, WINDOW_BYTES)
    granted()
    receive(1, 1000)

    expect(session.credit.relieve(session.streams.get(1) as never, 0, nowMs)).toBe(true)
    expect(granted()).toEqual({ 1: 1000 })
  })

  test('a stalled stream that has read more gets a portion, which counts as in flight', () => {
    open(1, 3)
    receive(3, WINDOW_BYTES)
    granted()
    receive(1, 100_000)
    const before = session.credit.figures?.inFlightBytes ?? NaN

    expect(session.credit.relieve(session.streams.get(1) as never, 0, nowMs)).toBe(true)
    expect(session.credit.figures?.inFlightBytes).toBe(before + PORTION_BYTES)
    boundBytes = Infinity
    answerPing()
    expect(session.streams.get(1)?.queuedGrantBytes).toBe(0)
  })

  test.each([['FIN', FLAG_FIN], ['RST', FLAG_RST]])('a stream whose update waits to be written when its %s comes is not kept', async (_, flag) => {
    open(1, 3)
    receive(1, WINDOW_BYTES)
    const stream = new WeakRef(session.streams.get(1) as object)
    session.receive(frame(TYPE_WINDOW_UPDATE, flag, 1, 0), nowMs)

    if (flag === FLAG_FIN) {
      session.closeWrite(session.streams.get(1) as never, nowMs)
      pullAll(session)
    }

    takeEvents(session)
    await collectGarbage()

    expect(session.streams.size).toBe(1)
    expect(stream.deref()).toBe(undefined)
  })
})

test('all is given back when the bound is lifted', () => {
  open(1, 3)
  receive(1, WINDOW_BYTES)
  receive(3, WINDOW_BYTES)
  expect(sum(granted())).toBe(BOUND_BYTES)

  boundBytes = Infinity
  answerPing()
  expect(sum(granted())).toBeGreaterThanOrEqual(2 * WINDOW_BYTES - BOUND_BYTES)
  expect(session.credit.isWithheld).toBe(false)
})

test('streams that nobody has read keep their head start then, and get no other', () => {
  session = createSession({ createPathControl: init => Object.assign(new NoControl(init), { peer: { ...NO_PEER_CONTROL, shortestMs: 100, get boundBytes () { return boundBytes } } }) })
  const [read, idle] = [session.open(nowMs), session.open(nowMs)]
  pullAll(session)
  nowMs = 100
  receive(read.id, WINDOW_BYTES, FLAG_ACK)
  granted()

  boundBytes = Infinity
  nowMs = 5000
  answerPing()
  expect(granted()[idle.id]).toBe(undefined)
  receive(idle.id, 1000, FLAG_ACK)
  expect(granted()[idle.id]).toBeGreaterThan(0)
})

test('windows do not grow by that, as what was withheld for long shows no rate', () => {
  open(1)
  // the round trip is known
  nowMs += 100
  answerPing()
  receive(1, WINDOW_BYTES)
  granted()

  boundBytes = Infinity
  answerPing()
  expect(sum(granted())).toBe(WINDOW_BYTES - BOUND_BYTES)
  expect(session.streams.get(1)?.receiveWindow.windowBytes).toBe(WINDOW_BYTES)
})

test('the control is told when nothing has arrived for ten seconds', () => {
  open(1)
  receive(1, WINDOW_BYTES)
  session.credit.look(nowMs + 9999)
  expect(silences).toBe(0)
  session.credit.look(nowMs + 10_000)
  expect(silences).toBe(1)
})
