// Faults that js muxers were reported for, in how they close and give up. Each test is named after the report.
import { concat } from 'uint8arrays/concat'
import { equals } from 'uint8arrays/equals'
import { describe, expect, test, vi } from 'vitest'
import { ACK, data, DATA, FIN, GO_AWAY, pattern, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { NO_LIMITS } from '../../testing/protocol/limits.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { controlTimeouts } from '../../testing/protocol/timeouts.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

const MEBIBYTE = 2 ** 20

describe('closing', () => {
  const timeouts = controlTimeouts()

  async function blockedByWindow (): Promise<{ peer: Conversation, stream: YamuxStream }> {
    const peer = converse({ clock: timeouts.clock })
    const stream = await peer.open()
    stream.send(pattern(2 * WINDOW_BYTES))
    await peer.written()

    return { peer, stream }
  }

  test('what was queued was cut off by close(): 8 MiB arrive, and then one FIN', async () => {
    const peer = converse()
    const stream = await peer.open()
    const bytes = pattern(8 * MEBIBYTE)
    stream.send(bytes)
    const closing = stream.close()
    const frames = []

    for (let granted = WINDOW_BYTES; granted <= 9 * MEBIBYTE; granted += WINDOW_BYTES) {
      await nextTurn()
      frames.push(...peer.takeFrames())
      peer.deliver(windowUpdate(1, WINDOW_BYTES))
    }

    await closing
    expect(equals(concat(frames.map(({ payload }) => payload)), bytes)).toBe(true)
    expect(frames.filter(({ flags }) => (flags & FIN) !== 0)).toEqual([frames.at(-1)])
  })

  test('close() on a stream that the window blocks hung: it honours its signal, and the peer still gets all when it grants more', async () => {
    const { peer, stream } = await blockedByWindow()
    const controller = new AbortController()
    const closing = stream.close({ signal: controller.signal })
    controller.abort(new Error('Too slow'))
    await expect(closing).rejects.toThrow()

    peer.deliver(windowUpdate(1, WINDOW_BYTES))
    const frames = await peer.written()
    expect(frames.reduce((sum, [type, , , length]) => type === DATA ? sum + length : sum, 0)).toBe(WINDOW_BYTES)
    expect(frames.at(-1)?.[1]).toBe(FIN)
  })

  test.each(['its own timeout', 'its signal'])('close() of the muxer hung: with a stream that the window blocks it is bounded by %s', async bound => {
    const { peer, stream } = await blockedByWindow()
    const controller = new AbortController()
    const closing = Promise.allSettled([peer.muxer.close(bound === 'its signal' ? { signal: controller.signal } : {})])
    await nextTurn()
    expect(peer.muxer.status).toBe('closing')
    controller.abort(new Error('Too slow'))
    await timeouts.expire()

    await closing
    expect(stream.status).toBe('aborted')
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, 1, 0], [GO_AWAY, 0, 0, 0]])
  })

  test.each(['its own timeout', 'its signal'])('close() of the muxer hung: on a transport that takes nothing more it is bounded by %s', async bound => {
    const { peer, stream } = await blockedByWindow()
    peer.transport.isFull = true
    peer.deliver(ping(1, SYN))
    await nextTurn()
    const controller = new AbortController()
    let isSettled = false
    peer.muxer.close(bound === 'its signal' ? { signal: controller.signal } : {})
      .catch(() => {})
      .finally(() => { isSettled = true })
    controller.abort(new Error('Too slow'))
    await timeouts.expire()
    await timeouts.expire()

    expect(isSettled).toBe(true)
    expect(stream.status).toBe('aborted')
  })
})

describe('giving up', () => {
  test('inactivityTimeout was never enforced: an idle stream ends with InactivityTimeoutError, one that is used does not', async () => {
    const clock = new VirtualClock()
    const peer = converse({ clock, streamOptions: { inactivityTimeout: 1000 } })
    const [idle, sending, receiving] = [await peer.open(), await peer.open(), await peer.open()]
    const events = [idle, sending, receiving].map(endings)

    for (let i = 0; i < 10; i++) {
      sending.send(pattern(1))
      peer.deliver(data(5, pattern(1)))
      await nextTurn()
      clock.advance(500)
    }

    expect(events).toEqual([[expect.objectContaining({ error: expect.objectContaining({ name: 'InactivityTimeoutError', code: 'ERR_INACTIVITY_TIMEOUT' }) })], [], []])
    expect((await peer.written()).filter(([, flags]) => flags === RST)).toEqual([[WINDOW_UPDATE, RST, 1, 0]])
  })

  test('a stream that nobody asked to end may be silent for a day, as gossip between peers without a common topic is', async () => {
    const clock = new VirtualClock()
    const peer = converse({ clock, enableKeepAlive: false })
    const stream = await peer.open()
    peer.deliver(windowUpdate(1, 0, ACK))
    await nextTurn()
    clock.advance(86_400_000)
    await nextTurn()

    expect(stream.status).toBe('open')
  })

  test('every ping left a listener behind: 100,000 pings of either side are answered with a constant count', async () => {
    const peer = converse({ limits: NO_LIMITS })
    const { signal } = new AbortController()
    vi.spyOn(signal, 'addEventListener')
    vi.spyOn(signal, 'removeEventListener')
    const counts = new Set<string>()
    let answers = 0

    for (let turn = 0; turn < 100; turn++) {
      const measured = Array.from({ length: 1000 }, async () => peer.muxer.ping({ signal }))
      peer.deliver(...Array.from({ length: 1000 }, (_, i) => ping(turn * 1000 + i, SYN)))

      await nextTurn()

      for (const { flags, length: value } of peer.takeFrames()) {
        if (flags === SYN) {
          peer.deliver(ping(value, ACK))
        } else {
          answers++
        }
      }

      await Promise.all(measured)
      counts.add(['message', 'drain', 'close'].map(type => peer.transport.listenerCount(type)).join())
      counts.add(`signal ${vi.mocked(signal.addEventListener).mock.calls.length - vi.mocked(signal.removeEventListener).mock.calls.length}`)
      vi.clearAllMocks()
    }

    expect(answers).toBe(100_000)
    expect([...counts]).toEqual(['1,1,1', 'signal 0'])
  })
})
