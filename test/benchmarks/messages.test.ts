// How the benchmarks' receiver confirms what came on many streams.
import { describe, expect, test } from 'vitest'
import { verifyTogether } from '../../benchmarks/pair/scenarios/messages.ts'
import { bytesAt, preparedMessages, startOfStream } from '../../testing/verified/pattern.ts'
import type { Stream } from '@libp2p/interface'

const UNIT_BYTES = 300

function streamThatCollects (replies: number[]): Stream {
  return { send: (bytes: Uint8Array) => replies.push(Buffer.from(bytes).readDoubleBE()) } as unknown as Stream
}

function begin (): { replies: number[][], onBytes: Array<(bytes: Uint8Array) => void> } {
  const verify = verifyTogether(2, UNIT_BYTES)
  const replies: number[][] = [[], []]
  const onBytes = replies.map((own, index) => verify(streamThatCollects(own), index))

  return { replies, onBytes }
}

describe('streams that are verified together', () => {
  test('all tell that they are there, and the first one that a unit has come on each', () => {
    const { replies, onBytes: [onFirst, onSecond] } = begin()
    expect(replies).toEqual([[0], [0]])

    onSecond(bytesAt(startOfStream(1), UNIT_BYTES))
    onFirst(bytesAt(startOfStream(0), UNIT_BYTES - 1))
    expect(replies).toEqual([[0], [0]])

    onFirst(bytesAt(startOfStream(0) + UNIT_BYTES - 1, 1))
    expect(replies).toEqual([[0, UNIT_BYTES], [0]])
  })

  test('count each unit by itself when one stream is ahead', () => {
    const { replies, onBytes: [onFirst, onSecond] } = begin()

    onSecond(bytesAt(startOfStream(1), 2 * UNIT_BYTES))
    onFirst(bytesAt(startOfStream(0), UNIT_BYTES))
    expect(replies[0]).toEqual([0, UNIT_BYTES])

    onFirst(bytesAt(startOfStream(0) + UNIT_BYTES, UNIT_BYTES))
    expect(replies[0]).toEqual([0, UNIT_BYTES, 2 * UNIT_BYTES])
  })

  test('tell of a wrong byte on any of them, behind how many right ones', () => {
    const { replies, onBytes: [, onSecond] } = begin()

    onSecond(bytesAt(startOfStream(1), 100))
    onSecond(bytesAt(startOfStream(0), 100))

    expect(replies[0]).toEqual([0, -101])
  })

  test('are sent messages that were made before, with the bytes that belong there', () => {
    const messageAt = preparedMessages(100)
    const position = startOfStream(999) + 12_300

    expect(messageAt(position)).toEqual(bytesAt(position, 100))
    expect(messageAt(position)).toBe(messageAt(position))
  })
})
