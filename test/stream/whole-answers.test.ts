// Behind the peer's FIN nothing is missing, so whoever reads comes to an end without an error, however the stream ends then.
import { byteStream } from '@libp2p/utils'
import { describe, expect, test } from 'vitest'
import { concat, data, FIN, goAway, pattern, RST, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { endings, readAll } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { connect } from '../hazards/fixtures/connected.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

const ANSWER_BYTES = 40_000
const UNSENT_BYTES = 300_000

/** Each with the frames that stand behind the answer in its own chunk, and what happens later */
const ends: Record<string, { now?: Uint8Array, later?: (peer: Conversation, stream: YamuxStream) => void }> = {
  'a reset in the same chunk': { now: windowUpdate(1, 0, RST) },
  'a reset': { later: peer => { peer.deliver(windowUpdate(1, 0, RST)) } },
  'a GoAway that says why in the same chunk': { now: goAway(1) },
  'a GoAway that says why': { later: peer => { peer.deliver(goAway(1)) } },
  'the loss of the transport': { later: peer => { peer.transport.end(new Error('The cable was cut')) } },
  'a close of the transport while something is unsent': {
    later: (peer, stream) => {
      stream.send(new Uint8Array(UNSENT_BYTES))
      peer.transport.end()
    }
  }
}

const readers: Record<string, (stream: YamuxStream) => Promise<number>> = {
  'a loop': readAll,
  byteStream: async stream => {
    const bytes = byteStream(stream)
    let byteLength = 0

    for (let chunk = await bytes.read(); chunk !== null; chunk = await bytes.read()) {
      byteLength += chunk.byteLength
    }

    return byteLength
  }
}

describe.each(Object.entries(ends))('a complete answer, then %s', (name, { now, later }) => {
  const answer = concat(data(1, pattern(ANSWER_BYTES)), windowUpdate(1, 0, FIN), ...(now === undefined ? [] : [now]))

  test.each(Object.entries(readers))('is read to its end by %s, and the close event says how the stream ended', async (_, read) => {
    const { peer, stream } = await connect()
    const closes = endings(stream)
    const reading = read(stream)
    peer.deliver(answer)
    later?.(peer, stream)

    expect(await reading).toBe(ANSWER_BYTES)
    await nextTurn()
    expect(closes).toEqual([expect.objectContaining({ error: expect.any(Error) })])
  })

  test('is read to its end by a loop that begins when all is over', async () => {
    const { peer, stream } = await connect()
    peer.deliver(answer)
    later?.(peer, stream)
    await nextTurn()

    expect(stream.status).not.toBe('open')
    expect(await readAll(stream)).toBe(ANSWER_BYTES)
  })

  test('is read to its end by a loop that had the last chunk in hand', async () => {
    const { peer, stream } = await connect()
    let byteLength = 0
    const reading = (async () => {
      for await (const chunk of stream) {
        byteLength += chunk.byteLength
        await nextTurn()
      }
    })()
    peer.deliver(answer)
    later?.(peer, stream)
    await reading

    expect(byteLength).toBe(ANSWER_BYTES)
  })

  test('lets a reader put back what it did not use, and the next one read it', async () => {
    const { peer, stream } = await connect()
    const bytes = byteStream(stream)
    peer.deliver(answer)
    await bytes.read({ bytes: 10 })
    later?.(peer, stream)
    await nextTurn()
    bytes.unwrap()
    await nextTurn()

    expect(await readAll(stream)).toBe(ANSWER_BYTES - 10)
  })

  test('that is cut off before its FIN is an error', async () => {
    const { peer, stream } = await connect()
    const reading = readAll(stream)
    reading.catch(() => {})
    peer.deliver(data(1, pattern(ANSWER_BYTES)), ...(now === undefined ? [] : [now]))

    // a transport that closes in good order says so
    if (name.startsWith('a close')) {
      peer.transport.end()
    } else {
      later?.(peer, stream)
    }

    await expect(reading).rejects.toThrow()
  })
})

test('a program that aborts a stream which it has read to its end reads no error', async () => {
  const { peer, stream } = await connect()
  let byteLength = 0
  const reading = (async () => {
    for await (const chunk of stream) {
      byteLength += chunk.byteLength
      stream.abort(new Error('I have seen enough'))
    }
  })()
  peer.deliver(data(1, pattern(100)), windowUpdate(1, 0, FIN))
  await reading

  expect(byteLength).toBe(100)
})

test('a program that aborts a stream of which it has not read all gets its own error', async () => {
  const { peer, stream } = await connect()
  const reading = (async () => {
    for await (const chunk of stream) {
      await nextTurn()
      stream.abort(new Error(`I have seen enough after ${chunk.byteLength} bytes`))
    }
  })()
  peer.deliver(data(1, pattern(20_000)))
  peer.deliver(data(1, pattern(20_000)), windowUpdate(1, 0, FIN))

  await expect(reading).rejects.toThrow('I have seen enough after 20000 bytes')
})

test('a reader that comes late may put back what it has read, behind the FIN and when the stream is closed', async () => {
  const { peer, stream } = await connect()
  peer.deliver(data(1, pattern(100)), windowUpdate(1, 0, FIN))
  await stream.close()
  await nextTurn()
  const bytes = byteStream(stream)
  await bytes.read({ bytes: 40 })
  await nextTurn()
  expect([stream.status, stream.readStatus]).toEqual(['closed', 'closed'])
  bytes.unwrap()

  expect(stream.readStatus).toBe('readable')
  expect(await readAll(stream)).toBe(60)
  expect(stream.readStatus).toBe('closed')
})

test('a stream whose reading was closed here takes nothing back, whatever the peer has said', async () => {
  const { peer, stream } = await connect()
  peer.deliver(data(1, pattern(100)), windowUpdate(1, 0, FIN))
  await nextTurn()
  await stream.closeRead()

  expect(() => { stream.unshift(pattern(1)) }).toThrow(expect.objectContaining({ name: 'StreamStateError' }))
})
