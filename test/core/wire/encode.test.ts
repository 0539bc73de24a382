// Frame headers as the peer sees them, byte for byte.
import { describe, expect, test } from 'vitest'
import { encodeHeader } from '../../../src/core/wire/encode.ts'
import { FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN, GoAwayCode, TYPE_DATA, TYPE_GO_AWAY, TYPE_PING, TYPE_WINDOW_UPDATE } from '../../../src/core/wire/frame.ts'

function encoded (type: number, flags: number, streamId: number, length: number): number[] {
  const target = new Uint8Array(12)
  encodeHeader(target, 0, type, flags, streamId, length)

  return [...target]
}

describe('encodeHeader', () => {
  test('a data frame has version 0, type 0 and the payload length', () => {
    expect(encoded(TYPE_DATA, 0, 1, 5)).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5])
  })

  test('a window update has type 1 and its delta for a length', () => {
    expect(encoded(TYPE_WINDOW_UPDATE, FLAG_SYN, 3, 262_144)).toEqual([0, 1, 0, 1, 0, 0, 0, 3, 0, 4, 0, 0])
  })

  test('a ping has type 2 and its value for a length', () => {
    expect(encoded(TYPE_PING, FLAG_ACK, 0, 0xdeadbeef)).toEqual([0, 2, 0, 2, 0, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef])
  })

  test('a go away has type 3 and its code for a length', () => {
    expect(encoded(TYPE_GO_AWAY, 0, 0, GoAwayCode.NormalTermination)).toEqual([0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    expect(encoded(TYPE_GO_AWAY, 0, 0, GoAwayCode.ProtocolError)).toEqual([0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    expect(encoded(TYPE_GO_AWAY, 0, 0, GoAwayCode.InternalError)).toEqual([0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2])
  })

  test('flags are bits and combine', () => {
    expect(encoded(TYPE_DATA, FLAG_SYN | FLAG_FIN, 1, 0).slice(2, 4)).toEqual([0, 5])
    expect(encoded(TYPE_DATA, FLAG_ACK | FLAG_RST, 1, 0).slice(2, 4)).toEqual([0, 10])
  })

  test('every field is big endian and uses all of its bytes', () => {
    expect(encoded(1, 0x0203, 0x04050607, 0x08090a0b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  test('the largest values fit', () => {
    expect(encoded(3, 0xffff, 0xffff_ffff, 0xffff_fffe)).toEqual([0, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 254])
  })

  test('a header is written at its offset, over what was there, and touches nothing else', () => {
    const target = new Uint8Array(16).fill(0xee)

    expect(encodeHeader(target, 2, TYPE_DATA, FLAG_FIN, 1, 2)).toBe(14)
    expect([...target]).toEqual([0xee, 0xee, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0xee, 0xee])
  })
})
