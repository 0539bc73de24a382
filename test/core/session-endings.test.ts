// How streams end, whichever side ends them and whatever was under way: no place is lost, none is freed twice.
import { beforeEach, describe, expect, test } from 'vitest'
import { EVENT_LOCAL_FIN, EVENT_REMOTE_FIN, EVENT_REMOTE_RST } from '../../src/core/stream-state.ts'
import { ACK, concat, DATA, data, FIN, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { counts, createSession, pull, pullAll, takeEvents } from '../../testing/core/sessions.ts'
import type { Session } from '../../src/core/session.ts'
import type { StreamState } from '../../src/core/stream-state.ts'

const NONE = { size: 0, inbound: 0, outbound: 0, unacked: 0 }

let session: Session<unknown>

/** A stream that both sides know, opened by this side or by the peer */
function establish (opener: 'this side' | 'the peer'): StreamState {
  const stream = opener === 'this side' ? session.open(0) : undefined
  session.receive(stream == null ? windowUpdate(2, 0, SYN) : windowUpdate(1, 0, ACK), 0)
  pullAll(session)
  takeEvents(session)

  return stream ?? session.streams.get(2)!
}

beforeEach(() => {
  session = createSession()
})

describe.each(['this side', 'the peer'] as const)('a stream that %s has opened', opener => {
  let stream: StreamState

  beforeEach(() => {
    stream = establish(opener)
  })

  test('is over when both sides have finished, in either order', () => {
    session.closeWrite(stream, 0)
    expect(pullAll(session)).toMatchObject([{ type: WINDOW_UPDATE, flags: FIN, id: stream.id, length: 0 }])
    expect(counts(session).size).toBe(1)

    session.receive(windowUpdate(stream.id, 0, FIN), 0)
    expect(stream.life.isOver).toBe(true)
    expect(counts(session)).toEqual(NONE)
    expect(takeEvents(session)).toEqual([[stream.id, EVENT_LOCAL_FIN | EVENT_REMOTE_FIN]])
  })

  test('is finished once, however often that is asked for', () => {
    session.closeWrite(stream, 0)
    session.closeWrite(stream, 0)
    expect(pullAll(session)).toHaveLength(1)

    session.closeWrite(stream, 0)
    expect(pullAll(session)).toEqual([])
  })

  test('stays until this side has finished too', () => {
    session.receive(data(stream.id, Uint8Array.of(1), FIN), 0)
    expect(counts(session).size).toBe(1)

    session.closeWrite(stream, 0)
    expect(counts(session).size).toBe(1)

    pullAll(session)
    expect(counts(session)).toEqual(NONE)
  })

  test('finishes behind its last byte', () => {
    session.write(stream, pattern(20_000))
    session.closeWrite(stream, 0)

    expect(pullAll(session).map(({ type, flags, length }) => [type, flags, length])).toEqual([
      [DATA, 0, 16_384], [DATA, 0, 3616], [WINDOW_UPDATE, FIN, 0]
    ])
  })

  test('is reset at once, and keeps its place until the peer is told', () => {
    session.write(stream, pattern(1000))
    session.reset(stream, 0x1002, 0)
    expect(stream.life.isOver).toBe(true)
    expect(stream.sendQueue.byteLength).toBe(0)
    expect(counts(session)).toEqual({ ...NONE, inbound: stream.isOutbound ? 0 : 1, outbound: stream.isOutbound ? 1 : 0 })

    expect(pullAll(session)).toMatchObject([{ type: WINDOW_UPDATE, flags: RST, id: stream.id, length: 0x1002 }])
    expect(counts(session)).toEqual(NONE)
  })

  test('is reset once', () => {
    session.reset(stream, 1, 0)
    session.reset(stream, 2, 0)
    session.forget(stream)

    expect(pullAll(session)).toMatchObject([{ flags: RST, length: 1 }])
    expect(counts(session)).toEqual(NONE)
  })

  test('is over when the peer resets it, and says nothing more', () => {
    session.write(stream, pattern(1000))
    session.closeWrite(stream, 0)
    session.receive(windowUpdate(stream.id, 0x1003, RST), 0)

    expect(stream.errorCode).toBe(0x1003)
    expect(takeEvents(session)).toEqual([[stream.id, EVENT_REMOTE_RST]])
    expect(pullAll(session)).toEqual([])
    expect(counts(session)).toEqual(NONE)
  })

  test('takes nothing any more once the peer has reset it, though its owner does not know yet', () => {
    session.receive(windowUpdate(stream.id, 0, RST), 0)
    // a listener of another stream runs before this one's owner is told
    session.write(stream, pattern(10))
    session.closeWrite(stream, 0)
    session.reset(stream, 0, 0)

    expect(pullAll(session)).toEqual([])
    expect(counts(session)).toEqual(NONE)
  })

  test('frees its place once when it is closed after the peer has reset it', () => {
    session.receive(windowUpdate(stream.id, 0, RST), 0)
    session.closeWrite(stream, 0)
    pullAll(session)

    expect(counts(session)).toEqual(NONE)
  })

  test('ignores what comes after it was reset, the rest of a body too', () => {
    const bytes = data(stream.id, pattern(100), FIN)
    session.receive(bytes.subarray(0, 50), 0)
    expect(stream.readBuffer.byteLength).toBe(38)

    session.reset(stream, 0, 0)
    takeEvents(session)
    session.receive(concat(bytes.subarray(50), data(stream.id, pattern(10)), windowUpdate(stream.id, 5), windowUpdate(stream.id, 0, RST)), 0)

    expect(stream.readBuffer.byteLength).toBe(38)
    expect(takeEvents(session)).toEqual([])
    pullAll(session)
    expect(counts(session)).toEqual(NONE)
  })

  test('survives a second FIN of the peer', () => {
    session.receive(concat(windowUpdate(stream.id, 0, FIN), windowUpdate(stream.id, 0, FIN), data(stream.id, new Uint8Array(0), FIN)), 0)
    expect(takeEvents(session)).toEqual([[stream.id, EVENT_REMOTE_FIN]])

    session.closeWrite(stream, 0)
    pullAll(session)
    session.receive(windowUpdate(stream.id, 0, FIN), 0)
    expect(counts(session)).toEqual(NONE)
  })

  test('is forgotten without a word', () => {
    session.write(stream, pattern(10))
    session.forget(stream)

    expect(pullAll(session)).toEqual([])
    expect(counts(session)).toEqual(NONE)
  })
})

describe('a stream that the peer does not know of yet', () => {
  test('leaves no trace when it is reset', () => {
    const stream = session.open(0)
    session.write(stream, pattern(10))
    session.reset(stream, 7, 0)

    expect(session.hasOutput).toBe(false)
    expect(pullAll(session)).toEqual([])
    expect(counts(session)).toEqual(NONE)
  })

  test('is opened and finished with a frame for each', () => {
    session.closeWrite(session.open(0), 0)

    expect(pullAll(session)).toMatchObject([{ type: WINDOW_UPDATE, flags: SYN, id: 1 }, { type: WINDOW_UPDATE, flags: FIN, id: 1 }])
  })
})

describe('a stream that is not acknowledged', () => {
  test('frees its place in the backlog when it ends by a reset', () => {
    const stream = session.open(0)
    pullAll(session)
    session.reset(stream, 0, 0)

    expect(counts(session).unacked).toBe(0)
  })

  test('frees it when both sides have finished', () => {
    session.closeWrite(session.open(0), 0)
    pullAll(session)
    session.receive(windowUpdate(1, 0, FIN), 0)

    expect(counts(session)).toEqual(NONE)
  })
})

describe('a FIN for which the batch had no room', () => {
  test('follows in the next', () => {
    const stream = establish('this side')
    session.write(stream, pattern(10))
    session.closeWrite(stream, 0)

    expect(pull(session, 22)).toMatchObject([{ type: DATA, length: 10 }])
    expect(session.hasOutput).toBe(true)
    expect(pull(session, 22)).toMatchObject([{ type: WINDOW_UPDATE, flags: FIN, id: 1 }])
    expect(pullAll(session)).toEqual([])
  })

  test('is dropped when the stream is reset before', () => {
    const stream = establish('this side')
    session.write(stream, pattern(10))
    session.closeWrite(stream, 0)
    pull(session, 22)
    session.reset(stream, 3, 0)

    expect(pullAll(session)).toMatchObject([{ flags: RST, id: 1, length: 3 }])
    expect(counts(session)).toEqual(NONE)
  })
})

describe('a connection that ends in the middle of a frame', () => {
  test.each([0, 16_384, Infinity])('leaves what came of the frame to be read (messages merged from %s bytes)', mergeFromBytes => {
    session = createSession({ mergeFromBytes })
    const stream = establish('the peer')
    session.receive(data(2, pattern(100)).subarray(0, 62), 0)
    session.forget(stream)

    expect(stream.readBuffer.readyBytes).toBeGreaterThan(0)
    expect(stream.readBuffer.take().byteLength).toBe(50)
  })
})
