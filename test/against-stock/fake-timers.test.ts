// Applications' tests that replace the timers, as `vi.useFakeTimers()` does: time stands still, and nodes go on. Over TCP and Noise.
import { pEvent } from 'p-event'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ALL_PAIRS } from '../../testing/muxers.ts'
import { connectNodes } from './fixtures/connected-nodes.ts'
import type { ConnectedNodes } from './fixtures/connected-nodes.ts'
import type { Stream } from '@libp2p/interface'

const MESSAGES = 20
const MESSAGE_BYTES = 1000
/** More than the first window */
const LARGE_BYTES = 640 * 1024

async function writeThenRead (stream: Stream): Promise<number> {
  stream.send(new Uint8Array(LARGE_BYTES))

  if (stream.writeBufferLength > 0) {
    await pEvent(stream, 'idle', { rejectionEvents: ['close'] })
  }

  let receivedBytes = 0

  for await (const chunk of stream) {
    receivedBytes += chunk.byteLength

    if (receivedBytes >= LARGE_BYTES) {
      break
    }
  }

  return receivedBytes
}

describe.each(ALL_PAIRS)('$dialler that dials $listener', names => {
  let nodes: ConnectedNodes

  beforeEach(async () => {
    nodes = await connectNodes(names)
    vi.useFakeTimers()
  })

  afterEach(async () => {
    vi.useRealTimers()
    await nodes.stop()
  })

  // each message in an await of its own, so that one turn of the event loop has more of them than it has writes
  test('messages and the end of a stream arrive while time stands still', async () => {
    const [opened, accepted] = await nodes.open()
    const arrived = new Promise<number>(resolve => {
      let receivedBytes = 0
      accepted.addEventListener('message', ({ data }) => { receivedBytes += data.byteLength })
      accepted.addEventListener('remoteCloseWrite', () => { resolve(receivedBytes) })
    })

    for (let i = 0; i < MESSAGES; i++) {
      opened.send(new Uint8Array(MESSAGE_BYTES))

      for (let j = 0; j < 10; j++) {
        await Promise.resolve()
      }
    }

    await opened.close()
    expect(await arrived).toBe(MESSAGES * MESSAGE_BYTES)
  })

  test('a connection lives when two minutes pass within one call, as a program\'s own timers are tested', async () => {
    vi.advanceTimersByTime(120_000)
    const [opened, accepted] = await nodes.open()
    const arrived = new Promise<number>(resolve => { accepted.addEventListener('message', ({ data }) => { resolve(data.byteLength) }) })
    opened.send(new Uint8Array(MESSAGE_BYTES))

    expect(await arrived).toBe(MESSAGE_BYTES)
    expect(nodes.dialler.connection.status).toBe('open')
    expect(nodes.listener.connection.status).toBe('open')
  })

  test('two ends that both write more than a window before they read get it all while time stands still', async () => {
    const ends = await nodes.open()

    expect(await Promise.all(ends.map(writeThenRead))).toEqual([LARGE_BYTES, LARGE_BYTES])
  })

  test('a connection is closed while time stands still', async () => {
    const [opened] = await nodes.open()
    opened.send(new Uint8Array(MESSAGE_BYTES))
    await nodes.dialler.connection.close()
    expect(nodes.dialler.connection.status).toBe('closed')
  })
})
