// What programs hand in as a signal though it is none, or fails: calls do as without a signal, or reject. Nothing is left half done.
import { describe, expect, test } from 'vitest'
import { FIN, GO_AWAY } from '../../testing/protocol/frames.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import { NO_SIGNALS } from './fixtures/signals.ts'

forbidIncidents()

describe.each(Object.entries(NO_SIGNALS))('a signal that is %s', (_, value) => {
  const options = { signal: value as AbortSignal }

  test('does not keep the muxer from closing', async () => {
    const { muxer, takeFrames } = createRawPeer()
    const stream = await muxer.createStream()
    stream.send(Uint8Array.of(1))
    await muxer.close(options)
    await nextTurn()

    expect([muxer.status, muxer.streams.length, takeFrames().at(-1)?.type]).toEqual(['closed', 0, GO_AWAY])
  })

  test('lets a second close() of the muxer wait for the first', async () => {
    const { muxer } = createRawPeer()
    const closing = muxer.close()
    await muxer.close(options).catch(() => {})
    await closing

    expect(muxer.status).toBe('closed')
  })

  test('does not keep a stream from closing', async () => {
    const { muxer, takeFrames } = createRawPeer()
    const stream = await muxer.createStream()
    await stream.close(options).catch(() => {})
    await nextTurn()

    expect(stream.writeStatus).toBe('closed')
    expect(takeFrames().at(-1)?.flags).toBe(FIN)
  })

  test('opens a stream, or rejects and opens none', async () => {
    const { muxer } = createRawPeer()
    const isOpened = await muxer.createStream(options).then(() => true, () => false)

    expect(muxer.streams).toHaveLength(isOpened ? 1 : 0)
  })

  test('adds a listener, or throws and adds none', async () => {
    const { muxer } = createRawPeer()
    const stream = await muxer.createStream()
    let isAdded = true

    try {
      stream.addEventListener('message', () => {}, options)
    } catch {
      isAdded = false
    }

    expect(stream.listenerCount('message')).toBe(isAdded ? 1 : 0)
  })
})
