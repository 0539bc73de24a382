// docs/wireshark/yamux.lua shows the frames of a capture as they were sent, and docs/wireshark/README.md says what it shows.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { enhancedPacket, INBOUND, interfaceDescription, OUTBOUND, sectionHeader } from '../../src/observe/pcapng.ts'
import { ACK, concat, data, FIN, frame, goAway, pattern, PING, ping, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { codeOf, root } from './fixtures/documents.ts'
import { ERROR_CODE, recordExchange } from './fixtures/exchange.ts'
import { DISSECTOR, dissect, hasTshark } from './fixtures/tshark.ts'
import type { Exchange } from './fixtures/exchange.ts'

const PAGE = 'docs/wireshark/README.md'
const WINDOW_BYTES = 262_144
const FIRST_MARK_VALUE = 2 ** 31
/** Between Date and performance */
const CLOCK_ERROR_MS = 1_000
/** Of captures made by hand */
const STARTED_MS = 1_790_000_000_000
/** tshark knows the pong of a ping on a second pass, and connections on the first if there is a filter */
const TWO_PASSES = ['-2', '-Y', 'yamux']
/** By version of tshark */
const TRUE = ['1', 'True']

const FIELDS = [
  'frame.interface_id', 'frame.interface_name', 'frame.time_epoch', '_ws.col.Info', '_ws.expert.message', '_ws.malformed',
  'yamux.sent', 'yamux.type', 'yamux.flags', 'yamux.stream', 'yamux.length', 'yamux.data', 'yamux.error_code', 'yamux.offset', 'yamux.credit', 'yamux.stream_ms',
  'yamux.mark', 'yamux.mark.ms', 'yamux.request_in', 'yamux.response_in', 'yamux.round_trip_ms'
] as const

type Row = Record<typeof FIELDS[number], string>

/** Undefined if the frame has no such field */
function numberIn (text: string): number | undefined {
  return text === '' ? undefined : Number(text)
}

function isSent (row: Row): boolean {
  return TRUE.includes(row['yamux.sent'])
}

describe.skipIf(!hasTshark)('of an exchange between real nodes', () => {
  let exchange: Exchange
  /** In the order of the file; connections may take turns otherwise than below the muxers, as libp2p announces them late */
  let read: Row[]
  let rows: Row[]

  beforeAll(async () => {
    exchange = await recordExchange()
    read = dissect(exchange.capture, FIELDS, TWO_PASSES)
    rows = read.toSorted((a, b) => Number(a['frame.interface_id']) - Number(b['frame.interface_id']))
  })

  test('tshark reads the frames that passed, in their order, with the credit that was left', () => {
    expect(rows.map(row => ({
      connection: Number(row['frame.interface_id']),
      isSent: isSent(row),
      type: Number(row['yamux.type']),
      flags: Number(row['yamux.flags']),
      id: Number(row['yamux.stream']),
      length: Number(row['yamux.length']),
      creditBytes: numberIn(row['yamux.credit'])
    }))).toEqual(exchange.frames)
  })

  test('it names the peer of each connection', () => {
    expect(rows.map(row => row['frame.interface_name'])).toEqual(exchange.frames.map(({ connection }) => exchange.peers[connection]))
  })

  test.each([0, 1])('the times of connection %i are those of the exchange, in order', connection => {
    const times = rows.filter(row => row['frame.interface_id'] === String(connection)).map(row => Number(row['frame.time_epoch']) * 1000)

    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(times[0]).toBeGreaterThan(exchange.startedMs - CLOCK_ERROR_MS)
    expect(times.at(-1)).toBeLessThan(exchange.endedMs + CLOCK_ERROR_MS)
  })

  test('offsets continue where the last DATA of the stream and direction ended', () => {
    const ends = new Map<string, number>()

    for (const row of rows.filter(row => row['yamux.type'] === '0' && row['yamux.length'] !== '0')) {
      const key = `${row['frame.interface_id']} ${row['yamux.stream']} ${isSent(row)}`
      expect(Number(row['yamux.offset'])).toBe(ends.get(key) ?? 0)
      ends.set(key, (ends.get(key) ?? 0) + Number(row['yamux.length']))
    }

    expect(ends.size).toBeGreaterThan(0)
  })

  test('each pong names its ping, and the ping its pong, with the time between them', () => {
    const pongs = read.flatMap((row, index) => row['yamux.request_in'] === '' ? [] : { row, number: index + 1 })
    expect(pongs).toHaveLength(exchange.frames.filter(({ type, flags }) => type === PING && flags === ACK).length)

    for (const { row, number } of pongs) {
      const asked = read[Number(row['yamux.request_in']) - 1]
      expect(asked['yamux.response_in']).toBe(String(number))
      expect([asked['frame.interface_id'], asked['yamux.length'], isSent(asked)]).toEqual([row['frame.interface_id'], row['yamux.length'], !isSent(row)])
      expect(Number(row['yamux.round_trip_ms'])).toBeCloseTo((Number(row['frame.time_epoch']) - Number(asked['frame.time_epoch'])) * 1000, 2)
    }
  })

  test('marks have a number and a time', () => {
    const marks = rows.filter(row => row['yamux.mark'] !== '')
    const values = exchange.frames.flatMap(({ type, length }) => type === PING && length >= FIRST_MARK_VALUE ? length - FIRST_MARK_VALUE : [])

    expect(values).not.toEqual([])
    expect(marks.map(row => Number(row['yamux.mark']))).toEqual(values)
    expect(marks.map(row => Number(row['yamux.mark.ms']))).toEqual(values.map(value => Math.floor(value / 2) / 4))
  })

  test('only these frames are noted: the last ones before a sender had no credit, and the reset', () => {
    const expected = exchange.frames.map(({ type, flags, length, creditBytes }) => [
      type === 0 && length > 0 && creditBytes === 0 ? 'No credit is left, the sender must wait' : '',
      type === 1 && flags === RST ? 'The stream was reset' : ''
    ].join(''))

    expect(rows.map(row => row['_ws.expert.message'])).toEqual(expected)
    expect(new Set(expected).size).toBe(3)
    expect(rows.filter(row => row['yamux.error_code'] === String(ERROR_CODE))).toHaveLength(1)
  })

  test.each(filters())('the filter %s of the page finds frames', filter => {
    expect(dissect(exchange.capture, ['frame.number'], ['-Y', filter])).not.toEqual([])
  })
})

interface Packet {
  direction: typeof INBOUND | typeof OUTBOUND
  bytes: Uint8Array
  /** Without what the capture left out */
  capturedBytes?: number
  connection?: number
}

function sent (bytes: Uint8Array, rest: Partial<Packet> = {}): Packet {
  return { direction: OUTBOUND, bytes, ...rest }
}

function received (bytes: Uint8Array, rest: Partial<Packet> = {}): Packet {
  return { direction: INBOUND, bytes, ...rest }
}

/** Of a connection with alice and one with bob, a millisecond from frame to frame */
function captureOf (...packets: Packet[]): Uint8Array {
  return concat(
    sectionHeader('test'),
    ...['alice', 'bob'].map(name => interfaceDescription(name, 'outbound /memory/1')),
    ...packets.map(({ connection = 0, direction, bytes, capturedBytes }, index) =>
      enhancedPacket(connection, { direction, unixMs: STARTED_MS + index, captured: bytes.subarray(0, capturedBytes), originalBytes: bytes.byteLength }))
  )
}

function read (...packets: Packet[]): Row[] {
  return dissect(captureOf(...packets), FIELDS, TWO_PASSES)
}

function column (rows: Row[], field: keyof Row): string[] {
  return rows.map(row => row[field])
}

describe.skipIf(!hasTshark)('of captures made by hand', () => {
  test('the info of a frame is its line of the trace', () => {
    const rows = read(
      sent(data(5, pattern(100))),
      received(data(4294967295, pattern(1), ACK | FIN)),
      sent(windowUpdate(5, 0, SYN)),
      received(windowUpdate(5, 4294967295)),
      sent(windowUpdate(5, 4097, RST)),
      received(ping(17, SYN)),
      sent(ping(17, ACK)),
      sent(ping(FIRST_MARK_VALUE + 3, SYN)),
      received(goAway(2)),
      received(frame(9, SYN | ACK | FIN | RST, 5, 3))
    )

    expect(column(rows, '_ws.col.Info')).toEqual([
      '-> DATA 5 100 bytes',
      '<- DATA 4294967295 ACK FIN 1 bytes',
      '-> WINDOW_UPDATE 5 SYN +0',
      '<- WINDOW_UPDATE 5 +4294967295',
      '-> WINDOW_UPDATE 5 RST code 4097',
      '<- PING SYN 17',
      '-> PING ACK 17',
      '-> PING SYN mark 3',
      '<- GO_AWAY code 2',
      '<- TYPE_9 5 SYN ACK FIN RST 3'
    ])
  })

  test('source and destination are this node and the peer', () => {
    const rows = dissect(captureOf(sent(goAway(0)), received(goAway(0), { connection: 1 })), ['_ws.col.Source', '_ws.col.Destination'])

    expect(rows.map(row => Object.values(row))).toEqual([['this node', 'alice'], ['bob', 'this node']])
  })

  test('what the length stands for depends on type, flags and value', () => {
    const meanings = ['yamux.delta', 'yamux.error_code', 'yamux.ping', 'yamux.mark', 'yamux.mark.ms', 'yamux.go_away'] as const
    const capture = captureOf(
      sent(data(1, pattern(3))),
      sent(windowUpdate(1, 4)),
      sent(windowUpdate(1, 5, RST)),
      sent(ping(6, SYN)),
      sent(ping(FIRST_MARK_VALUE + 20, SYN)),
      sent(ping(FIRST_MARK_VALUE + 21, ACK)),
      sent(goAway(2))
    )

    expect(dissect(capture, meanings).map(row => Object.values(row))).toEqual([
      ['', '', '', '', '', ''],
      ['4', '', '', '', '', ''],
      ['', '5', '', '', '', ''],
      ['', '', '6', '', '', ''],
      ['', '', '2147483668', '20', '2.5', ''],
      ['', '', '2147483669', '21', '2.5', ''],
      ['', '', '', '', '', '2']
    ])
    expect(dissect(capture, ['yamux.mark'], ['-Y', 'yamux.mark.reply == 1'])).toEqual([{ 'yamux.mark': '21' }])
  })

  test.each([['syn', SYN], ['ack', ACK], ['fin', FIN], ['rst', RST]])('yamux.flags.%s is that flag', (name, flag) => {
    const capture = captureOf(...[SYN, ACK, FIN, RST].map(flags => sent(windowUpdate(1, 0, flags))))

    expect(dissect(capture, ['yamux.flags'], ['-Y', `yamux.flags.${name} == 1`]).map(row => Number(row['yamux.flags']))).toEqual([flag])
  })

  test('DATA beyond the credit is an error; the sender of the last credit must wait', () => {
    const rows = read(
      sent(windowUpdate(1, 0, SYN)),
      sent(data(1, pattern(WINDOW_BYTES)), { capturedBytes: 12 }),
      sent(data(1, pattern(1))),
      received(windowUpdate(1, 10, ACK)),
      sent(data(1, pattern(9))),
      sent(data(1, pattern(0), FIN))
    )

    expect(column(rows, 'yamux.credit')).toEqual(['262144', '0', '-1', '9', '0', '0'])
    expect(column(rows, '_ws.expert.message')).toEqual(
      ['', 'No credit is left, the sender must wait', 'DATA beyond the credit', '', 'No credit is left, the sender must wait', ''])
  })

  test('each connection, stream and direction has its own credit', () => {
    expect(column(read(
      sent(data(1, pattern(1), SYN)),
      sent(data(1, pattern(2), SYN), { connection: 1 }),
      sent(data(3, pattern(3), SYN)),
      received(data(1, pattern(4), ACK)),
      received(windowUpdate(1, 100), { connection: 1 }),
      sent(windowUpdate(1, 1000)),
      sent(data(1, pattern(0), FIN))
    ), 'yamux.credit')).toEqual(['262143', '262142', '262141', '262140', '262242', '263140', '262143'])
  })

  test('the time of a stream begins with its first frame', () => {
    expect(column(read(
      sent(data(1, pattern(1))),
      sent(ping(1, SYN)),
      sent(data(3, pattern(1), SYN)),
      received(data(1, pattern(1))),
      received(windowUpdate(3, 1, ACK))
    ), 'yamux.stream_ms')).toEqual(['0', '', '0', '3', '2'])
  })

  test('of a stream that was open before the capture, neither credit nor offset is known', () => {
    const rows = read(
      received(data(1, pattern(WINDOW_BYTES + 1)), { capturedBytes: 12 }),
      sent(windowUpdate(1, 1)),
      received(data(1, pattern(1))),
      received(data(2, pattern(1), SYN))
    )

    expect(column(rows, 'yamux.credit')).toEqual(['', '', '', '262143'])
    expect(column(rows, 'yamux.offset')).toEqual(['', '', '', '0'])
    expect(column(rows, '_ws.expert.message')).toEqual(['', '', '', ''])
  })

  test('captures that were joined into one file do not mix', () => {
    const first = captureOf(sent(data(1, pattern(5), SYN)))
    const second = captureOf(sent(data(1, pattern(5))), sent(data(3, pattern(5), SYN)))

    expect(column(dissect(concat(first, second), FIELDS), 'yamux.credit')).toEqual(['262139', '', '262139'])
  })

  test('a payload that was cut is shown as far as it is there, and is not malformed', () => {
    const rows = read(
      sent(data(1, pattern(20), SYN)),
      sent(data(1, pattern(20)), { capturedBytes: 15 }),
      sent(data(1, pattern(20)), { capturedBytes: 12 }),
      sent(data(1, pattern(20)))
    )
    const hex = Buffer.from(pattern(20)).toString('hex')

    expect(column(rows, 'yamux.data')).toEqual([hex, hex.slice(0, 6), '', hex])
    expect(column(rows, 'yamux.offset')).toEqual(['0', '20', '40', '60'])
    expect(column(rows, '_ws.malformed')).toEqual(['', '', '', ''])
  })

  test('unknown types and versions are errors, and change nothing', () => {
    const other = data(1, pattern(5))
    other[0] = 1
    const rows = read(sent(data(1, pattern(1), SYN)), sent(frame(4, SYN, 1, 7)), sent(other), sent(data(1, pattern(1))))

    expect(column(rows, '_ws.expert.message')).toEqual(['', 'Unknown type', 'Unknown version', ''])
    expect(column(rows, 'yamux.credit')).toEqual(['262143', '', '', '262142'])
  })

  test('DATA after the FIN of its sender is an error', () => {
    expect(column(read(
      sent(data(1, pattern(1), FIN)),
      received(data(1, pattern(1))),
      sent(windowUpdate(1, 1)),
      sent(data(1, pattern(1)))
    ), '_ws.expert.message')).toEqual(['', '', '', 'DATA after FIN'])
  })

  test('a session that ends with an error is a warning', () => {
    expect(column(read(received(goAway(0)), received(goAway(1))), '_ws.expert.message')).toEqual(['', 'The session ended with an error'])
  })

  test('of pings with one value the first is answered first; those of the other side or another connection are different', () => {
    const rows = read(
      sent(ping(7, SYN)),
      received(ping(7, SYN)),
      sent(ping(7, SYN)),
      received(ping(7, ACK), { connection: 1 }),
      received(ping(7, ACK)),
      sent(ping(7, ACK)),
      received(ping(7, ACK)),
      received(ping(7, ACK))
    )

    expect(column(rows, 'yamux.request_in')).toEqual(['', '', '', '', '1', '2', '3', ''])
    expect(column(rows, 'yamux.response_in')).toEqual(['5', '6', '7', '', '', '', '', ''])
    expect(column(rows, 'yamux.round_trip_ms')).toEqual(['', '', '', '', '4', '4', '4', ''])
  })

  test('a packet without a direction shows its fields, and nothing that follows from other frames', () => {
    const [row] = read({ ...sent(data(1, pattern(1), SYN)), direction: 0 as typeof INBOUND })

    expect(row).toMatchObject({ '_ws.col.Info': 'DATA 1 SYN 1 bytes', 'yamux.length': '1', 'yamux.credit': '', 'yamux.sent': '' })
  })

  test('a second pass is enough for all but the pong of a ping', () => {
    const rows = dissect(captureOf(sent(data(1, pattern(1), SYN)), sent(ping(7, SYN)), received(ping(7, ACK))), FIELDS, ['-2'])

    expect(column(rows, 'yamux.credit')).toEqual(['262143', '', ''])
    expect(column(rows, 'yamux.request_in')).toEqual(['', '', '2'])
  })
})

describe('the page', () => {
  const known = [...readFileSync(DISSECTOR, 'utf8').matchAll(/Proto(?:Field\.\w+|Expert\.new)\('(yamux\.[\w.]+)'/g)].map(([, name]) => name)
  const named = codeOf(PAGE).flatMap(code => code.match(/\byamux\.(?!lua\b)[\w.]*\w/g) ?? [])

  test('names every field of the dissector, and no other', () => {
    expect(new Set(named)).toEqual(new Set(known))
  })
})

/** The first column of the page's table of filters */
function filters (): string[] {
  const [, table] = readFileSync(join(root, PAGE), 'utf8').split('| filter |')

  return [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, filter]) => filter.replaceAll('\\|', '|'))
}
