// What the strictest of peers takes of what this side sends. Who refuses what is in docs/strict-peers.md.
import { describe, expect, test } from 'vitest'
import { ACK, concat, data, DATA, FIN, frame, goAway, pattern, PING, ping, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { StrictWire } from '../../testing/protocol/strict-peer.ts'
import { converse, headers, receive } from '../../testing/protocol/conversation.ts'
import { ROLES } from '../../testing/protocol/roles.ts'

const WINDOW_BYTES = 262_144

/** The frames of a dialler, and of a peer where it has said something: `peer` in front of what follows */
const REFUSED: Array<[what: string, frames: Array<Uint8Array | { peer: Uint8Array }>]> = [
  ['another version', [Uint8Array.of(1), windowUpdate(1, 0, SYN).subarray(1)]],
  ['another type', [frame(4, 0, 0)]],
  ['SYN and ACK in one frame', [windowUpdate(1, 0, SYN | ACK)]],
  ['SYN and FIN in one frame', [windowUpdate(1, 0, SYN | FIN)]],
  ['ACK and FIN in one frame', [{ peer: windowUpdate(2, 0, SYN) }, windowUpdate(2, 0, ACK | FIN)]],
  ['a flag that there is not', [windowUpdate(1, 0, SYN), windowUpdate(1, 1, 16)]],
  ['data on the session', [data(0, pattern(1), SYN)]],
  ['a ping on a stream', [frame(PING, SYN, 1, 7)]],
  ['a ping without a flag', [ping(7, 0)]],
  ['a pong that nobody waits for', [ping(7, ACK)]],
  ['a pong of another value', [{ peer: ping(7, SYN) }, ping(8, ACK)]],
  ['a second pong', [{ peer: ping(7, SYN) }, ping(7, ACK), ping(7, ACK)]],
  ['a GoAway with a flag', [frame(3, SYN, 0)]],
  ['a GoAway code that not all know', [goAway(3)]],
  ['what is said of a stream behind GoAway', [goAway(0), windowUpdate(1, 0, SYN)]],
  ['a stream id of the peer', [windowUpdate(2, 0, SYN)]],
  ['SYN twice', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, SYN)]],
  ['a stream without SYN', [data(1, pattern(1))]],
  ['ACK twice', [{ peer: windowUpdate(2, 0, SYN) }, windowUpdate(2, 0, ACK), windowUpdate(2, 0, ACK)]],
  ['ACK for a stream of its own', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, ACK)]],
  ['an answer without ACK', [{ peer: windowUpdate(2, 0, SYN) }, data(2, pattern(1))]],
  ['a frame that says nothing', [windowUpdate(1, 0, SYN), data(1, pattern(0))]],
  ['data beyond the window', [data(1, pattern(WINDOW_BYTES), SYN), data(1, pattern(1))]],
  ['a frame of more than 1 MiB', [windowUpdate(1, 0, SYN), { peer: windowUpdate(1, 2_000_000, ACK) }, frame(DATA, 0, 1, 1_048_577)]],
  ['credit of 2 GiB in all', [windowUpdate(1, 0x7fff_ffff, SYN)]],
  ['data behind FIN', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, FIN), data(1, pattern(1))]],
  ['FIN twice', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, FIN), windowUpdate(1, 0, FIN)]],
  ['credit behind FIN for a peer that has enough', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, FIN), { peer: data(1, pattern(1000), ACK) }, windowUpdate(1, 1000)]],
  ['credit behind both FINs', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, FIN), { peer: windowUpdate(1, 0, ACK | FIN) }, windowUpdate(1, 1000)]],
  ['credit behind the FIN of the peer', [windowUpdate(1, 0, SYN), { peer: windowUpdate(1, 0, FIN) }, windowUpdate(1, 1000)]],
  ['RST on data', [windowUpdate(1, 0, SYN), data(1, pattern(0), RST)]],
  ['RST twice', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, RST), windowUpdate(1, 0, RST)]],
  ['data behind RST', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, RST), data(1, pattern(1))]],
  ['credit behind RST', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, RST), windowUpdate(1, 1)]],
  ['FIN behind RST', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, RST), windowUpdate(1, 0, FIN)]],
  ['data behind the RST of the peer', [windowUpdate(1, 0, SYN), { peer: windowUpdate(1, 0, RST) }, data(1, pattern(1))]]
]

const TAKEN: typeof REFUSED = [
  ['SYN with data, data, FIN', [data(1, pattern(10), SYN), data(1, pattern(10)), windowUpdate(1, 0, FIN)]],
  ['SYN and ACK with a larger window', [windowUpdate(1, 1_048_576, SYN), { peer: windowUpdate(2, 0, SYN) }, windowUpdate(2, 1_048_576, ACK)]],
  ['streams that are not opened in order', [windowUpdate(3, 0, SYN), windowUpdate(1, 0, SYN)]],
  ['credit behind FIN for a peer that needs it', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, FIN), { peer: data(1, pattern(140_000), ACK) }, windowUpdate(1, 140_000)]],
  ['credit with FIN', [windowUpdate(1, 0, SYN), { peer: data(1, pattern(1000), ACK) }, windowUpdate(1, 1000, FIN)]],
  ['a RST that crosses the peer\'s', [windowUpdate(1, 0, SYN), { peer: windowUpdate(1, 0, RST) }, windowUpdate(1, 7, RST)]],
  ['a RST behind FIN', [windowUpdate(1, 0, SYN), windowUpdate(1, 0, FIN), windowUpdate(1, 0, RST)]],
  ['a refusal', [{ peer: windowUpdate(2, 0, SYN) }, windowUpdate(2, 0, RST)]],
  ['pongs in any order, also of the same value', [{ peer: concat(ping(1, SYN), ping(2, SYN), ping(2, SYN)) }, ping(2, ACK), ping(1, ACK), ping(2, ACK)]]
]

function judge (frames: typeof REFUSED[number][1]): void {
  const wire = new StrictWire(true)

  for (const item of frames) {
    if ('peer' in item) {
      wire.received(item.peer)
    } else {
      // cut anywhere
      wire.wrote(item.subarray(0, 5))
      wire.wrote(item.subarray(5))
    }
  }
}

describe('the strictest of peers', () => {
  test.each(REFUSED)('refuses %s', (_, frames) => {
    expect(() => { judge(frames) }).toThrow()
    expect(() => { judge(frames.slice(0, -1)) }).not.toThrow()
  })

  test.each(TAKEN)('takes %s', (_, frames) => {
    expect(() => { judge(frames) }).not.toThrow()
  })
})

describe.each(ROLES)('as $role', ({ direction, ownId, peerId }) => {
  test('D: no frame has two flags, whatever a stream does in one turn', async () => {
    const peer = converse({ direction, streamOptions: { initialStreamWindowSize: 1_000_000 } })
    peer.muxer.addEventListener('stream', evt => { evt.detail.close().catch(() => {}) })
    peer.deliver(data(peerId, pattern(WINDOW_BYTES), SYN))
    const closed = await peer.muxer.createStream()
    const closedWithData = await peer.muxer.createStream()
    const aborted = await peer.muxer.createStream()
    closedWithData.send(pattern(3))
    await Promise.all([closed.close(), closedWithData.close()])
    aborted.send(pattern(3))
    aborted.abort(new Error('Enough'))

    const flags = new Set((await peer.written()).map(([, flags]) => flags))
    expect([...flags].sort()).toEqual(expect.arrayContaining([SYN, ACK, FIN]))
    expect([...flags].filter(flags => ![0, SYN, ACK, FIN, RST].includes(flags))).toEqual([])
  })

  test('D: nothing comes behind RST, whatever was queued, read or received', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    receive(stream)
    stream.send(pattern(2 * WINDOW_BYTES))
    peer.deliver(data(ownId, pattern(WINDOW_BYTES), ACK))
    stream.abort(new Error('Enough'))
    stream.close().catch(() => {})
    peer.deliver(windowUpdate(ownId, WINDOW_BYTES), data(ownId, pattern(5)), windowUpdate(ownId, 0, FIN))
    await nextTurn()

    const frames = headers(peer.takeFrames()).filter(([type]) => type !== PING)
    expect(frames.findIndex(([, flags]) => flags === RST)).toBe(frames.length - 1)
    peer.deliver(windowUpdate(ownId, 0, RST))
    expect(await peer.written()).toEqual([])
  })
})
