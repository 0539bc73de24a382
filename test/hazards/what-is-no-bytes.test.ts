// What a stream is given to send or to read again: bytes are taken whoever made them, and what is no bytes is refused at once, before anything of it is queued.
import { InvalidParametersError, StreamMessageEvent } from '@libp2p/interface'
import { equals } from 'uint8arrays/equals'
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, test } from 'vitest'
import { ACK, concat, data, DATA, pattern, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, receive } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation, Received } from '../../testing/protocol/conversation.ts'

forbidIncidents()

const METHODS = ['send', 'push', 'unshift'] as const

const NO_BYTES: Array<[what: string, make: () => any, name: RegExp]> = [
  ['a string', () => 'hello', /string/i],
  ['an array of numbers', () => [1, 2, 3], /array/i],
  ['a Uint16Array', () => Uint16Array.of(1, 2, 3), /Uint16Array/],
  ['a Uint8ClampedArray', () => Uint8ClampedArray.of(1, 2, 3), /Uint8ClampedArray/],
  ['an Int8Array', () => Int8Array.of(1, 2, 3), /Int8Array/],
  ['a DataView', () => new DataView(new ArrayBuffer(3)), /DataView/],
  ['an ArrayBuffer', () => new ArrayBuffer(3), /ArrayBuffer/],
  ['undefined', () => undefined, /undefined/],
  ['null', () => null, /null/],
  ['a number', () => 3, /number/i],
  ['a boolean', () => true, /boolean/i],
  ['a symbol', () => Symbol('bytes'), /symbol/i],
  ['a function', () => () => {}, /function/i],
  ['an object', () => ({}), /object/i],
  ['an object without a prototype', () => Object.create(null), /object/i],
  ['an object that is like an array', () => ({ length: 3, byteLength: 3, 0: 1, 1: 2, 2: 3 }), /object/i],
  ['an object that is like a list of bytes', () => ({ length: 3, byteLength: 3, subarray: () => pattern(3), [Symbol.iterator]: () => [pattern(3)][Symbol.iterator]() }), /object/i],
  ['an object that says that it is a Uint8Array', () => ({ [Symbol.toStringTag]: 'Uint8Array', length: 3, byteLength: 3 }), /object|Uint8Array/i],
  ['an array of Uint8Arrays', () => [pattern(3), pattern(3)], /array/i],
  ['a list of parts that are no bytes', () => ({ [Symbol.for('@achingbrain/uint8arraylist')]: true, length: 3, byteLength: 3, bufs: ['abc'], [Symbol.iterator]: () => ['abc'][Symbol.iterator]() }), /string|list/i]
]

interface Talk {
  peer: Conversation
  stream: YamuxStream
  received: Received
  /** What the stream has written since the last call */
  sent (): Promise<Uint8Array>
}

async function talk (mergeMessages: boolean): Promise<Talk> {
  const peer = converse({ coalesce: { mergeMessages } })
  const stream = await peer.open()
  peer.deliver(windowUpdate(1, 1_000_000, ACK))

  return {
    peer,
    stream,
    received: receive(stream),
    sent: async () => {
      await nextTurn()

      return concat(...peer.takeFrames().filter(({ type, id }) => type === DATA && id === 1).map(({ payload }) => payload))
    }
  }
}

describe.each([true, false])('with mergeMessages: %s', mergeMessages => {
  describe.each(METHODS)('%s()', method => {
    test.each(NO_BYTES)('refuses %s, and nothing of it is queued', async (_, make, name) => {
      const { peer, stream, received, sent } = await talk(mergeMessages)
      // it stands between bytes that are some
      stream.send(pattern(10))
      const value = make()
      let error: any

      try {
        stream[method](value)
      } catch (err) {
        error = err
      }

      expect(error).toBeInstanceOf(InvalidParametersError)
      expect([error.name, error.code]).toEqual(['InvalidParametersError', 'ERR_INVALID_BYTES'])
      expect(error.message).toMatch(name)
      expect([stream.writeBufferLength, stream.readBufferLength]).toEqual([10, 0])
      expect(stream.status).toBe('open')

      stream.send(pattern(5, 1))
      stream.push(pattern(7))
      peer.deliver(data(1, pattern(9, 2)))
      expect(equals(await sent(), concat(pattern(10), pattern(5, 1)))).toBe(true)
      expect(equals(concat(...received.chunks), concat(pattern(7), pattern(9, 2)))).toBe(true)
      expect(stream.status).toBe('open')
    })

    test('on a stream that is closed says that it is closed, whatever it is given', async () => {
      const { stream } = await talk(mergeMessages)
      stream.abort(new Error('Enough'))

      expect(() => stream[method]('hello' as any)).toThrow(expect.objectContaining({ name: expect.stringMatching(/StreamStateError|InvalidParametersError/) }))
    })
  })
})

/** As of a second copy of the package, which is no instance of this one's class */
function foreignList (...parts: Uint8Array[]): any {
  const byteLength = parts.reduce((sum, part) => sum + part.byteLength, 0)

  return {
    [Symbol.for('@achingbrain/uint8arraylist')]: true,
    bufs: parts,
    length: byteLength,
    byteLength,
    subarray: () => concat(...parts),
    slice: () => concat(...parts),
    * [Symbol.iterator] () { yield * parts }
  }
}

/** Uint8Array of another window, or context */
async function foreignRealm (): Promise<{ Uint8Array: typeof Uint8Array, ArrayBuffer: typeof ArrayBuffer }> {
  if (typeof document === 'object') {
    const frame = document.createElement('iframe')
    document.body.append(frame)

    return frame.contentWindow as any
  }

  // not by an import, which would be looked for in a bundle for pages
  return (process as any).getBuiltinModule('node:vm').runInNewContext('({ Uint8Array, ArrayBuffer })')
}

const realm = await foreignRealm()

function foreign (bytes: Uint8Array): Uint8Array {
  const copy = new realm.Uint8Array(bytes.byteLength)
  copy.set(bytes)

  return copy
}

/** Node's own kind of bytes; in a page there is none */
const { Buffer } = globalThis as { Buffer?: { from (bytes: Uint8Array): Uint8Array } }

class Labelled extends Uint8Array {
  readonly label: string

  constructor (label: string, bytes: Uint8Array) {
    super(bytes)
    this.label = label
  }
}

const BYTES: Array<[what: string, make: (bytes: Uint8Array) => any]> = [
  ['a Uint8Array', bytes => bytes],
  ['a part of a larger buffer', bytes => concat(pattern(100), bytes, pattern(100)).subarray(100, 100 + bytes.byteLength)],
  ['a Buffer', bytes => Buffer?.from(bytes) ?? bytes],
  ['a class that extends Uint8Array', bytes => new (class extends Uint8Array {})(bytes)],
  ['a Uint8ArrayList', bytes => new Uint8ArrayList(bytes.subarray(0, 3), bytes.subarray(3))],
  ['a Uint8ArrayList of another copy of the package', bytes => foreignList(bytes.subarray(0, 3), bytes.subarray(3))],
  ['a Uint8Array of another realm', foreign],
  ['a Uint8ArrayList of Uint8Arrays of another realm', bytes => Uint8ArrayList.fromUint8Arrays([foreign(bytes.subarray(0, 3)), bytes.subarray(3, 5), foreign(bytes.subarray(5))])],
  ['a list of another copy of the package, of Uint8Arrays of another realm', bytes => foreignList(foreign(bytes.subarray(0, 3)), bytes.subarray(3))]
]

test('another realm has another Uint8Array', () => {
  expect(foreign(pattern(3)) instanceof Uint8Array).toBe(false)
})

describe.each([true, false])('with mergeMessages: %s', mergeMessages => {
  describe.each(BYTES)('%s', (_, make) => {
    // the larger one is passed on by reference, and cut into frames
    test.each([1, 10, 9000, 100_000])('of %i bytes is sent whole and in order', async byteLength => {
      const { stream, sent } = await talk(mergeMessages)
      stream.send(pattern(10, 1))
      stream.send(make(pattern(byteLength, 2)))
      expect(stream.writeBufferLength).toBe(10 + byteLength)
      stream.send(pattern(10, 3))

      expect(equals(await sent(), concat(pattern(10, 1), pattern(byteLength, 2), pattern(10, 3)))).toBe(true)
    })

    test.each([1, 10, 9000])('of %i bytes is pushed and put back whole and in order', async byteLength => {
      const { peer, stream, received } = await talk(mergeMessages)
      stream.pause()
      peer.deliver(data(1, pattern(20, 1)))
      stream.push(make(pattern(byteLength, 2)))
      stream.unshift(make(pattern(byteLength, 3)))
      expect(stream.readBufferLength).toBe(20 + 2 * byteLength)
      stream.resume()

      expect(equals(concat(...received.chunks), concat(pattern(byteLength, 3), pattern(20, 1), pattern(byteLength, 2)))).toBe(true)
      expect(stream.readBufferLength).toBe(0)
    })

    test('is read when the transport brings it, cut anywhere', async () => {
      const bytes = concat(data(1, pattern(100, 1)), data(1, pattern(30, 2)))

      for (const cut of [1, 5, 11, 12, 13, 60, 112, 120]) {
        const { peer, stream, received } = await talk(mergeMessages)
        peer.transport.dispatchEvent(new StreamMessageEvent(make(bytes.subarray(0, cut))))
        peer.transport.dispatchEvent(new StreamMessageEvent(make(bytes.subarray(cut))))
        await nextTurn()

        expect(equals(concat(...received.chunks), concat(pattern(100, 1), pattern(30, 2)))).toBe(true)
        expect(stream.status).toBe('open')
      }
    })

    test('is kept when nobody reads, and read later', async () => {
      const peer = converse({ coalesce: { mergeMessages } })
      const stream = await peer.open()
      peer.transport.dispatchEvent(new StreamMessageEvent(make(concat(data(1, pattern(1000, 1)), data(1, pattern(30, 2))))))
      stream.push(make(pattern(9, 3)))
      await nextTurn()
      const received = receive(stream)
      await nextTurn()

      expect(equals(concat(...received.chunks), concat(pattern(1000, 1), pattern(30, 2), pattern(9, 3)))).toBe(true)
      received.chunks.forEach(chunk => { expect(chunk).toBeInstanceOf(Uint8Array) })
    })

    test('that is empty is nothing', async () => {
      const { peer, stream, received, sent } = await talk(mergeMessages)
      const empty = make(new Uint8Array(0))
      expect(stream.send(empty)).toBe(true)
      stream.push(empty)
      stream.unshift(empty)
      peer.transport.dispatchEvent(new StreamMessageEvent(empty))
      await nextTurn()
      expect(received.chunks).toEqual([])

      peer.deliver(data(1, pattern(10)))
      stream.send(pattern(5))
      expect(received.byteLength).toBe(10)
      expect(equals(await sent(), pattern(5))).toBe(true)
    })
  })
})

test.each([[100, true], [100, false], [100_000, true], [100_000, false]])('%i bytes of a class that is not made like a Uint8Array are sent as they are, with mergeMessages: %s', async (byteLength, mergeMessages) => {
  const { stream, sent } = await talk(mergeMessages)
  stream.send(new Labelled('label', pattern(byteLength)))

  expect(equals(await sent(), pattern(byteLength))).toBe(true)
})
