// Law: a stream that is announced in a later turn, because others came before it, reads as one that is announced in its own.
import { byteStream, lpStream } from '@libp2p/utils'
import fc from 'fast-check'
import { concat } from 'uint8arrays/concat'
import { equals } from 'uint8arrays/equals'
import { afterAll, expect, test } from 'vitest'
import { data, FIN, goAway, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { NO_LIMITS } from '../../testing/protocol/limits.ts'
import { createRawPeer, nextTurn, oneTurn } from '../../testing/protocol/raw-peer.ts'
import type { YamuxStream } from '../../src/index.ts'

const FIRST_ID = 1
/** What libp2p's negotiation reads before the program does: five bytes behind their length */
const NEGOTIATED = Uint8Array.of(5, 1, 2, 3, 4, 5)

type Read = (stream: YamuxStream) => Promise<Uint8Array>

const readLoop: Read = async stream => {
  const chunks: Uint8Array[] = []

  for await (const chunk of stream) {
    chunks.push(chunk.subarray())
  }

  return concat(chunks)
}

const listen: Read = async stream => {
  const chunks: Uint8Array[] = []
  const { promise, resolve } = Promise.withResolvers<unknown>()
  stream.addEventListener('message', ({ data }) => { chunks.push(data.subarray()) })
  stream.addEventListener('end', resolve)
  stream.addEventListener('remoteCloseWrite', resolve)

  if (stream.remoteWriteStatus === 'closed') {
    resolve(undefined)
  }

  await promise
  await nextTurn()

  return concat(chunks)
}

/** As multistream-select does, which answers before it puts back the rest */
async function negotiate (stream: YamuxStream, answer: boolean): Promise<void> {
  const lp = lpStream(stream)
  const name = await lp.read()

  if (answer && stream.writeStatus === 'writable') {
    stream.send(name)
  }

  lp.unwrap()
}

/** A turn passes between the negotiation and the program's reader, as libp2p looks into its peer store */
const READERS: Record<string, Read> = {
  'a loop': async stream => (await readLoop(stream)).subarray(NEGOTIATED.byteLength),
  'a loop that comes late': async stream => {
    await oneTurn()

    return (await readLoop(stream)).subarray(NEGOTIATED.byteLength)
  },
  'a listener': async stream => (await listen(stream)).subarray(NEGOTIATED.byteLength),
  'a listener that comes late': async stream => {
    await oneTurn()

    return (await listen(stream)).subarray(NEGOTIATED.byteLength)
  },
  'negotiation, then a loop': async stream => {
    await negotiate(stream, true)
    await oneTurn()

    return readLoop(stream)
  },
  'negotiation that begins late, then a loop': async stream => {
    await oneTurn()
    await negotiate(stream, true)
    await oneTurn()

    return readLoop(stream)
  },
  'negotiation, then a listener': async stream => {
    await negotiate(stream, false)
    await oneTurn()

    return listen(stream)
  },
  byteStream: async stream => {
    const bytes = byteStream(stream)
    const chunks: Uint8Array[] = []
    await bytes.read({ bytes: NEGOTIATED.byteLength })

    for (let chunk = await bytes.read(); chunk !== null; chunk = await bytes.read()) {
      chunks.push(chunk.subarray())
    }

    return concat(chunks)
  },
  'byteStream that puts back twice': async stream => {
    const first = byteStream(stream)
    await first.read({ bytes: 1 })
    await oneTurn()
    first.unwrap()
    await oneTurn()
    const second = byteStream(stream)
    await second.read({ bytes: NEGOTIATED.byteLength - 1 })
    second.unwrap()
    await oneTurn()

    return readLoop(stream)
  }
}

/** What follows each other in one chunk, or comes a turn or three later */
const PAUSES = { none: async () => {}, turn: oneTurn, turns: nextTurn }

const ENDS = ['nothing', 'reset', 'loss of the transport', 'reset in the same chunk', 'GoAway in the same chunk'] as const

interface Script {
  reader: string
  /** Lengths of the DATA frames behind the negotiation */
  lengths: number[]
  /** In front of each of them, the FIN and what comes behind it */
  pauses: Array<keyof typeof PAUSES>
  /** Behind the FIN: in its chunk, or when the stream has been announced */
  end: typeof ENDS[number]
}

const scripts: fc.Arbitrary<Script> = fc.record({
  reader: fc.constantFrom(...Object.keys(READERS)),
  lengths: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40_000 })), { maxLength: 4 }),
  pauses: fc.array(fc.constantFrom<Array<keyof typeof PAUSES>>('none', 'none', 'turn', 'turns'), { minLength: 6, maxLength: 6 }),
  end: fc.constantFrom(...ENDS)
})

interface Outcome {
  outcome: string
  byteLength: number
  status: string
  readableEnded: boolean
  grantedBytes: number
}

/** What a stream reads that the peer opens behind `others`, which make it wait for a turn for each 32 of them */
async function play (script: Script, others: number): Promise<Outcome> {
  const peer = createRawPeer({ direction: 'inbound', limits: NO_LIMITS })
  const id = FIRST_ID + 2 * others
  const expected = concat(script.lengths.map((length, i) => pattern(length, i)))
  let stream: YamuxStream | undefined
  let read: Promise<Uint8Array> | undefined
  const announced = Promise.withResolvers<unknown>()
  peer.muxer.addEventListener('stream', ({ detail }) => {
    if (detail.id === String(id)) {
      stream = detail
      read = READERS[script.reader](detail)
      read.catch(() => {})
      announced.resolve(undefined)
    }
  })

  const frames: Uint8Array[][] = [
    [...Array.from({ length: others }, (_, i) => windowUpdate(FIRST_ID + 2 * i, 0, SYN)), windowUpdate(id, 0, SYN), data(id, NEGOTIATED)],
    ...script.lengths.map((length, i) => [data(id, pattern(length, i))]),
    [windowUpdate(id, 0, FIN)]
  ]
  let chunk: Uint8Array[] = []

  for (const [i, part] of frames.entries()) {
    const pause = script.pauses[i]

    if (pause !== 'none' && chunk.length > 0) {
      peer.deliver(...chunk)
      chunk = []
      await PAUSES[pause]()
    }

    chunk.push(...part)
  }

  if (script.end === 'reset in the same chunk') {
    chunk.push(windowUpdate(id, 0, RST))
  } else if (script.end === 'GoAway in the same chunk') {
    chunk.push(goAway(1))
  }

  peer.deliver(...chunk)
  await announced.promise
  await PAUSES[script.pauses[5]]()

  if (script.end === 'reset') {
    peer.deliver(windowUpdate(id, 0, RST))
  } else if (script.end === 'loss of the transport') {
    peer.transport.end(new Error('The cable was cut'))
  }

  const outcome = await (read as Promise<Uint8Array>).then(bytes => equals(bytes, expected) ? 'all bytes, in order' : `${bytes.byteLength} of ${expected.byteLength} bytes`, err => String(err))
  await nextTurn()
  const { status, readableEnded } = stream as YamuxStream
  const grantedBytes = peer.takeFrames().reduce((sum, frame) => sum + (frame.type === WINDOW_UPDATE && frame.id === id ? frame.length : 0), 0)

  return { outcome, byteLength: expected.byteLength, status, readableEnded, grantedBytes }
}

/** So that each kind of end was seen behind all bytes */
const wholeAfter = new Set<string>()

test('what a reader gets, how that ends and what credit it gives do not depend on the turn in which the stream is announced', async () => {
  await fc.assert(fc.asyncProperty(scripts, fc.constantFrom(31, 32, 40, 70, 300), async (script, others) => {
    const own = await play(script, 0)
    const late = await play(script, others)

    expect(late).toEqual(own)
    expect(own.outcome).toBe('all bytes, in order')
    wholeAfter.add(script.end)
  }), { numRuns: 300 })
})

afterAll(() => { expect(wholeAfter.size).toBe(ENDS.length) })
