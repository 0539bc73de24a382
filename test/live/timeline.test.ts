// What the inspector makes of frames: streams, credit, waits and round trips, and how they share the columns of a picture.
import { describe, expect, test } from 'vitest'
import { binFrames, binRoundTrips, binSpans, Kind } from '../../live/inspector/bins.ts'
import { longestWaits, nameOf, summarise, textOf } from '../../live/inspector/summary.ts'
import { Capture } from '../../live/inspector/timeline.ts'
import { around, nearest, pan, streamsIn, within, zoom } from '../../live/inspector/window.ts'
import { ACK, data, DATA, FIN, goAway, parseFrames, pattern, ping, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'

const WINDOW_BYTES = 262_144
const MARK = 2 ** 31
const SENT = true
const RECEIVED = false

/** Frames, each with its time and whether this side sent it, of one connection */
function capture (...frames: Array<[atUs: number, isSent: boolean, bytes: Uint8Array]>) {
  const captured = new Capture()
  captured.onConnection('peer', 'outbound /memory/1')

  for (const [atUs, isSent, bytes] of frames) {
    const [{ type, flags, id, length, payload }] = parseFrames(bytes)
    captured.onFrame(0, { atUs, isSent, type, flags, streamId: id, length, payload })
  }

  return { captured, connection: captured.connections[0], stream: captured.connections[0].streams[0] }
}

describe('credit', () => {
  test('begins with 256 KiB at the SYN, is used by data and raised by updates, in each direction for itself', () => {
    const { stream } = capture(
      [0, SENT, data(1, pattern(100), SYN)],
      [1, RECEIVED, windowUpdate(1, 1000, ACK)],
      [2, RECEIVED, data(1, pattern(50))],
      [3, SENT, windowUpdate(1, 20)]
    )

    expect(stream.frames.map(({ creditBytes }) => creditBytes)).toEqual([WINDOW_BYTES - 100, WINDOW_BYTES + 900, WINDOW_BYTES - 50, WINDOW_BYTES - 30])
  })

  test('is not known of a stream that the capture did not see begin', () => {
    const { stream } = capture([0, SENT, data(1, pattern(100))], [1, RECEIVED, windowUpdate(1, 1000)])

    expect(stream.frames.map(({ creditBytes }) => creditBytes)).toEqual([undefined, undefined])
    expect(nameOf(stream)).toBe('stream 1 opened before')
  })

  test('is not known any more once a peer has sent more than yamux allows', () => {
    const { stream } = capture([0, RECEIVED, windowUpdate(2, 0, SYN)], [1, RECEIVED, data(2, pattern(WINDOW_BYTES + 1))], [2, SENT, windowUpdate(2, 1000)])

    expect(stream.frames.map(({ creditBytes }) => creditBytes)).toEqual([WINDOW_BYTES, undefined, undefined])
    expect(stream.received.waits).toEqual([])
  })

  test('is not raised by the code of a reset', () => {
    const { stream } = capture([0, SENT, windowUpdate(1, 0, SYN)], [1, RECEIVED, windowUpdate(1, 4097, RST)])

    expect(stream.sent.mostBytes).toBe(WINDOW_BYTES)
  })
})

describe('a wait', () => {
  test.each<[string, Uint8Array, boolean]>([
    ['an update', windowUpdate(1, 1), RECEIVED],
    ['the end of the data', windowUpdate(1, 0, FIN), SENT],
    ['a reset', windowUpdate(1, 0, RST), RECEIVED]
  ])('lasts from the last byte of credit to %s', (_, end, isSent) => {
    const { stream } = capture([0, SENT, data(1, pattern(WINDOW_BYTES), SYN)], [5, RECEIVED, windowUpdate(1, 0, ACK)], [9, isSent, end])

    expect(stream.sent.waits).toEqual([{ fromUs: 0, toUs: 9 }])
    expect(stream.received.waits).toEqual([])
  })

  test('that does not end goes on for as long as the capture, or until a GoAway', () => {
    const stuck: Parameters<typeof capture> = [[0, SENT, data(1, pattern(WINDOW_BYTES), SYN)], [5, SENT, ping(1, SYN)]]
    const open = capture(...stuck)
    open.captured.onConnection('other', 'inbound')
    open.captured.onFrame(1, { atUs: 20, isSent: SENT, type: DATA, flags: 0, streamId: 1, length: 0, payload: pattern(0) })
    const over = capture(...stuck, [7, RECEIVED, goAway(0)])

    expect(open.captured.endUs(open.connection)).toBe(20)
    expect(over.captured.endUs(over.connection)).toBe(7)
    expect(longestWaits(over.captured, over.connection, 1)).toEqual([{ row: over.stream, what: 'no credit left', fromUs: 0, toUs: 7 }])
  })
})

test('a round trip lasts from a ping of this side to its pong, and the peer’s pings are none', () => {
  const { connection } = capture(
    [0, SENT, ping(17, SYN)],
    [1, SENT, ping(MARK + 8, SYN)],
    [2, RECEIVED, ping(3, SYN)],
    [3, SENT, ping(3, ACK)],
    [4, RECEIVED, ping(MARK + 8, ACK)],
    [5, RECEIVED, ping(99, ACK)]
  )

  expect(connection.roundTrips).toEqual([{ fromUs: 0, toUs: Infinity, isMark: false }, { fromUs: 1, toUs: 4, isMark: true }])
})

test('a clock that is set back does not change the order of frames', () => {
  const { stream } = capture([10, SENT, data(1, pattern(1), SYN)], [4, SENT, data(1, pattern(2))])

  expect(stream.frames.map(({ atUs, length }) => [atUs, length])).toEqual([[10, 1], [10, 2]])
})

describe('a stream has the name of its protocol', () => {
  const line = (text: string): Uint8Array => Uint8Array.from([text.length + 1, ...new TextEncoder().encode(text), 10])
  const lines = (...texts: string[]): Uint8Array => Uint8Array.from(texts.flatMap(text => [...line(text)]))

  test.each([
    ['in one frame', [lines('/multistream/1.0.0', '/chat/1')]],
    ['in a frame for each line', [lines('/multistream/1.0.0'), lines('/chat/1')]],
    ['with data behind it', [Uint8Array.from([...lines('/multistream/1.0.0', '/chat/1'), 200, 7])]]
  ])('%s', (_, payloads) => {
    const { stream } = capture(...payloads.map((payload, i): [number, boolean, Uint8Array] => [i, SENT, data(1, payload, i === 0 ? SYN : 0)]))

    expect(nameOf(stream)).toBe('stream 1 /chat/1 outbound')
  })

  test.each([
    ['nothing of the payload was captured', new Uint8Array(0)],
    ['the payload is cut', lines('/multistream/1.0.0', '/chat/1').subarray(0, 25)],
    ['it is something else', pattern(64)]
  ])('unless %s', (_, payload) => {
    const { stream } = capture([0, RECEIVED, data(2, payload, SYN)])

    expect(nameOf(stream)).toBe('stream 2 inbound')
  })
})

test('a frame has the words of the trace, its time, and the credit or the round trip', () => {
  const { connection, stream } = capture(
    [0, SENT, data(5, pattern(100), SYN)],
    [1_500_000, RECEIVED, data(5, pattern(100), ACK)],
    [2_000_000, SENT, ping(MARK + 3, SYN)],
    [2_040_000, RECEIVED, ping(MARK + 3, ACK)],
    [2_050_000, SENT, ping(4, SYN)]
  )

  expect(textOf(stream.frames[1], 0)).toMatch(/^<- DATA 5 ACK 100 bytes · \+1\.500000 s · \d\d:\d\d:01\.500 · the peer’s credit 256 KiB$/)
  expect(textOf(connection.frames[0], 0)).toMatch(/^-> PING SYN mark 3 · .* · round trip 40 ms$/)
  expect(textOf(connection.frames[2], 0)).toMatch(/^-> PING SYN 4 · .* · no pong yet$/)
})

test('the longest waits are told once where several overlap in a row', () => {
  const { captured, connection } = capture(
    [0, SENT, ping(1, SYN)],
    [10, SENT, ping(2, SYN)],
    [50, RECEIVED, ping(1, ACK)],
    [55, RECEIVED, ping(2, ACK)],
    [60, SENT, ping(3, SYN)],
    [70, RECEIVED, ping(3, ACK)]
  )

  expect(longestWaits(captured, connection, 5).map(({ fromUs, toUs }) => [fromUs, toUs])).toEqual([[0, 50], [60, 70]])
})

test('the numbers of a window are those of the frames in it, and of the waits that reach into it', () => {
  const { captured, connection, stream } = capture(
    [0, SENT, data(1, pattern(WINDOW_BYTES), SYN)],
    [40, SENT, windowUpdate(3, 0, SYN)],
    [50, RECEIVED, data(1, pattern(7), ACK)],
    [60, RECEIVED, windowUpdate(1, 100)],
    [61, SENT, data(1, pattern(9))]
  )

  expect(summarise(captured, connection, { fromUs: 45, toUs: 61 })).toEqual([
    { row: stream, sentFrames: 0, sentBytes: 0, receivedFrames: 2, receivedBytes: 7, updates: 1, withoutCreditUs: 15 }
  ])
})

test('a stream has a row while it is open: from its first frame to a reset, or to the second FIN', () => {
  const { connection, stream } = capture(
    [10, SENT, data(1, pattern(1), SYN)],
    [20, SENT, data(1, pattern(1), FIN)],
    [30, RECEIVED, data(1, pattern(1), FIN)],
    [40, SENT, data(3, pattern(1), SYN)],
    [50, RECEIVED, windowUpdate(3, 7, RST)],
    [60, SENT, data(5, pattern(1), SYN)]
  )
  const idsIn = (fromUs: number, toUs: number): number[] => streamsIn(connection.streams, { fromUs, toUs }).map(({ id }) => id)

  expect(stream.toUs).toBe(30)
  expect(idsIn(0, 10)).toEqual([])
  expect(idsIn(25, 41)).toEqual([1, 3])
  expect(idsIn(45, 50)).toEqual([3])
  expect(idsIn(55, 60)).toEqual([])
  expect(idsIn(70, 80)).toEqual([5])
})

describe('columns', () => {
  test('add up the frames that share one', () => {
    const { stream } = capture(
      [0, SENT, data(1, pattern(100), SYN)],
      [1, SENT, data(1, pattern(50))],
      [19, SENT, windowUpdate(1, 0, FIN)],
      [12, RECEIVED, data(1, pattern(3))],
      [20, RECEIVED, windowUpdate(1, 10)]
    )
    const { sent, received } = binFrames(stream.frames, { fromUs: 0, toUs: 30 }, 3)

    expect([...sent.kinds]).toEqual([Kind.Data | Kind.Syn, Kind.Fin, 0])
    expect([...sent.bytes]).toEqual([150, 0, 0])
    expect([...received.kinds]).toEqual([0, Kind.Data, Kind.Update])
    expect([sent.dataBytes, received.dataBytes]).toEqual([150, 3])
  })

  test('have the least and the most credit, and what it was before them', () => {
    const { stream } = capture(
      [0, SENT, data(1, pattern(100), SYN)],
      [10, SENT, data(1, pattern(1000))],
      [11, RECEIVED, windowUpdate(1, 5000)],
      [21, SENT, windowUpdate(1, 0, FIN)]
    )
    const { sent, received } = binFrames(stream.frames, { fromUs: 5, toUs: 25 }, 2)

    expect(sent.firstCredit).toBe(WINDOW_BYTES - 100)
    expect([...sent.leastCredit]).toEqual([WINDOW_BYTES - 1100, NaN])
    expect([...sent.mostCredit]).toEqual([WINDOW_BYTES + 3900, NaN])
    expect([...sent.lastCredit]).toEqual([WINDOW_BYTES + 3900, NaN])
    expect([...sent.hasCredit]).toEqual([1, 1])
    expect([received.firstCredit, ...received.hasCredit]).toEqual([WINDOW_BYTES, 0, 1])
  })

  test('have the part of their time that is in a span', () => {
    expect([...binSpans([{ fromUs: 5, toUs: 12 }, { fromUs: 35, toUs: Infinity }], { fromUs: 0, toUs: 40 }, 4, 40)]).toEqual([0.5, expect.closeTo(0.2), 0, 0.5])
  })

  test('have the longest round trip that is under way', () => {
    const roundTrips = [{ fromUs: 0, toUs: 15, isMark: true }, { fromUs: 14, toUs: 18, isMark: true }]

    expect([...binRoundTrips(roundTrips, { fromUs: 0, toUs: 30 }, 3, 30)]).toEqual([15, 15, 0])
  })
})

describe('a window', () => {
  const bounds = { fromUs: 0, toUs: 1000 }

  test('is zoomed about a time that stays where it is', () => {
    expect(zoom({ fromUs: 0, toUs: 1000 }, 0.5, 250)).toEqual({ fromUs: 125, toUs: 625 })
  })

  test('does not become shorter than can be told apart', () => {
    expect(zoom({ fromUs: 0, toUs: 100 }, 0.01, 0)).toEqual({ fromUs: 0, toUs: 50 })
  })

  test('stays within the capture', () => {
    expect(within(pan({ fromUs: 800, toUs: 900 }, 500), bounds)).toEqual({ fromUs: 900, toUs: 1000 })
    expect(within({ fromUs: -500, toUs: 5000 }, bounds)).toEqual(bounds)
  })

  test('around a single frame has a length', () => {
    expect(around({ fromUs: 7, toUs: 7 })).toEqual({ fromUs: -43, toUs: 57 })
  })
})

test('the nearest frame is that of the direction that is asked for, if it is near enough', () => {
  const { stream } = capture([0, SENT, data(1, pattern(1), SYN)], [100, RECEIVED, data(1, pattern(2))], [110, SENT, data(1, pattern(3))])

  expect(nearest(stream.frames, 104)?.length).toBe(2)
  expect(nearest(stream.frames, 104, 10, SENT)?.length).toBe(3)
  expect(nearest(stream.frames, 50, 10)).toBeUndefined()
})
