// What metrics gather until they tell it.
import { expect, test } from 'vitest'
import { NodeBudget } from '../../src/core/window/node-budget.ts'
import { systemClock } from '../../src/host/clock.ts'
import { NodeMetrics } from '../../src/observe/metrics.ts'
import { collectGarbage } from '../../testing/protocol/garbage.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { createMeteredPeer, openStreams } from './fixtures/metered-peer.ts'
import { RecordingMetrics } from './fixtures/recording-metrics.ts'

test('what was gathered keeps no connection that has ended', async () => {
  const nodeMetrics = new NodeMetrics(new RecordingMetrics().asMetrics, systemClock, new NodeBudget(Infinity))

  async function endOne (): Promise<WeakRef<object>> {
    const peer = createMeteredPeer({ nodeMetrics })
    const [stream] = await openStreams(peer, 1)
    stream.send(new Uint8Array(100))
    await nextTurn()
    peer.transport.end()

    return new WeakRef(peer.muxer)
  }

  const ended = await endOne()
  await collectGarbage()

  expect(nodeMetrics.gathered.length).toBeGreaterThan(0)
  expect(ended.deref()).toBeUndefined()
})
