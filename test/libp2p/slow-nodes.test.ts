// The table of docs/operating.md, "My message is slow", on nodes with a planted cause: its row for that cause is what snapshots show.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { snapshotNode } from '../../src/snapshot.ts'
import { causes, createSlowNode } from '../../testing/libp2p/slow-nodes.ts'
import type { ConnectionSnapshot, StreamSnapshot } from '../../src/snapshot.ts'
import type { Cause, SlowNode } from '../../testing/libp2p/slow-nodes.ts'

const LOOKS = 20
const EVERY_MS = 100
/** The page's */
const BUSY_MS = 50

type Finding = Pick<StreamSnapshot, 'protocol' | 'waitsFor' | 'priority'> & { isBusy: boolean, isBehindOtherLanes: boolean }

let slow: SlowNode

afterEach(async () => { await slow.stop() })

/** What the table asks for while messages are slow: of each snapshot the stream that waits longest, or has been quiet longest if none waits */
async function follow ({ node, once }: SlowNode): Promise<Finding[]> {
  const delays = monitorEventLoopDelay({ resolution: 10 })
  const work = { isOver: false }
  const finished = (async () => {
    while (!work.isOver) {
      await once()
    }
  })()
  finished.catch(() => {})
  const findings: Finding[] = []
  snapshotNode(node)
  await sleep(500)
  delays.enable()

  for (let look = 0; look < LOOKS; look++) {
    await sleep(EVERY_MS)
    const [connection] = snapshotNode(node).connections as ConnectionSnapshot[]
    const shop = connection.streams.filter(({ protocol }) => protocol?.startsWith('/shop/'))
    const [longest] = shop.toSorted((a, b) => (b.waitingMs ?? 0) - (a.waitingMs ?? 0) || b.quietMs - a.quietMs)
    const { protocol, waitsFor, priority } = longest
    findings.push({ protocol, waitsFor, priority, isBehindOtherLanes: priority === 'bulk' && connection.queuedBytes.normal > 0, isBusy: false })
  }

  work.isOver = true

  return findings.map(finding => ({ ...finding, isBusy: delays.max / 1e6 > BUSY_MS }))
}

/** The finding of most snapshots */
function usual (findings: Finding[]): Finding {
  const counts = Map.groupBy(findings, finding => JSON.stringify(finding))

  return [...counts.values()].toSorted((a, b) => b.length - a.length)[0][0]
}

const EXPECTED: Record<Cause, Partial<Finding>> = {
  'the program reads slowly': { protocol: '/shop/reports/1', waitsFor: 'reader' },
  'the peer gives no credit': { protocol: '/shop/reports/1', waitsFor: 'credit' },
  'the uplink is slow': { protocol: '/shop/reports/1', waitsFor: 'path', isBehindOtherLanes: false },
  'the program is busy': { isBusy: true, waitsFor: undefined },
  'the lane is starved': { protocol: '/shop/orders/1', waitsFor: 'path', priority: 'bulk', isBehindOtherLanes: true },
  'the peer answers late': { protocol: '/shop/orders/1', waitsFor: undefined }
}

test.each(causes)('%s: most snapshots say so', async cause => {
  slow = await createSlowNode(cause)

  expect(usual(await follow(slow))).toMatchObject(EXPECTED[cause])
}, 30_000)
