// The flow control rule for streams that end: a side that has said FIN or RST is given no more credit.
import { describe, expect, test } from 'vitest'
import { ACK, data, FIN, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, expectAlive, readAll, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { ROLES } from '../../testing/protocol/roles.ts'

const GROWN = { streamOptions: { initialStreamWindowSize: 2 ** 20 } }

describe.each(ROLES)('as $role', ({ direction, ownId, peerId }) => {
  test.each(['with the data', 'behind the data'])('D: no window update once the remote has sent FIN %s', async when => {
    const peer = converse({ direction })
    const received = receive(await peer.open())

    if (when === 'with the data') {
      peer.deliver(data(ownId, pattern(WINDOW_BYTES), FIN))
    } else {
      peer.deliver(data(ownId, pattern(WINDOW_BYTES)), windowUpdate(ownId, 0, FIN))
    }

    expect(received.byteLength).toBe(WINDOW_BYTES)
    expect(await peer.written()).toEqual([])
  })

  test('D: no window update once the remote has sent FIN, also when the data is read later', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.deliver(data(ownId, pattern(WINDOW_BYTES)), windowUpdate(ownId, 0, FIN))
    await nextTurn()

    expect(await readAll(stream)).toBe(WINDOW_BYTES)
    expect(await peer.written()).toEqual([])
  })

  test('D: no window update once the remote has sent FIN: one that waits for the transport is withdrawn', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    receive(stream)
    peer.transport.isFull = true
    stream.send(pattern(1))
    await peer.written()
    peer.deliver(data(ownId, pattern(WINDOW_BYTES)))
    peer.deliver(windowUpdate(ownId, 0, FIN))
    peer.transport.drain()

    expect(await peer.written()).toEqual([])
  })

  test('D: no window update once the remote has sent FIN: a larger window is not advertised to it', async () => {
    const peer = converse({ direction, ...GROWN })
    peer.deliver(data(peerId, pattern(10), SYN | FIN))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, ACK, peerId, 0]])
  })

  test('D: no window update once the remote has sent RST', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.deliver(data(ownId, pattern(WINDOW_BYTES)))
    await nextTurn()
    peer.deliver(windowUpdate(ownId, 0, RST))
    const received = receive(stream)
    await nextTurn()

    expect(received.byteLength).toBe(WINDOW_BYTES)
    expect(await peer.written()).toEqual([])
    await expectAlive(peer)
  })

  test('D: no window update once the remote has sent RST: one that waits for the transport is withdrawn', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    receive(stream)
    peer.transport.isFull = true
    stream.send(pattern(1))
    await peer.written()
    peer.deliver(data(ownId, pattern(WINDOW_BYTES)))
    peer.deliver(windowUpdate(ownId, 0, RST))
    peer.transport.drain()

    expect(await peer.written()).toEqual([])
  })

  test.each([{}, GROWN])('D: no window update, and no ACK, for a stream the remote resets before its ACK: options %j', async options => {
    const peer = converse({ direction, ...options })
    peer.deliver(windowUpdate(peerId, 0, SYN), windowUpdate(peerId, 0, RST))

    expect(await peer.written()).toEqual([])
    await expectAlive(peer)
  })
})
