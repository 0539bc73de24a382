// close() of a stream with a signal that is aborted, over TCP and Noise: what needs no waiting is done, and what does is given up.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ALL_PAIRS } from '../../testing/muxers.ts'
import { connectNodes } from './fixtures/connected-nodes.ts'
import type { ConnectedNodes } from './fixtures/connected-nodes.ts'
import type { Stream } from '@libp2p/interface'

/** More than any window of a new stream: where the peer seems to be far, as on a busy machine, ours has a head start, and 1,088 KiB */
const UNTAKEN_BYTES = 2_097_152
const MICROTASKS = 100

async function remoteClosed (stream: Stream): Promise<void> {
  if (stream.remoteWriteStatus !== 'closed') {
    await new Promise<void>(resolve => { stream.addEventListener('remoteCloseWrite', () => { resolve() }) })
  }
}

function soonAborted (): AbortSignal {
  const controller = new AbortController()
  queueMicrotask(() => { controller.abort() })

  return controller.signal
}

describe.each(ALL_PAIRS)('$dialler that dials $listener', names => {
  let nodes: ConnectedNodes

  beforeEach(async () => {
    nodes = await connectNodes(names)
  })

  afterEach(async () => {
    await nodes.stop()
  })

  test.each([
    ['is aborted', () => AbortSignal.abort(), 0],
    ['is aborted, behind a message', () => AbortSignal.abort(), 1000],
    ['will be in the same turn', soonAborted, 0],
    ['will be in the same turn, behind a message', soonAborted, 1000]
  ])('resolves when the peer is there to read, and the signal %s', async (_, createSignal, messageBytes) => {
    const [opened, accepted] = await nodes.open()
    accepted.addEventListener('message', () => {})

    if (messageBytes > 0) {
      opened.send(new Uint8Array(messageBytes))
    }

    await opened.close({ signal: createSignal() })
    expect(opened.writeStatus).toBe('closed')
    await remoteClosed(accepted)
  })

  // @libp2p/ping ends the process when an answer comes between a deadline and the end of close()
  test.each([
    ['nothing waits', 1000],
    ['the peer does not read', UNTAKEN_BYTES]
  ])('settles within the turn in which the signal is aborted when %s', async (_, messageBytes) => {
    const [opened, accepted] = await nodes.open()
    accepted.pause()
    opened.send(new Uint8Array(messageBytes))
    let isSettled = false
    const onSettled = (): void => { isSettled = true }
    opened.close({ signal: AbortSignal.abort() }).then(onSettled, onSettled)

    for (let i = 0; i < MICROTASKS; i++) {
      await null
    }

    expect(isSettled).toBe(true)
  })

  test.each([
    ['is aborted', () => AbortSignal.abort()],
    ['will be', () => AbortSignal.timeout(30)]
  ])('rejects behind data that the peer does not read, when the signal %s', async (_, createSignal) => {
    const [opened, accepted] = await nodes.open()
    accepted.pause()
    opened.send(new Uint8Array(UNTAKEN_BYTES))

    await expect(opened.close({ signal: createSignal() })).rejects.toThrow()
    expect([opened.status, opened.writeStatus]).toEqual(['open', 'closing'])
  })
})

test('a close() that rejects with why its stream ended does so also with a signal that is aborted', async () => {
  const nodes = await connectNodes({ dialler: 'ours', listener: 'ours' })
  const [opened, accepted] = await nodes.open()
  accepted.pause()
  opened.send(new Uint8Array(UNTAKEN_BYTES))
  const controller = new AbortController()
  const closing = opened.close({ signal: controller.signal })
  const reason = new Error('Enough')
  controller.abort()
  opened.abort(reason)

  await expect(closing).rejects.toBe(reason)
  await nodes.stop()
})
