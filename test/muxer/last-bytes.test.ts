// A connection that is closed: its transport is not closed before the peer has read what was sent.
import { describe, expect, test } from 'vitest'
import { ACK, data, DATA, FIN, GO_AWAY, goAway, pattern, ping, PING, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../fixtures/frames.ts'
import { createRawPeer, nextTurn } from '../fixtures/raw-peer.ts'
import type { RawPeer } from '../fixtures/raw-peer.ts'

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

    expect(frames.map(({ type, flags }) => [type, flags])).toEqual([[WINDOW_UPDATE, SYN], [DATA, 0], [WINDOW_UPDATE, FIN], [PING, SYN]])
    expect(isClosed()).toBe(false)
    expect(peer.muxer.status).toBe('closing')

    peer.deliver(ping(frames[3].length, ACK))
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

  test('waits for a moment only when no answer comes', async () => {
    const { closing } = await sendAndClose(createRawPeer())

    await closing
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
})
