// What a muxer does with bytes no peer may send: it names the rule, says GoAway once, closes, and leaves nobody waiting.
import { describe, expect, test } from 'vitest'
import { ProtocolError } from '../../src/index.ts'
import { concat, data, FIN, GO_AWAY, pattern, ping, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectEnded, headers, hex, readAll, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { ROLES } from '../../testing/protocol/roles.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'
import type { Role } from '../../testing/protocol/roles.ts'
import type { ProtocolErrorCode } from '../../src/index.ts'

forbidIncidents()

interface Violation {
  name: string
  code: ProtocolErrorCode
  /** Numbers that the error names */
  numbers: RegExp
  bytes (role: Role): Uint8Array[]
}

const MAX_UINT32 = 0xffff_ffff

const VIOLATIONS: Violation[] = [
  { name: 'another version', code: 'ERR_INVALID_FRAME', numbers: /version 7\b/, bytes: () => [hex('07 02 0001 00000000 00000000')] },
  { name: 'another type', code: 'ERR_INVALID_FRAME', numbers: /type 9\b/, bytes: () => [hex('00 09 0000 00000000 00000000')] },
  { name: 'Data on the session\'s id', code: 'ERR_INVALID_FRAME', numbers: /type 0 on stream id 0\b/, bytes: () => [hex('00 00 0000 00000000 00000001 ff')] },
  { name: 'Ping on a stream\'s id', code: 'ERR_INVALID_FRAME', numbers: /type 2 on stream id 77\b/, bytes: () => [hex('00 02 0001 0000004d 00000001')] },
  { name: 'SYN of the wrong parity', code: 'ERR_INVALID_STREAM_ID', numbers: /stream 400[12]\b/, bytes: ({ ownId }) => [windowUpdate(4000 + ownId, 0, SYN)] },
  { name: 'SYN on a live id', code: 'ERR_INVALID_STREAM_ID', numbers: /stream [12]\b/, bytes: ({ peerId }) => [data(peerId, pattern(3), SYN)] },
  { name: 'SYN on a used id', code: 'ERR_INVALID_STREAM_ID', numbers: /stream [34]\b/, bytes: ({ secondPeerId }) => [windowUpdate(secondPeerId, 0, SYN), windowUpdate(secondPeerId, 0, RST), windowUpdate(secondPeerId, 0, SYN)] },
  { name: 'one byte too many', code: 'ERR_RECEIVE_WINDOW_EXCEEDED', numbers: /\b1 bytes on stream [12]\b.*\b0\b/, bytes: ({ peerId }) => [data(peerId, pattern(WINDOW_BYTES)), data(peerId, pattern(1))] },
  { name: 'a header of 4 GiB', code: 'ERR_RECEIVE_WINDOW_EXCEEDED', numbers: /\b4294967295\b.*\b262144\b/, bytes: ({ peerId }) => [hex(`00 00 0000 0000000${peerId} ffffffff`)] },
  { name: 'a header of 4 GiB with SYN', code: 'ERR_RECEIVE_WINDOW_EXCEEDED', numbers: /\b4294967295\b.*\b262144\b/, bytes: ({ peerId }) => [hex(`00 00 0001 0000100${peerId} ffffffff`)] },
  { name: 'a header of 4 GiB for no stream', code: 'ERR_RECEIVE_WINDOW_EXCEEDED', numbers: /\b4294967295\b.*\b\d+$/, bytes: ({ peerId }) => [hex(`00 00 0000 0000100${peerId} ffffffff`)] },
  { name: 'a header of 4 GiB with RST', code: 'ERR_RECEIVE_WINDOW_EXCEEDED', numbers: /\b4294967295\b.*\b262144\b/, bytes: ({ peerId }) => [hex(`00 00 0008 0000000${peerId} ffffffff`)] },
  { name: 'too much with SYN', code: 'ERR_RECEIVE_WINDOW_EXCEEDED', numbers: /\b262145\b.*\b262144\b/, bytes: ({ peerId }) => [data(peerId + 100, pattern(WINDOW_BYTES + 1), SYN)] },
  { name: 'too large a grant', code: 'ERR_SEND_WINDOW_OVERFLOW', numbers: /\b4294967295\b/, bytes: ({ ownId }) => [windowUpdate(ownId, MAX_UINT32), windowUpdate(ownId, MAX_UINT32)] },
  { name: 'too large a grant with SYN', code: 'ERR_SEND_WINDOW_OVERFLOW', numbers: /\b4294967295\b/, bytes: ({ peerId }) => [windowUpdate(peerId + 100, MAX_UINT32, SYN)] },
  { name: 'Data after FIN', code: 'ERR_DATA_AFTER_FIN', numbers: /\b6 bytes on stream [12]\b/, bytes: ({ peerId }) => [windowUpdate(peerId, 0, FIN), data(peerId, pattern(6))] }
]

interface Waiting {
  peer: Conversation
  /** All that the application waits for */
  promises: Record<string, Promise<unknown>>
}

/** A muxer with streams in every state, and somebody waiting for everything one can wait for */
async function everybodyWaits (direction: Role['direction']): Promise<Waiting> {
  const peer = converse({ direction })
  await peer.accept(direction === 'outbound' ? 2 : 1)
  const [draining, closing, looping] = [await peer.open(), await peer.open(), await peer.open()]
  peer.deliver(...[draining, closing, looping].map(({ id }) => windowUpdate(Number(id), 0, 2)))
  draining.send(pattern(3 * WINDOW_BYTES))
  closing.send(pattern(3 * WINDOW_BYTES))
  await Promise.all(Array.from({ length: 256 }, async () => peer.muxer.createStream()))
  const promises = {
    drain: draining.onDrain(),
    close: closing.close(),
    loop: readAll(looping),
    open: peer.muxer.createStream(),
    ping: peer.muxer.ping()
  }

  for (const promise of Object.values(promises)) {
    promise.catch(() => {})
  }

  await peer.written()

  return { peer, promises }
}

/** How each ended; 'pending' for those that have not */
async function settle (promises: Record<string, Promise<unknown>>): Promise<Record<string, unknown>> {
  const results: Record<string, unknown> = {}

  for (const [name, promise] of Object.entries(promises)) {
    results[name] = 'pending'
    promise.then(value => { results[name] = value }, err => { results[name] = err })
  }

  await nextTurn()

  return results
}

describe.each(ROLES)('as $role', role => {
  const { direction, ownId, peerId } = role

  test.each(VIOLATIONS)('$name: all streams get a coded error with the numbers, GoAway(1) is the last frame, the transport is closed', async ({ bytes, code, numbers }) => {
    const { peer } = await everybodyWaits(direction)
    const streams = peer.muxer.streams
    const events = streams.map(endings)
    peer.deliver(...bytes(role))

    for (const [i, ends] of events.entries()) {
      expect(ends, `stream ${streams[i].id}`).toEqual([expect.objectContaining({ error: expect.any(ProtocolError) })])
      expect(ends[0].error).toMatchObject({ code, goAwayCode: 1, message: expect.stringMatching(numbers) })
      expect(streams[i].readBufferLength).toBe(0)
    }

    await expectEnded(peer, 1)
  })

  test.each(VIOLATIONS)('$name: all that waits is settled, and what is asked for later is refused', async ({ bytes, code }) => {
    const { peer, promises } = await everybodyWaits(direction)
    peer.deliver(...bytes(role))

    expect(await settle(promises)).toEqual({
      drain: expect.objectContaining({ code }),
      close: expect.objectContaining({ code }),
      loop: expect.objectContaining({ code }),
      open: expect.objectContaining({ name: 'MuxerClosedError' }),
      ping: expect.objectContaining({ name: 'MuxerClosedError' })
    })
    await expect(peer.muxer.createStream()).rejects.toThrow(expect.objectContaining({ name: 'MuxerClosedError' }))
    await expect(peer.muxer.ping()).rejects.toThrow(expect.objectContaining({ name: 'MuxerClosedError' }))
    await peer.muxer.close()
    peer.muxer.abort(new Error('Once more'))
    peer.transport.drain()
    await expectEnded(peer, 1)
  })

  test.each(VIOLATIONS)('$name: nothing that follows is processed or kept, in the same chunk or later', async ({ bytes }) => {
    const peer = converse({ direction })
    const stream = await peer.accept(peerId)
    await peer.open()
    const more = [data(peerId, pattern(10)), windowUpdate(peerId + 200, 0, SYN), ping(1, SYN), windowUpdate(ownId, 0, FIN)]
    peer.deliver(concat(...bytes(role), ...more))
    const opened = peer.inbound.length
    await expectEnded(peer, 1)
    peer.deliver(...more)
    peer.deliver(...bytes(role))

    expect(peer.inbound.length).toBe(opened)
    expect(peer.inbound.some(({ id }) => id === String(peerId + 200))).toBe(false)
    expect(stream.readBufferLength).toBe(0)
    expect(await peer.written()).toEqual([])
  })

  test('a violation during close(): close() resolves, and GoAway is said once', async () => {
    const { peer, promises } = await everybodyWaits(direction)
    const closed = peer.muxer.close()
    peer.deliver(hex('07 02 0001 00000000 00000000'))

    expect(await settle({ closed, ...promises })).not.toContain('pending')
    await expect(closed).resolves.toBeUndefined()
    await expectEnded(peer, 1)
  })

  test.each(['before', 'after'])('a violation in the chunk in which the application aborts everything, %s it: GoAway is said once', async order => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.addEventListener('message', () => { peer.muxer.abort(new Error('Enough')) })
    const parts = [data(ownId, pattern(3)), hex('07 02 0001 00000000 00000000')]
    peer.deliver(...(order === 'after' ? parts : parts.toReversed()))
    await nextTurn()
    const goAways = headers(peer.takeFrames()).filter(([type]) => type === GO_AWAY)

    expect(goAways).toHaveLength(1)
    expect(peer.muxer.status).toBe('closed')
  })
})
