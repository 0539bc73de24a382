// Chunks of bytes in, frames out: wherever a chunk ends, and without copying a payload.
import { beforeEach, describe, expect, test } from 'vitest'
import { Decoder } from '../../../src/core/wire/decoder.ts'
import { ProtocolError } from '../../../src/core/errors.ts'
import { RecordingSink } from '../../../testing/core/recording-sink.ts'

/** DATA with FIN on stream 0x01020304, five bytes */
const HEADER = [0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 5]
const BODY = [10, 20, 30, 40, 50]
const DECODED_HEADER = { type: 0, flags: 4, streamId: 0x01020304, length: 5 }
const PING = [0, 2, 0, 1, 0, 0, 0, 0, 0xff, 0xee, 0xdd, 0xcc]

let sink: RecordingSink
let decoder: Decoder

beforeEach(() => {
  sink = new RecordingSink()
  decoder = new Decoder(sink)
})

describe('a header', () => {
  test('is reported as soon as it is there, before its body', () => {
    decoder.push(Uint8Array.from(HEADER))

    expect(sink.headers).toEqual([DECODED_HEADER])
    expect(sink.calls).toEqual(['header'])
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])('may be split behind byte %i', position => {
    const bytes = [...PING, ...HEADER, ...BODY]
    decoder.push(Uint8Array.from(bytes.slice(0, 12 + position)))
    decoder.push(Uint8Array.from(bytes.slice(12 + position)))

    expect(sink.headers).toEqual([{ type: 2, flags: 1, streamId: 0, length: 0xffeeddcc }, DECODED_HEADER])
    expect(sink.pieces.map(piece => [...piece])).toEqual([BODY])
    expect(sink.calls).toEqual(['header', 'header', 'body', 'end'])
  })

  test('may come byte by byte', () => {
    for (const byte of [...HEADER, ...BODY, ...PING]) {
      decoder.push(Uint8Array.of(byte))
    }

    expect(sink.headers).toEqual([DECODED_HEADER, { type: 2, flags: 1, streamId: 0, length: 0xffeeddcc }])
    expect(sink.pieces.map(piece => [...piece])).toEqual(BODY.map(byte => [byte]))
  })

  test('that is split is read from where the chunk begins in its memory', () => {
    const memory = Uint8Array.from([9, 9, 9, ...HEADER, 9, 9])
    decoder.push(memory.subarray(3, 10))
    decoder.push(memory.subarray(10, 15))

    expect(sink.headers).toEqual([DECODED_HEADER])
  })

  test('has the largest numbers as they are, not below zero', () => {
    decoder.push(Uint8Array.of(0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe))

    expect(sink.headers).toEqual([{ type: 1, flags: 0xffff, streamId: 0xffff_ffff, length: 0xffff_fffe }])
  })

  test.each([1, 2, 128, 255])('of version %i is refused with a protocol error', version => {
    const wrong = [version, ...HEADER.slice(1)]

    expect(() => { decoder.push(Uint8Array.from(wrong)) }).toThrow(ProtocolError)
    expect(sink.calls).toEqual([])
  })

  test('of a wrong version is refused by code, with the number, when it was split', () => {
    decoder.push(Uint8Array.of(7, 0, 0, 0))

    expect(() => { decoder.push(new Uint8Array(8)) }).toThrow(expect.objectContaining({
      code: 'ERR_INVALID_FRAME',
      goAwayCode: 1,
      message: expect.stringContaining('version 7')
    }))
  })
})

describe('a body', () => {
  test('is a view of the chunk it came in', () => {
    const chunk = Uint8Array.from([...HEADER, ...BODY])
    decoder.push(chunk)

    expect(sink.pieces[0].buffer).toBe(chunk.buffer)
    expect(sink.pieces[0].byteOffset).toBe(12)
    expect([...sink.pieces[0]]).toEqual(BODY)
  })

  test('is handed on as it comes, and ends once', () => {
    decoder.push(Uint8Array.from([...HEADER, 10, 20]))
    expect(sink.calls).toEqual(['header', 'body'])

    decoder.push(Uint8Array.of(30))
    expect(sink.calls).toEqual(['header', 'body', 'body'])

    decoder.push(Uint8Array.of(40, 50))
    expect(sink.calls).toEqual(['header', 'body', 'body', 'body', 'end'])
    expect(sink.pieces.map(piece => [...piece])).toEqual([[10, 20], [30], [40, 50]])
  })

  test('is followed by the next header in the same chunk', () => {
    decoder.push(Uint8Array.from([...HEADER, ...BODY, ...PING, ...HEADER]))

    expect(sink.calls).toEqual(['header', 'body', 'end', 'header', 'header'])
  })

  test('of length zero ends at once', () => {
    decoder.push(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0))

    expect(sink.calls).toEqual(['header', 'end'])
  })

  test('that is empty is not looked for in a chunk without bytes', () => {
    decoder.push(Uint8Array.from(HEADER))
    decoder.push(new Uint8Array(0))

    expect(sink.calls).toEqual(['header'])
  })

  test('that nobody wants is skipped, across chunks, and what follows is not', () => {
    sink = new RecordingSink(({ streamId }) => streamId === 1)
    decoder = new Decoder(sink)
    decoder.push(Uint8Array.from([...HEADER, 10, 20]))
    decoder.push(Uint8Array.of(30, 40))
    decoder.push(Uint8Array.from([50, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 60]))

    expect(sink.headers.map(({ streamId }) => streamId)).toEqual([0x01020304, 1])
    expect(sink.pieces.map(piece => [...piece])).toEqual([[60]])
    expect(sink.calls).toEqual(['header', 'header', 'body', 'end'])
  })

  test('that nobody wants and that is empty ends unseen', () => {
    sink = new RecordingSink(() => false)
    decoder = new Decoder(sink)
    decoder.push(Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0))

    expect(sink.calls).toEqual(['header'])
  })

  test.each([
    ['window update', 1, 1],
    ['ping', 2, 0],
    ['go away', 3, 0]
  ])('does not follow a %s, whatever its length field says', (_, type, streamId) => {
    decoder.push(Uint8Array.from([0, type, 0, 0, 0, 0, 0, streamId, 0, 0, 0, 5, ...PING]))

    expect(sink.headers).toHaveLength(2)
    expect(sink.headers[1]).toEqual({ type: 2, flags: 1, streamId: 0, length: 0xffeeddcc })
    expect(sink.calls).toEqual(['header', 'header'])
  })

  test('of 4 GiB is announced without any of it being there', () => {
    decoder.push(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 1))

    expect(sink.headers[0].length).toBe(4_294_967_295)
    expect(sink.calls).toEqual(['header', 'body'])
  })
})
