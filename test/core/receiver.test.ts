// Which frames the peer may not send, what each costs it, and that nothing is left behind of one that is refused.
import { beforeEach, describe, expect, test } from 'vitest'
import { ACK, concat, DATA, data, FIN, frame, GO_AWAY, pattern, PING, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../fixtures/frames.ts'
import { counts, createSession, pullAll, takeEvents } from './fixtures/sessions.ts'
import type { Session } from '../../src/core/session.ts'

const WINDOW_BYTES = 262_144
const MAX_UINT32 = 0xffff_ffff

let session: Session<unknown>

beforeEach(() => {
  session = createSession()
})

/** A DATA header with nothing behind it */
function header (id: number, length: number, flags = 0): Uint8Array {
  return frame(DATA, flags, id, length)
}

describe('a frame that no peer may send', () => {
  test.each([
    ['of an unknown type', frame(4, 0, 0, 0), 'received a frame of type 4, the highest is 3'],
    ['of data on the session', header(0, 0), 'received a frame of type 0 on stream id 0, id 0 is for types 2 and 3 only'],
    ['of credit on the session', frame(WINDOW_UPDATE, SYN, 0, 0), 'received a frame of type 1 on stream id 0, id 0 is for types 2 and 3 only'],
    ['of a ping on a stream', frame(PING, SYN, 2, 0), 'received a frame of type 2 on stream id 2, id 0 is for types 2 and 3 only'],
    ['of a go away on a stream', frame(GO_AWAY, 0, 2, 0), 'received a frame of type 3 on stream id 2, id 0 is for types 2 and 3 only']
  ])('%s is an invalid frame', (_, bytes, message) => {
    expect(() => { session.receive(bytes, 0) }).toThrow(expect.objectContaining({ code: 'ERR_INVALID_FRAME', goAwayCode: 1, message }))
    expect(counts(session).size).toBe(0)
  })
})

describe('a SYN', () => {
  test.each([
    [true, 1],
    [false, 2]
  ])('on an id of this side is refused (this side dialled: %s)', (isDialler, id) => {
    session = createSession({ isDialler })

    expect(() => { session.receive(windowUpdate(id, 0, SYN), 0) }).toThrow(expect.objectContaining({ code: 'ERR_INVALID_STREAM_ID' }))
    expect(counts(session).size).toBe(0)
  })

  test('on an id that is open is refused', () => {
    session.receive(windowUpdate(2, 0, SYN), 0)

    expect(() => { session.receive(windowUpdate(2, 0, SYN), 0) }).toThrow(expect.objectContaining({
      code: 'ERR_INVALID_STREAM_ID', message: 'received a SYN for stream 2 which was used before'
    }))
  })

  test.each([
    ['reset by the peer', () => { session.receive(windowUpdate(2, 0, RST), 0) }],
    ['reset by this side', () => { session.reset(session.streams.get(2)!, 0, 0) }]
  ])('on an id that was %s is refused', (_, end) => {
    session.receive(windowUpdate(2, 0, SYN), 0)
    end()
    pullAll(session)

    expect(() => { session.receive(windowUpdate(2, 0, SYN), 0) }).toThrow(expect.objectContaining({ code: 'ERR_INVALID_STREAM_ID' }))
  })

  test('on an id that was refused for want of a place is refused too', () => {
    session = createSession({ maxInboundStreams: 0 })
    session.receive(windowUpdate(2, 0, SYN), 0)

    expect(() => { session.receive(windowUpdate(2, 0, SYN), 0) }).toThrow(expect.objectContaining({ code: 'ERR_INVALID_STREAM_ID' }))
  })

  test('with RST uses up its id, and nobody hears of it', () => {
    session.receive(concat(windowUpdate(2, 0, SYN | RST), data(4, Uint8Array.of(1, 2), SYN | RST)), 0)

    expect(takeEvents(session)).toEqual([])
    expect(pullAll(session)).toEqual([])
    expect(() => { session.receive(windowUpdate(2, 0, SYN), 0) }).toThrow(expect.objectContaining({ code: 'ERR_INVALID_STREAM_ID' }))
  })

  test('with 262,145 bytes is refused, and leaves no stream behind', () => {
    session = createSession({ initialWindowBytes: 1_048_576 })

    expect(() => { session.receive(header(2, WINDOW_BYTES + 1, SYN), 0) }).toThrow(expect.objectContaining({
      code: 'ERR_RECEIVE_WINDOW_EXCEEDED', message: 'received 262145 bytes with the SYN of stream 2, allowed 262144'
    }))
    expect(counts(session)).toEqual({ size: 0, inbound: 0, outbound: 0, unacked: 0 })
    expect(takeEvents(session)).toEqual([])
    expect(pullAll(session)).toEqual([])
  })

  test('with 262,144 bytes is welcome', () => {
    session.receive(data(2, pattern(WINDOW_BYTES), SYN), 0)

    expect(session.streams.get(2)!.readBuffer.byteLength).toBe(WINDOW_BYTES)
  })
})

describe('a body', () => {
  test('beyond the window is refused on its header', () => {
    session.receive(data(2, pattern(262_000), SYN), 0)

    expect(() => { session.receive(header(2, 145), 0) }).toThrow(expect.objectContaining({
      code: 'ERR_RECEIVE_WINDOW_EXCEEDED', message: 'received 145 bytes on stream 2, allowed 144'
    }))
  })

  test('after a FIN is refused, one of no bytes is not', () => {
    session.receive(concat(windowUpdate(2, 0, SYN), windowUpdate(2, 0, FIN), data(2, new Uint8Array(0))), 0)

    expect(() => { session.receive(header(2, 1), 0) }).toThrow(expect.objectContaining({
      code: 'ERR_DATA_AFTER_FIN', message: 'received 1 bytes on stream 2 after its FIN, allowed 0'
    }))
  })

  test('of a stream that is not open is skipped, if a stream might have had it', () => {
    session.receive(concat(data(3, pattern(1000)), data(4, pattern(WINDOW_BYTES), ACK), ping(5, SYN)), 0)

    expect(pullAll(session)).toMatchObject([{ type: PING, flags: ACK, length: 5 }])
    expect(takeEvents(session)).toEqual([])
  })

  test.each([
    ['that is not open', () => {}, 0],
    ['that it resets', () => { session.receive(windowUpdate(2, 0, SYN), 0) }, RST]
  ])('longer than any window ever was is refused, on a stream %s too', (_, prepare, flags) => {
    session = createSession({ maxWindowBytes: 1_048_576 })
    prepare()

    expect(() => { session.receive(header(2, MAX_UINT32, flags), 0) }).toThrow(expect.objectContaining({ code: 'ERR_RECEIVE_WINDOW_EXCEEDED' }))
  })
})

describe('credit', () => {
  test.each([0, ACK, FIN])('past 2^32-1 is refused, with flags %i', flags => {
    session.open(0)
    pullAll(session)

    expect(() => { session.receive(windowUpdate(1, MAX_UINT32, flags), 0) }).toThrow(expect.objectContaining({ code: 'ERR_SEND_WINDOW_OVERFLOW' }))
  })

  test('past 2^32-1 with a SYN is refused', () => {
    expect(() => { session.receive(windowUpdate(2, MAX_UINT32 - WINDOW_BYTES + 1, SYN), 0) }).toThrow(expect.objectContaining({ code: 'ERR_SEND_WINDOW_OVERFLOW' }))
  })

  test('up to 2^32-1 with a SYN is welcome', () => {
    session.receive(windowUpdate(2, MAX_UINT32 - WINDOW_BYTES, SYN), 0)

    expect(session.streams.get(2)!.creditBytes).toBe(MAX_UINT32)
  })

  test('for a stream that is not open is ignored, whatever the flags', () => {
    session.receive(concat(windowUpdate(2, 5), windowUpdate(3, MAX_UINT32, FIN), windowUpdate(4, 0, ACK), windowUpdate(6, 0, RST)), 0)

    expect(takeEvents(session)).toEqual([])
    expect(pullAll(session)).toEqual([])
  })
})

describe('a pong', () => {
  test('that nobody waits for is ignored', () => {
    session.receive(ping(123, ACK), 0)

    expect(pullAll(session)).toEqual([])
    expect(session.roundTrip.lastMs).toBeUndefined()
  })
})

describe('pings and streams beyond the limit', () => {
  test('that call for more than 1,024 answers the peer does not read end the session', () => {
    session = createSession({ maxInboundStreams: 0 })
    const requests = Array.from({ length: 512 }, (_, i) => concat(ping(i, SYN), windowUpdate(2 + 2 * i, 0, SYN)))
    session.receive(concat(...requests), 0)

    expect(() => { session.receive(ping(0, SYN), 0) }).toThrow(expect.objectContaining({ code: 'ERR_TOO_MANY_UNREAD_REPLIES' }))
    expect(pullAll(session).length).toBeLessThanOrEqual(1025)
  })
})
