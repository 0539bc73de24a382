// How many streams are opened before the peer has answered anything, and how opens wait for the peer.
import { describe, expect, test } from 'vitest'
import { ACK, data, DATA, FIN, PING, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { NO_LIMITS } from '../../testing/protocol/limits.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import { headers } from '../../testing/protocol/conversation.ts'
import { ROLES } from '../../testing/protocol/roles.ts'
import type { RawPeer, RawPeerInit } from '../../testing/protocol/raw-peer.ts'

/** @libp2p/yamux keeps so many streams for a program that does not listen yet */
const EARLY_STREAMS = 10

function dial (init: RawPeerInit): RawPeer {
  return createRawPeer({ ...init, limits: NO_LIMITS })
}

async function synIds (peer: RawPeer): Promise<number[]> {
  await nextTurn()

  return headers(peer.takeFrames()).filter(([type, flags]) => type !== PING && (flags & SYN) !== 0).map(([, , id]) => id)
}

describe.each(ROLES)('as $role', ({ direction, ownId }) => {
  const early = Array.from({ length: EARLY_STREAMS }, (_, i) => ownId + 2 * i)

  test.each([
    ['acknowledges one of them', windowUpdate(ownId, 0, ACK)],
    ['sends data on one of them', data(ownId, Uint8Array.of(1), ACK)],
    ['resets one of them', windowUpdate(ownId, 0, RST)],
    ['answers a ping', ping(0, ACK)]
  ])('D: ten streams are opened at once to a peer that has answered nothing, and the others when it %s', async (_, answer) => {
    const peer = dial({ direction, maxUnansweredStreams: EARLY_STREAMS })
    const opens = Promise.all(Array.from({ length: 40 }, async () => peer.muxer.createStream()))

    expect(await synIds(peer)).toEqual(early)
    peer.deliver(answer)
    expect((await opens).map(({ id }) => Number(id))).toEqual(Array.from({ length: 40 }, (_, i) => ownId + 2 * i))
    expect((await synIds(peer)).length).toBe(40 - EARLY_STREAMS)
  })

  test('D: a peer that has nothing to say on streams is asked by a ping when an eleventh is to be opened, once', async () => {
    const peer = dial({ direction, maxUnansweredStreams: EARLY_STREAMS })
    const opens = Array.from({ length: 30 }, async () => peer.muxer.createStream())
    await nextTurn()
    const pings = headers(peer.takeFrames()).filter(([type]) => type === PING)
    expect(pings).toHaveLength(1)
    peer.deliver(ping(pings[0][3], ACK))

    expect(await Promise.all(opens)).toHaveLength(30)
  })

  test('D: what a peer says by itself does not show that anybody listens there', async () => {
    const peer = dial({ direction, maxUnansweredStreams: EARLY_STREAMS })
    const opens = Promise.all(Array.from({ length: 11 }, async () => peer.muxer.createStream()))
    opens.catch(() => {})
    await nextTurn()
    peer.takeFrames()
    peer.deliver(ping(7, SYN), ping(1234, ACK), windowUpdate(ownId === 1 ? 2 : 1, 0, SYN))

    expect(await synIds(peer)).toEqual([])
    peer.muxer.abort(new Error('The test is over'))
    await expect(opens).rejects.toThrow()
  })
})

/** Answers each stream, and closes it, a turn after it was opened, until all opens are settled. Returns how many were open at most. */
async function serveShortly (peer: RawPeer, opens: Promise<unknown>): Promise<number> {
  let mostOpen = 0
  const until = { areSettled: false }
  const onSettled = opens.then(() => { until.areSettled = true })

  for (let turn = 0; turn < 1000 && !until.areSettled; turn++) {
    mostOpen = Math.max(mostOpen, peer.muxer.streams.length)
    const ids = headers(peer.takeFrames()).filter(([type, flags]) => (type === DATA || type === WINDOW_UPDATE) && (flags & SYN) !== 0).map(([, , id]) => id)

    if (ids.length > 0) {
      peer.deliver(...ids.map(id => windowUpdate(id, 0, ACK)), ...ids.map(id => windowUpdate(id, 0, FIN)))
    }

    await nextTurn()
  }

  await onSettled

  return mostOpen
}

test('opens that wait for the peer are not open: 3,000 short streams, 100 in a turn, pass a limit of 1,000', async () => {
  const peer = dial({ maxOutboundStreams: 1000 })
  const opens: Array<Promise<unknown>> = []

  for (let turn = 0; turn < 30; turn++) {
    for (let i = 0; i < 100; i++) {
      opens.push(peer.muxer.createStream().then(async stream => { await stream.close() }))
    }

    await null
  }

  const outcomes = Promise.allSettled(opens)
  expect(await serveShortly(peer, outcomes)).toBeLessThanOrEqual(1000)
  expect((await outcomes).filter(({ status }) => status === 'rejected')).toEqual([])
})

test('of 600 opens whose streams stay, 300 get one where maxOutboundStreams is 300, and the others an error when the limit is reached', async () => {
  const peer = dial({ maxOutboundStreams: 300 })
  const settled = Promise.allSettled(Array.from({ length: 600 }, async () => peer.muxer.createStream()))

  for (let turn = 0; turn < 20; turn++) {
    await nextTurn()
    const ids = headers(peer.takeFrames()).filter(([type, flags]) => type !== PING && (flags & SYN) !== 0).map(([, , id]) => id)
    ids.forEach(id => { peer.deliver(windowUpdate(id, 0, ACK)) })
  }

  const outcomes = await settled
  const reasons = outcomes.flatMap(outcome => outcome.status === 'rejected' ? [outcome.reason.name] : [])
  expect(outcomes.slice(0, 300).every(({ status }) => status === 'fulfilled')).toBe(true)
  expect(reasons).toEqual(Array.from({ length: 300 }, () => 'TooManyOutboundProtocolStreamsError'))
})

test('10,000 opens may wait for the peer, and one more is an error that says so', async () => {
  const peer = dial({ maxOutboundStreams: Infinity })
  const opens = Array.from({ length: 256 + 10_000 }, async () => peer.muxer.createStream())
  opens.forEach(open => { open.catch(() => {}) })
  await nextTurn()

  await expect(peer.muxer.createStream()).rejects.toThrow(/256 streams are open.*10000 wait for the peer/)
  peer.muxer.abort(new Error('The test is over'))
  expect((await Promise.allSettled(opens)).filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(10_000)
})
