// Thousands who wait to open a stream, and one signal that ends it for all of them.
import { setMaxListeners } from '@libp2p/interface'
import { describe, expect, test } from 'vitest'
import { ACK, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, expectAlive } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'

forbidIncidents()

describe('10,000 who wait to open a stream', () => {
  test('are all told when one signal aborts them, and the next are served', async () => {
    const COUNT = 9999
    const peer = converse({ maxOutboundStreams: Infinity })
    const opened = await Promise.all(Array.from({ length: 256 }, async () => peer.muxer.createStream()))
    await peer.written()
    const controller = new AbortController()
    setMaxListeners(Infinity, controller.signal)
    const reason = new Error('Not wanted any more')
    const waiting = Array.from({ length: COUNT }, async () => peer.muxer.createStream({ signal: controller.signal }).then(() => 'opened', (err: Error) => err))
    const behind = peer.muxer.createStream()
    controller.abort(reason)
    const outcomes = await Promise.all(waiting)

    expect(outcomes.filter(outcome => outcome !== reason)).toEqual([])
    expect(await peer.written()).toEqual([])
    opened.forEach(({ id }) => { peer.deliver(windowUpdate(Number(id), 0, ACK)) })
    expect((await behind).id).toBe('513')
    expect((await peer.muxer.createStream()).id).toBe('515')
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, SYN, 513, 0], [WINDOW_UPDATE, SYN, 515, 0]])
    await expectAlive(peer)
  })

  test('are served in the order they came, those that gave up in between left out', async () => {
    const peer = converse({ maxOutboundStreams: Infinity })
    const opened = await Promise.all(Array.from({ length: 256 }, async () => peer.muxer.createStream()))
    await peer.written()
    const controllers = Array.from({ length: 600 }, () => new AbortController())
    const order: number[] = []
    const waiting = controllers.map(async ({ signal }, i) => {
      try {
        await peer.muxer.createStream({ signal })
        order.push(i)
      } catch {}
    })
    controllers.forEach((controller, i) => {
      if (i % 3 === 0) {
        controller.abort()
      }
    })
    await nextTurn()

    for (let ids = opened.map(({ id }) => Number(id)); ids.length > 0;) {
      ids.forEach(id => { peer.deliver(windowUpdate(id, 0, ACK)) })
      ids = (await peer.written()).filter(([, flags]) => flags === SYN).map(([, , id]) => id)
    }

    await Promise.all(waiting)
    expect(order).toEqual(controllers.map((_, i) => i).filter(i => i % 3 !== 0))
  })
})
