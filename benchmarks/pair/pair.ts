// The parent's view of one contestant's two ends: a sender and a receiver, each in a process of its own.
import { MessageChannel } from 'node:worker_threads'
import { startChild, startThread } from '../../testing/programs/child.ts'
import { named } from '../../testing/programs/run.ts'
import { startNativePeer } from './native.ts'
import { watchProcessors } from '../processors.ts'
import { asOneStream, isOfLoneRequests } from '../rows.ts'
import type { PeerKind } from '../../peers/list.ts'
import type { Contestant, ContestantMuxer, TransportName } from '../contestants.ts'
import type { End, PeerCommands, PeerSpent, Sent } from './end-process.ts'
import type { Watched } from '../processors.ts'
import type { Row } from '../rows.ts'

export interface Measured {
  /** Of payload, in one unit and one direction */
  unitBytes: number
  sent: Sent
  receiverSpent: PeerSpent
  /** By the receiver at the same time, in rows that go both ways */
  sentBack?: Sent
  /** Meanwhile */
  processors: Watched
}

export interface Pair extends Contestant {
  /** Resolves when both processes run and are connected */
  ready: Promise<void>
  /** Some of the row's work, not measured */
  warmUp(row: Row): Promise<void>
  measure(row: Row, atLeastMs: number): Promise<Measured>
  /** How long each of the first units takes, ms */
  measureFirst(row: Row, units: number): Promise<number[]>
  stop(): Promise<void>
}

interface PairInit {
  muxer: ContestantMuxer
  /** @default 'tcp-noise' */
  transport?: TransportName
  /** For both processes, as `--trace-gc` */
  nodeOptions?: string[]
  /** What to run instead of Node, for a muxer in another language */
  program?: PeerKind
}

/**
 * The row's own work comes before what is measured, on both sides of every comparison: the first third of a second
 * after another row is up to a fifth slower, while the heap takes on the shape that this one needs.
 */
const LEAD_IN_MS = 100

/**
 * Requests one after the other run each function seldom, on cores that both processes keep busy. In the first second V8's optimising compiler
 * does 64 % of what it does in that and five rounds with stock, and 15 % with ours, whose requests are fewer records and socket writes
 * (--trace-opt). `npm run bench first-requests` measures what is left out. With pauses in between three seconds have too few to change that.
 */
const REQUESTS_WARM_UP_MS = 3000

const peer = new URL('./end-process.ts', import.meta.url)

function startPeers ({ muxer, transport, nodeOptions, program }: PairInit): End[] {
  const titles = ['sender', 'receiver'].map(role => `${role} of ${muxer}`)

  if (program != null) {
    return titles.map(title => startNativePeer(program, title))
  }

  if (transport === 'memory') {
    const { port1, port2 } = new MessageChannel()

    return [startThread<PeerCommands>(peer, titles[0], port1), startThread<PeerCommands>(peer, titles[1], port2)]
  }

  return titles.map(title => startChild<PeerCommands>(peer, title, { execArgv: nodeOptions }))
}

export function startPair (init: PairInit): Pair {
  const { muxer, transport = 'tcp-noise' } = init
  const contestant = { muxer, transport }
  const [sender, receiver] = startPeers(init)

  async function connect (): Promise<void> {
    const [addresses] = await Promise.all([receiver.commands.start(contestant, true), sender.commands.start(contestant, false)])
    await sender.commands.dial(addresses)
  }

  async function runOnOpenStreams<Result> (row: Row, work: () => Promise<Result>, leadInMs = LEAD_IN_MS): Promise<Result> {
    const senders = row.isBothWays === true ? [sender, receiver] : [sender]
    const receivers = row.isBothWays === true ? [sender, receiver] : [receiver]

    return named(`${muxer}, ${transport}, ${row.label}`, async () => {
      await Promise.all(receivers.map(async ({ commands }) => commands.receive(row)))
      await Promise.all(senders.map(async ({ commands }) => commands.open(row)))

      if (leadInMs > 0) {
        await Promise.all(senders.map(async ({ commands }) => commands.send(leadInMs)))
      }

      const result = await work()

      await sender.commands.close()
      await receiver.commands.close()

      return result
    })
  }

  /** Without a muxer there is one stream, for the bytes of all */
  function fit (row: Row): Row {
    return muxer === 'none' ? asOneStream(row) : row
  }

  return {
    ...contestant,
    ready: connect(),

    async warmUp (row) {
      await runOnOpenStreams(fit(row), async () => {
        if (isOfLoneRequests(row) && row.pauseMs == null) {
          await sender.commands.send(REQUESTS_WARM_UP_MS)
        }
      })
    },

    async measure (row, atLeastMs) {
      const fitted = fit(row)

      return runOnOpenStreams(fitted, async () => {
        const watched = watchProcessors()
        await receiver.commands.count()
        const [sent, sentBack] = await Promise.all([
          sender.commands.send(atLeastMs),
          row.isBothWays === true ? receiver.commands.send(atLeastMs) : undefined
        ])
        const receiverSpent = await receiver.commands.spent()

        // threads are part of this process
        const processors = watched(transport === 'memory' ? 0 : sent.spent.cpuMs + receiverSpent.cpuMs)

        return { unitBytes: fitted.unitBytesPerStream * fitted.streams, sent, sentBack, receiverSpent, processors }
      })
    },

    async measureFirst (row, units) {
      return runOnOpenStreams(fit(row), async () => {
        const tookMs: number[] = []

        for (let unit = 0; unit < units; unit++) {
          tookMs.push((await sender.commands.send(0)).durationMs)
        }

        return tookMs
      }, 0)
    },

    async stop () {
      await Promise.all([sender.stop(), receiver.stop()])
    }
  }
}
