// What the peer lets this side send on a stream, to the byte.
import { beforeEach, describe, expect, test } from 'vitest'
import { SendCredit } from '../../../src/core/flow/send-credit.ts'

let credit: SendCredit

beforeEach(() => {
  credit = new SendCredit()
})

describe('send credit', () => {
  test('begins with 256 KiB', () => {
    expect(credit.availableBytes).toBe(262_144)
  })

  test('is what is left of it after sending', () => {
    credit.spend(262_143)
    expect(credit.availableBytes).toBe(1)

    credit.spend(1)
    expect(credit.availableBytes).toBe(0)
  })

  test('grows by what is granted', () => {
    credit.spend(200_000)
    credit.grant(1000, 1)

    expect(credit.availableBytes).toBe(63_144)
  })

  test('may grow up to 2^32-1', () => {
    credit.grant(4_294_967_295 - 262_144, 1)

    expect(credit.availableBytes).toBe(4_294_967_295)
  })

  test('may be granted 2^32-1 at once when there is none', () => {
    credit.spend(262_144)
    credit.grant(4_294_967_295, 1)

    expect(credit.availableBytes).toBe(4_294_967_295)
  })

  test('past 2^32-1 is a protocol error that says by how much', () => {
    credit.spend(262_144)
    credit.grant(4_294_967_295, 5)

    expect(() => { credit.grant(1, 5) }).toThrow(expect.objectContaining({
      code: 'ERR_SEND_WINDOW_OVERFLOW',
      goAwayCode: 1,
      message: 'received a window update of 1 bytes on stream 5 which has 4294967295 bytes of credit left, together they may not exceed 4294967295'
    }))
  })

  test('is unchanged by a grant that is refused', () => {
    expect(() => { credit.grant(4_294_967_295, 1) }).toThrow()
    expect(credit.availableBytes).toBe(262_144)
  })
})
