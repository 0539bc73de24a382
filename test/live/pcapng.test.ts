// The inspector's reader of captures: any pieces in, connections and frames out.
import { describe, expect, test } from 'vitest'
import { PcapngReader } from '../../live/inspector/pcapng.ts'
import { enhancedPacket, INBOUND, interfaceDescription, sectionHeader } from '../../src/observe/pcapng.ts'
import { ACK, concat, data, frame, pattern, ping, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { PcapngWriter } from './fixtures/pcapng.ts'
import type { CapturedFrame } from '../../live/inspector/pcapng.ts'

const AT_US = 1_764_600_000_123_456

function read (...pieces: Uint8Array[]) {
  const connections: string[] = []
  const frames: Array<[connection: number, frame: CapturedFrame]> = []
  const reader = new PcapngReader({
    onConnection: (peer, direction) => { connections.push(`${peer} ${direction}`) },
    onFrame: (connection, captured) => { frames.push([connection, captured]) }
  })
  pieces.forEach(piece => { reader.push(piece) })

  return { connections, frames }
}

const writer = new PcapngWriter()
const BEGIN = concat(writer.section(), writer.connection('peer', 'outbound /memory/1'))

test('what the package writes is read: connections with their peers, and frames with time and direction', () => {
  const file = concat(
    sectionHeader('libp2p-coalescing-yamux'),
    interfaceDescription('peer', 'inbound /memory/1'),
    enhancedPacket(0, { direction: INBOUND, unixMs: AT_US / 1000, captured: data(5, pattern(3), ACK), originalBytes: 15 })
  )

  expect(read(file)).toEqual({
    connections: ['peer inbound /memory/1'],
    frames: [[0, { atUs: AT_US, isSent: false, type: 0, flags: ACK, streamId: 5, length: 3, payload: pattern(3) }]]
  })
})

describe.each([['little', true], ['big', false]])('%s endian', (_, isLittleEndian) => {
  const writer = new PcapngWriter(isLittleEndian)
  const file = concat(
    writer.section(),
    writer.connection('one', 'outbound'),
    writer.connection('two', 'inbound'),
    writer.packet(windowUpdate(1, 7, SYN), { ticks: AT_US }),
    writer.packet(data(2, pattern(5)), { ticks: AT_US + 1, interfaceId: 1, flags: 1 })
  )
  const expected = {
    connections: ['one outbound', 'two inbound'],
    frames: [
      [0, { atUs: AT_US, isSent: true, type: 1, flags: SYN, streamId: 1, length: 7, payload: new Uint8Array(0) }],
      [1, { atUs: AT_US + 1, isSent: false, type: 0, flags: 0, streamId: 2, length: 5, payload: pattern(5) }]
    ]
  }

  test('is read as it is written', () => {
    expect(read(file)).toEqual(expected)
  })

  test.each([1, 7, 12, 50])('is read in pieces of %i bytes', pieceBytes => {
    const pieces = Array.from({ length: Math.ceil(file.byteLength / pieceBytes) }, (_, i) => file.subarray(i * pieceBytes, (i + 1) * pieceBytes))

    expect(read(...pieces)).toEqual(expected)
  })
})

test('a file may end within a block', () => {
  const file = concat(BEGIN, writer.packet(ping(1, SYN)), writer.packet(ping(2, SYN)))

  expect(read(file.subarray(0, -1)).frames.map(([, { length }]) => length)).toEqual([1])
})

test('blocks of other types are left out', () => {
  const nameResolution = writer.block(4, new Uint8Array(8))

  expect(read(concat(BEGIN, nameResolution, writer.packet(ping(1, SYN)), writer.block(0x80000bad, new Uint8Array(3)))).frames).toHaveLength(1)
})

test('a second section has connections of its own, and its own order of bytes', () => {
  const other = new PcapngWriter(false)
  const { connections, frames } = read(concat(BEGIN, writer.packet(ping(1, SYN)), other.section(), other.connection('later', 'inbound'), other.packet(ping(2, SYN))))

  expect(connections).toEqual(['peer outbound /memory/1', 'later inbound'])
  expect(frames.map(([connection, { length }]) => [connection, length])).toEqual([[0, 1], [1, 2]])
})

test.each([[3, 1_764_600_000_123, 1_764_600_000_123_000], [6, AT_US, AT_US], [128 + 10, 2 ** 40, 2 ** 30 * 1e6]])('times in a resolution of %i are microseconds', (resolution, ticks, atUs) => {
  const file = concat(writer.section(), writer.connection('peer', 'outbound', { resolution }), writer.packet(ping(1, SYN), { ticks }))

  expect(read(file).frames[0][1].atUs).toBe(atUs)
})

describe('an error says what is wrong, and what to do:', () => {
  test.each<[string, RegExp, Uint8Array]>([
    ['a capture of a network', /link type 1, not 147.*captureFrames/, concat(writer.section(), writer.connection('eth0', '', { linkType: 1 }))],
    ['a file that is not pcapng', /not a pcapng file.*captureFrames/, Uint8Array.from([0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0])],
    ['a packet that is not yamux', /offset 84 is not a yamux frame/, concat(BEGIN, writer.packet(pattern(12).fill(1)))],
    ['a packet of an interface that is not there', /offset 84 is not a yamux frame of a known connection/, concat(BEGIN, writer.packet(ping(1, SYN), { interfaceId: 1 }))],
    ['a packet without a direction', /offset 84 is not a yamux frame.*direction/, concat(BEGIN, writer.packet(ping(1, SYN), { flags: 0 }))],
    ['a packet that is shorter than a frame', /block at offset 84 is too short/, concat(BEGIN, writer.packet(ping(1, SYN).subarray(0, 11)))],
    ['a block that is shorter than its packet', /block at offset 84 is too short/, concat(BEGIN, writer.block(6, new Uint8Array(20).fill(255)))],
    ['a block of an impossible length', /block of 4294967295 bytes at offset 84/, concat(BEGIN, new Uint8Array(12).fill(255))]
  ])('%s', (_, message, file) => {
    expect(() => read(file)).toThrow(message)
  })
})

test('frames of unknown types are handed on', () => {
  expect(read(concat(BEGIN, writer.packet(frame(9, 0, 3, 4)))).frames[0][1]).toMatchObject({ type: 9, streamId: 3, length: 4 })
})
