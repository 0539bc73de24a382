// A connection that is closed: its transport is not closed before the peer has read what was sent.
import { describe, expect, test, vi } from 'vitest'
import { ACK, data, DATA, FIN, GO_AWAY, goAway, parseFrames, pattern, ping, PING, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import type { RawPeer } from '../../testing/protocol/raw-peer.ts'

async function sendAndClose (peer: RawPeer): Promise<{ isClosed (): boolean, closing: Promise<void> }> {
  const stream = await peer.muxer.createStream()
  peer.deliver(windowUpdate(1, 0, ACK))
  stream.send(pattern(1000))
  await nextTurn()
  let isClosed = false
  const closing = peer.muxer.close().then(() => { isClosed = true })
  await nextTurn()

  return { isClosed: () => isClosed, closing }
}

describe('a muxer that is closed', () => {
  test('waits until a ping behind its last data is answered', async () => {
    const peer = createRawPeer()
    const { isClosed, closing } = await sendAndClose(peer)
    const frames = peer.takeFrames()

    expect(frames.map(({ type, flags }) => [type, flags])).toEqual([[WINDOW_UPDATE, SYN], [DATA, 0], [PING, SYN], [WINDOW_UPDATE, FIN]])
    expect(isClosed()).toBe(false)
    expect(peer.muxer.status).toBe('closing')

    peer.deliver(ping(frames[2].length, ACK))
    await closing
    expect(peer.takeFrames().map(({ type }) => type)).toEqual([GO_AWAY])
    expect(peer.muxer.status).toBe('closed')
  })

  test('is not content with the answer to an earlier ping', async () => {
    const peer = createRawPeer()
    const measured = peer.muxer.ping()
    await nextTurn()
    const [early] = peer.takeFrames()
    const { isClosed, closing } = await sendAndClose(peer)
    const last = peer.takeFrames().find(({ type }) => type === PING)

    peer.deliver(ping(early.length, ACK))
    await nextTurn()
    expect(isClosed()).toBe(false)

    peer.deliver(ping(last?.length ?? 0, ACK))
    await closing
    await measured
  })

  test('waits for a second at most when no answer comes, which is less than it gives a peer that does not accept what is queued', async () => {
    const timeouts = new Map<number, AbortController>()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(delayMs => {
      const controller = new AbortController()
      timeouts.set(delayMs, controller)

      return controller.signal
    })
    const { isClosed, closing } = await sendAndClose(createRawPeer())
    timeout.mockRestore()
    const shortestMs = Math.min(...timeouts.keys())

    expect(timeouts.size).toBe(2)
    expect(shortestMs).toBeLessThanOrEqual(1000)
    expect(isClosed()).toBe(false)
    timeouts.get(shortestMs)?.abort()
    await closing
  })

  test('is closed when its signal comes meanwhile, as the transport has everything', async () => {
    const peer = createRawPeer()
    const stream = await peer.muxer.createStream()
    stream.send(pattern(1000))
    await nextTurn()
    const controller = new AbortController()
    const closing = peer.muxer.close({ signal: controller.signal })
    await nextTurn()
    peer.takeFrames()
    controller.abort(new Error('Too slow'))
    await closing

    expect(peer.takeFrames().map(({ type }) => type)).toEqual([GO_AWAY])
    expect(peer.muxer.status).toBe('closed')
  })

  test('does not wait when its transport ends meanwhile', async () => {
    const peer = createRawPeer()
    const { closing } = await sendAndClose(peer)
    peer.transport.end()

    await closing
    expect(peer.muxer.status).toBe('closed')
  })

  test('answers no ping behind its GoAway: its transport is about to be closed', async () => {
    const peer = createRawPeer()
    await peer.muxer.close()
    peer.takeFrames()
    peer.deliver(ping(7, SYN))
    await nextTurn()

    expect(peer.takeFrames()).toEqual([])
  })

  test('delivers nothing meanwhile: its streams have ended', async () => {
    const peer = createRawPeer()
    const stream = await peer.muxer.createStream()
    const events: string[] = []
    stream.addEventListener('message', () => { events.push('message') })
    stream.addEventListener('close', ({ error }) => { events.push(`close ${String(error)}`) })
    stream.send(pattern(10))
    await nextTurn()
    const closing = peer.muxer.close()
    await nextTurn()
    peer.deliver(data(1, pattern(10), ACK))
    expect(events).toEqual(['close undefined'])

    peer.deliver(ping(peer.takeFrames().find(({ type }) => type === PING)?.length ?? 0, ACK))
    await closing
    expect(events).toHaveLength(1)
  })

  test('refuses a stream that the peer opens meanwhile', async () => {
    const peer = createRawPeer()
    const { closing } = await sendAndClose(peer)
    const last = peer.takeFrames().find(({ type }) => type === PING)
    peer.deliver(data(2, pattern(10), SYN))
    await nextTurn()
    expect(peer.takeFrames().map(({ type, flags, id }) => [type, flags, id])).toEqual([[WINDOW_UPDATE, RST, 2]])

    peer.deliver(ping(last?.length ?? 0, ACK))
    await closing
  })

  test('asks nothing when it has sent nothing since a ping was answered', async () => {
    const peer = createRawPeer()
    const stream = await peer.muxer.createStream()
    stream.send(pattern(10))
    await nextTurn()
    peer.muxer.ping().catch(() => {})
    await nextTurn()
    peer.deliver(ping(peer.takeFrames().find(({ type }) => type === PING)?.length ?? 0, ACK))
    await peer.muxer.close()

    expect(peer.takeFrames().map(({ type }) => type)).toEqual([WINDOW_UPDATE, GO_AWAY])
  })

  test('asks nothing of a peer that has gone away: a write might meet the end of its transport', async () => {
    const peer = createRawPeer()
    const stream = await peer.muxer.createStream()
    stream.send(pattern(10))
    await nextTurn()
    peer.takeFrames()
    peer.deliver(goAway(0))
    await peer.muxer.close()

    expect(peer.takeFrames().map(({ type }) => type)).not.toContain(PING)
  })
  test('asks in one write with its FINs, when no data is left to go before: a peer that closes as well may be gone before a second', async () => {
    const peer = createRawPeer()
    await sendAndClose(peer)

    expect(peer.takeWrites().map(write => parseFrames(write.subarray()).map(({ type }) => type)).at(-1)).toEqual([PING, WINDOW_UPDATE])
  })

  test('waits for no answer of a peer that goes away meanwhile', async () => {
    const peer = createRawPeer()
    const { closing } = await sendAndClose(peer)
    peer.takeFrames()
    peer.deliver(goAway(0))
    await closing

    expect(peer.takeFrames()).toEqual([])
    expect(peer.transport.status).toBe('open')
  })

  test('says no GoAway to a peer that says one right behind its answer', async () => {
    const peer = createRawPeer()
    const { closing } = await sendAndClose(peer)
    const last = peer.takeFrames().find(({ type }) => type === PING)
    peer.deliver(ping(last?.length ?? 0, ACK))
    await Promise.resolve()
    peer.deliver(goAway(0))
    await closing

    expect(peer.takeFrames()).toEqual([])
  })
})
