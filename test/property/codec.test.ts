// Law: what a decoder reports is what was encoded, wherever the bytes are cut.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Decoder } from '../../src/core/wire/decoder.ts'
import { encodeHeader } from '../../src/core/wire/frame.ts'
import { RecordingSink } from '../../testing/core/recording-sink.ts'
import { concat, frame, pattern } from '../../testing/protocol/frames.ts'
import { cutInto, cuts } from './fixtures/chunks.ts'
import type { Header } from '../../testing/core/recording-sink.ts'

const uint32 = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 0xffff_ffff }))

const headers = fc.array(fc.record<Header>({
  type: fc.oneof(fc.constant(0), fc.nat(255)),
  flags: fc.nat(0xffff),
  streamId: uint32,
  length: uint32
}).map(header => header.type === 0 ? { ...header, length: header.length % 1000 } : header), { maxLength: 20, size: 'max' })

test('an encoded header is the one that an independent encoder makes', () => {
  fc.assert(fc.property(headers, fc.nat(20), (headers, offset) => {
    for (const { type, flags, streamId, length } of headers) {
      const target = new Uint8Array(offset + 12)

      expect(encodeHeader(target, offset, type, flags, streamId, length)).toBe(offset + 12)
      expect(target.subarray(offset)).toEqual(frame(type, flags, streamId, length))
    }
  }))
})

test('a frame may be split at any byte', () => {
  fc.assert(fc.property(headers, cuts, fc.func(fc.boolean()), (headers, cuts, isWanted) => {
    const bodies = headers.map(({ type, length }, i) => pattern(type === 0 ? length : 0, i))
    const bytes = concat(...headers.flatMap((header, i) => [encode(header), bodies[i]]))
    const wanted = headers.map(({ type, streamId }) => type === 0 && isWanted(streamId))
    const sink = new RecordingSink(({ streamId }) => isWanted(streamId))
    const decoder = new Decoder(sink)
    const chunks = cutInto(bytes, cuts)
    chunks.forEach(chunk => { decoder.push(chunk) })

    expect(sink.headers).toEqual(headers)
    expect(concat(...sink.pieces)).toEqual(concat(...bodies.filter((_, i) => wanted[i])))
    expect(sink.calls.filter(call => call === 'end')).toHaveLength(wanted.filter(Boolean).length)

    const memory = new Set(chunks.map(chunk => chunk.buffer))
    expect(sink.pieces.every(piece => memory.has(piece.buffer as ArrayBuffer))).toBe(true)
  }))
})

test('a body ends before the next header, and has no empty piece', () => {
  fc.assert(fc.property(headers, cuts, (headers, cuts) => {
    const bytes = concat(...headers.flatMap(header => [encode(header), pattern(header.type === 0 ? header.length : 0)]))
    const sink = new RecordingSink()
    const decoder = new Decoder(sink)
    cutInto(bytes, cuts).forEach(chunk => { decoder.push(chunk) })

    const frames = sink.calls.join(' ').replace(/body /g, '').split('header').slice(1).map(calls => calls.trim())
    expect(frames).toEqual(headers.map(({ type }) => type === 0 ? 'end' : ''))
    expect(sink.pieces.every(({ byteLength }) => byteLength > 0)).toBe(true)
  }))
})

function encode ({ type, flags, streamId, length }: Header): Uint8Array {
  const bytes = new Uint8Array(12)
  encodeHeader(bytes, 0, type, flags, streamId, length)

  return bytes
}
