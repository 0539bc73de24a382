// Chunks of bytes in, frames out: wherever a chunk ends, and without copying a payload.
import { beforeEach, describe, expect, test } from 'vitest'
import { Decoder } from '../../../src/core/wire/decoder.ts'
import { RecordingSink } from '../../../testing/core/recording-sink.ts'

/** DATA with FIN on stream 0x01020304, five bytes */
const HEADER = [0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 5]
const DECODED_HEADER = { type: 0, flags: 4, streamId: 0x01020304, length: 5 }

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

  test('that is split is read from where the chunk begins in its memory', () => {
    const memory = Uint8Array.from([9, 9, 9, ...HEADER, 9, 9])
    decoder.push(memory.subarray(3, 10))
    decoder.push(memory.subarray(10, 15))

    expect(sink.headers).toEqual([DECODED_HEADER])
  })
})

describe('a body', () => {
  test('is handed on as it comes, and ends once', () => {
    decoder.push(Uint8Array.from([...HEADER, 10, 20]))
    expect(sink.calls).toEqual(['header', 'body'])

    decoder.push(Uint8Array.of(30))
    expect(sink.calls).toEqual(['header', 'body', 'body'])

    decoder.push(Uint8Array.of(40, 50))
    expect(sink.calls).toEqual(['header', 'body', 'body', 'body', 'end'])
    expect(sink.pieces.map(piece => [...piece])).toEqual([[10, 20], [30], [40, 50]])
  })
})
