// One session as its application and its peer see it: opening, sending, receiving, and what the owner is told.
import { beforeEach, describe, expect, test } from 'vitest'
import { Uint8ArrayList } from 'uint8arraylist'
import { EVENT_DATA, EVENT_OPENED, EVENT_REMOTE_FIN, EVENT_DRAINED } from '../../src/core/stream-state.ts'
import { ACK, concat, DATA, data, FIN, GO_AWAY, goAway, pattern, PING, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { counts, createSession, pull, pullAll, takeEvents } from '../../testing/core/sessions.ts'
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
  test('is opened by one frame with its first data', () => {
    session.write(session.open(0), Uint8Array.of(7, 8))

    expect(pullAll(session)).toEqual([{ type: DATA, flags: SYN, id: 1, length: 2, payload: Uint8Array.of(7, 8) }])
  })

  test('is opened without data, when there is none', () => {
    session.open(0)

    expect(session.hasOutput).toBe(true)
    expect(pullAll(session)).toMatchObject([{ type: WINDOW_UPDATE, flags: SYN, id: 1, length: 0 }])
    expect(session.hasOutput).toBe(false)
  })

  test('holds a place in the ack backlog until the peer says anything on it', () => {
    session.open(0)
    session.open(0)
    pullAll(session)
    expect(counts(session).unacked).toBe(2)

    session.receive(windowUpdate(1, 0, ACK), 0)
    session.receive(data(3, Uint8Array.of(1)), 0)
    session.receive(windowUpdate(1, 0, ACK), 0)
    expect(counts(session).unacked).toBe(0)
  })

  test('does not send more than was granted, and goes on when more is', () => {
    const stream = session.open(0)
    session.write(stream, pattern(300_000))
    const sent = concat(...pullAll(session).map(({ payload }) => payload))
    expect(sent).toEqual(pattern(300_000).subarray(0, 262_144))
    expect(session.hasOutput).toBe(false)

    session.receive(windowUpdate(1, 10, ACK), 0)
    expect(session.hasOutput).toBe(true)
    expect(pullAll(session).map(({ length }) => length)).toEqual([10])
  })

  test('tells its owner when its bytes were taken, if somebody waits for that', () => {
    const stream = session.open(0)
    session.write(stream, pattern(10))
    pull(session)
    expect(takeEvents(session)).toEqual([])

    stream.tellsIdle = true
    session.write(stream, pattern(10))
    expect(takeEvents(session)).toEqual([])

    pull(session)
    expect(takeEvents(session)).toEqual([[1, EVENT_DRAINED]])
  })

  test('is active when its bytes are written, and when some arrive', () => {
    const stream = session.open(5)
    session.write(stream, pattern(10))
    expect(stream.lastActiveMs).toBe(5)

    pull(session, 65_519, 20)
    expect(stream.lastActiveMs).toBe(20)

    session.receive(data(1, Uint8Array.of(1)), 30)
    expect(stream.lastActiveMs).toBe(30)
  })

  test('writes nothing for no bytes', () => {
    const stream = session.open(0)
    pullAll(session)
    session.write(stream, new Uint8Array(0))

    expect(session.hasOutput).toBe(false)
  })
})

describe('a stream of the peer', () => {
  test('is acknowledged, and told of once', () => {
    session.receive(concat(data(2, Uint8Array.of(1, 2), SYN), data(2, Uint8Array.of(3))), 40)

    expect(takeEvents(session)).toEqual([[2, EVENT_OPENED | EVENT_DATA]])
    expect(pullAll(session)).toMatchObject([{ type: WINDOW_UPDATE, flags: ACK, id: 2, length: 0 }])
    expect([...session.streams.get(2)!.readBuffer.take().subarray()]).toEqual([1, 2, 3])
  })

  test('is acknowledged by the first answer, if there is one', () => {
    session.receive(windowUpdate(2, 0, SYN), 0)
    session.write(session.streams.get(2)!, Uint8Array.of(9))

    expect(pullAll(session)).toMatchObject([{ type: DATA, flags: ACK, id: 2, length: 1 }])
  })

  test('may be opened in the middle of a chunk of many parts', () => {
    const bytes = concat(data(2, Uint8Array.of(1, 2, 3), SYN), windowUpdate(4, 0, SYN))
    session.receive(new Uint8ArrayList(bytes.subarray(0, 5), bytes.subarray(5, 13), bytes.subarray(13)), 0)

    expect(counts(session).size).toBe(2)
    expect([...session.streams.get(2)!.readBuffer.take().subarray()]).toEqual([1, 2, 3])
  })

  test('may use what it brings along of credit', () => {
    session.receive(windowUpdate(2, 100_000, SYN), 0)
    session.write(session.streams.get(2)!, pattern(400_000))

    expect(pullAll(session).reduce((sum, { type, length }) => type === DATA ? sum + length : sum, 0)).toBe(362_144)
  })

  test('is refused beyond the limit, without a word to the application', () => {
    session = createSession({ maxInboundStreams: 1 })
    session.receive(concat(windowUpdate(2, 0, SYN), data(4, Uint8Array.of(1, 2), SYN), data(2, Uint8Array.of(3))), 0)

    expect(takeEvents(session)).toEqual([[2, EVENT_OPENED | EVENT_DATA]])
    expect(pullAll(session)).toMatchObject([{ flags: RST, id: 4, length: 0 }, { flags: ACK, id: 2 }])
    expect([...session.streams.get(2)!.readBuffer.take().subarray()]).toEqual([3])
  })

  test('is refused after this side has said GoAway', () => {
    session.goAway(0)
    session.receive(windowUpdate(2, 0, SYN), 0)

    expect(pullAll(session)).toMatchObject([{ flags: RST, id: 2 }, { type: GO_AWAY }])
    expect(counts(session).size).toBe(0)
  })
})

describe('credit', () => {
  test('is given back in one update once half the window was read', () => {
    const stream = accept()
    session.receive(data(2, pattern(HALF_WINDOW_BYTES)), 0)
    session.giveBack(stream, HALF_WINDOW_BYTES - 1000)
    expect(session.hasOutput).toBe(false)

    session.giveBack(stream, 1000)
    expect(pullAll(session).filter(({ type }) => type !== PING)).toMatchObject([{ type: WINDOW_UPDATE, flags: 0, id: 2, length: HALF_WINDOW_BYTES }])
    expect(session.hasOutput).toBe(false)
  })

  test('for a larger window comes with the SYN and the ACK', () => {
    session = createSession({ initialWindowBytes: 300_000 })
    session.open(0)
    session.receive(windowUpdate(2, 0, SYN), 0)

    expect(pullAll(session)).toMatchObject([
      { type: WINDOW_UPDATE, flags: SYN, id: 1, length: 37_856 },
      { type: WINDOW_UPDATE, flags: ACK, id: 2, length: 37_856 }
    ])
  })

  test('makes the session measure the round trip, if the last figure is old: windows grow by it', () => {
    const stream = accept()
    const receiveAndRead = (nowMs: number): number => {
      session.receive(data(2, pattern(HALF_WINDOW_BYTES)), nowMs)
      session.giveBack(stream, HALF_WINDOW_BYTES)
      const request = pull(session, 65_519, nowMs).find(({ type }) => type === PING)

      if (request != null) {
        session.receive(ping(request.length, ACK), nowMs)
      }

      return request == null ? 0 : 1
    }

    expect([0, 1, 1999, 2000, 2001].map(receiveAndRead)).toEqual([1, 0, 0, 1, 0])
  })

  test('is twice as much for a window that was read within a few round trips', () => {
    const stream = accept()
    session.ping()
    session.receive(ping(pull(session, 65_519, 0)[0].length, ACK), 100)
    session.receive(data(2, pattern(HALF_WINDOW_BYTES)), 100)
    session.giveBack(stream, 0)
    session.giveBack(stream, HALF_WINDOW_BYTES)

    expect(pull(session, 65_519, 150)).toMatchObject([{ type: WINDOW_UPDATE, id: 2, length: HALF_WINDOW_BYTES + 262_144 }])
  })

  test('is not given back to a peer that has finished, or for a stream that was reset', () => {
    const [finished, reset] = [accept(2), accept(4)]
    session.receive(concat(data(2, pattern(HALF_WINDOW_BYTES), FIN), data(4, pattern(HALF_WINDOW_BYTES))), 0)
    session.reset(reset, 0, 0)
    pullAll(session)
    session.giveBack(finished, HALF_WINDOW_BYTES)
    session.giveBack(reset, HALF_WINDOW_BYTES)

    expect(session.hasOutput).toBe(false)
  })
})

describe('the session', () => {
  test('answers pings, and measures its own', () => {
    session.receive(ping(0xabcd, SYN), 0)
    session.ping()
    const [pong, request] = pull(session, 65_519, 100)
    expect(pong).toMatchObject({ type: PING, flags: ACK, id: 0, length: 0xabcd })
    expect(request).toMatchObject({ type: PING, flags: SYN, id: 0 })

    session.receive(ping(request.length, ACK), 130)
    expect(session.roundTrip.lastMs).toBe(30)
  })

  test('knows the code of the peer that goes away, and goes on', () => {
    expect(session.remoteGoAwayCode).toBeUndefined()

    const stream = accept()
    session.receive(concat(goAway(0), data(2, Uint8Array.of(1), FIN)), 0)
    expect(session.remoteGoAwayCode).toBe(0)
    expect(stream.readBuffer.byteLength).toBe(1)
    expect(takeEvents(session)).toEqual([[2, EVENT_DATA | EVENT_REMOTE_FIN]])
  })

  test('has nothing to write when nothing was asked', () => {
    expect(session.hasOutput).toBe(false)
    expect(session.pull(65_519, Infinity, 0)).toBeUndefined()
  })

  test('shares no state with another one', () => {
    const other = createSession({ isDialler: false })
    session.write(session.open(0), Uint8Array.of(1))
    other.write(other.open(0), Uint8Array.of(2))

    expect(pullAll(session)).toMatchObject([{ id: 1, payload: Uint8Array.of(1) }])
    expect(pullAll(other)).toMatchObject([{ id: 2, payload: Uint8Array.of(2) }])
  })

  test('has accounted for what came before a violation in the same chunk', () => {
    expect(() => { session.receive(concat(data(2, Uint8Array.of(5), SYN), data(1, Uint8Array.of(1), SYN)), 0) })
      .toThrow(expect.objectContaining({ code: 'ERR_INVALID_STREAM_ID' }))
    expect(takeEvents(session)).toEqual([[2, EVENT_OPENED | EVENT_DATA]])
    expect(counts(session).size).toBe(1)
  })
})
