// One session as its application and its peer see it: opening, sending, receiving, and what the owner is told.
import { beforeEach, describe, expect, test } from 'vitest'
import { URGENT } from '../../src/core/scheduler/lane.ts'
import { EVENT_DRAINED } from '../../src/core/stream-state.ts'
import { ACK, data, DATA, FIN, pattern, PING, ping, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { NoControl } from '../../src/core/path-control.ts'
import { controlOf, createSession, pull, pullAll, SESSION_INIT, takeEvents } from '../../testing/core/sessions.ts'
import type { Session } from '../../src/core/session.ts'
import type { StreamState } from '../../src/core/stream-state.ts'

const HALF_WINDOW_BYTES = 131_072

let session: Session<unknown>

/** A stream that the peer, a listener, has opened */
function accept (id = 2): StreamState {
  session.receive(windowUpdate(id, 0, SYN), 0)
  pullAll(session)
  takeEvents(session)

  return session.streams.get(id)!
}

beforeEach(() => {
  session = createSession()
})

describe('a stream of this side', () => {
  test('tells its owner when its bytes were taken, if somebody waits for that', () => {
    const stream = session.open(0)
    session.send(stream, pattern(10))
    pull(session)
    expect(takeEvents(session)).toEqual([])

    stream.awaitsIdle = true
    session.send(stream, pattern(10))
    expect(takeEvents(session)).toEqual([])

    pull(session)
    expect(takeEvents(session)).toEqual([[1, EVENT_DRAINED]])
  })

  test('is finished once, however often that is asked for', () => {
    const stream = session.open(0)
    pullAll(session)
    session.closeWrite(stream, 0)
    session.closeWrite(stream, 0)
    expect(pullAll(session)).toMatchObject([{ type: WINDOW_UPDATE, flags: FIN, id: 1 }])

    session.closeWrite(stream, 0)
    expect(pullAll(session)).toEqual([])
  })

  test('writes nothing for no bytes', () => {
    const stream = session.open(0)
    pullAll(session)
    session.send(stream, new Uint8Array(0))

    expect(session.hasOutput).toBe(false)
  })
})

describe('data that was written', () => {
  test('is not confirmed by the time that has passed, although it counts as arrived then', () => {
    const stream = session.open(0)
    session.send(stream, pattern(1000))
    pullAll(session)

    session.ping()
    pull(session, 65_519, 60_000)

    expect(controlOf(session).unacknowledgedBytes).toBeLessThan(1000)
    expect(session.hasUnconfirmedData).toBe(true)
  })
})

describe('a clock that jumps while a ping is in flight', () => {
  function measure (sentMs: number, answeredMs: number): number {
    session.ping()
    const [{ length }] = pull(session, 65_519, sentMs)
    session.receive(ping(length, ACK), answeredMs)

    return controlOf(session).estimate.learned.own.ms
  }

  beforeEach(() => {
    session = createSession({ maxQueueDelayMs: 10 })
  })

  test('by an hour says nothing of the path', () => {
    expect(measure(1000, 1080)).toBe(80)
    expect(measure(5000, 3_605_000)).toBe(80)
  })

  test('by an hour makes the first round trip one of a minute, until the next one', () => {
    expect(measure(1000, 3_601_000)).toBe(60_000)
    expect(measure(3_605_000, 3_605_080)).toBe(80)
  })
})

describe('credit', () => {
  test('makes the session measure the round trip, if the last figure is old: windows grow by it', () => {
    // the full control measures it more often
    session = createSession({ createPathControl: init => new NoControl(init) })
    const stream = accept()
    const receiveAndRead = (nowMs: number): number => {
      session.receive(data(2, pattern(HALF_WINDOW_BYTES)), nowMs)
      session.credit.giveBack(stream, HALF_WINDOW_BYTES)
      const request = pull(session, 65_519, nowMs).find(({ type }) => type === PING)

      if (request != null) {
        session.receive(ping(request.length, ACK), nowMs)
      }

      return request == null ? 0 : 1
    }

    expect([0, 1, 1999, 2000, 2001].map(receiveAndRead)).toEqual([1, 0, 0, 1, 0])
  })

  test.each([
    ['is as much as was read in a turn, if the program looks for data all the time', 0, 0],
    ['is more where the program works 500 ms in each turn: with one window a turn the peer would wait for the next', 500, 2 * HALF_WINDOW_BYTES]
  ])('%s', (_, programMs, grownBytes) => {
    const stream = accept()
    session.ping()
    const [{ length }] = pull(session)
    session.receive(ping(length, ACK), 1)

    // before the program is busy: the stream begins without a head start
    session.receive(data(2, pattern(10)), 100)
    session.credit.giveBack(stream, 10)
    session.receive(data(2, pattern(HALF_WINDOW_BYTES)), 600, programMs)
    session.credit.giveBack(stream, HALF_WINDOW_BYTES)

    const update = pull(session, 65_519, 600).find(({ type }) => type === WINDOW_UPDATE)
    expect(update?.length).toBe(10 + HALF_WINDOW_BYTES + grownBytes)
  })
})

describe('the session', () => {
  test('shares no state with another one', () => {
    const other = createSession({ isDialler: false })
    session.send(session.open(0), Uint8Array.of(1))
    other.send(other.open(0), Uint8Array.of(2))

    expect(pullAll(session)).toMatchObject([{ id: 1, payload: Uint8Array.of(1) }])
    expect(pullAll(other)).toMatchObject([{ id: 2, payload: Uint8Array.of(2) }])
  })
})

test('a raised window is advertised also if the ACK leaves with data, in a write that control frames have filled', () => {
  const COUNT = 400
  session = createSession({ isDialler: false, initialWindowBytes: 4 * HALF_WINDOW_BYTES, mergeFromBytes: Infinity })

  for (let i = 0; i < COUNT; i++) {
    session.receive(windowUpdate(1 + 2 * i, 0, SYN), 0)
  }

  const last = session.streams.get(2 * COUNT - 1)!
  session.setLane(last, URGENT)
  session.send(last, pattern(100))
  const frames = pull(session, 4096)
  expect(frames.at(-1)).toMatchObject({ type: DATA, flags: ACK, id: last.id })

  frames.push(...pullAll(session))
  expect(frames.filter(({ id, type, length }) => id === last.id && type === WINDOW_UPDATE && length === 2 * HALF_WINDOW_BYTES)).toHaveLength(1)
})

test('a stream that is reset after the GoAway may bring all that its window allows, which the peer has sent by then', () => {
  session = createSession({ limits: { ...SESSION_INIT.limits, unknownStreamFrames: { burst: 0, perSecond: 0 } } })
  const stream = accept()
  session.goAway(0)
  pullAll(session)
  session.reset(stream, 0, 0)

  for (let i = 0; i < 16; i++) {
    session.receive(data(2, pattern(16_384)), 0)
  }

  expect(() => { session.receive(data(2, pattern(1)), 0) }).not.toThrow()
  expect(pullAll(session)).toEqual([])
})
