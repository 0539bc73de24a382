// The parent's view of one measurement: the processes at the ends of a link, all of them new.
import { setTimeout as sleep } from 'node:timers/promises'
import { median, quantile, sum } from 'simple-statistics'
import { nowMs } from '../../testing/programs/clock.ts'
import { startAt } from './link.ts'
import { inFlightBytes } from './in-flight.ts'
import { startNativeSender } from './native-sender.ts'
import type { Child } from '../../testing/programs/child.ts'
import type { Link } from './link.ts'
import type { PeerCommands, Sender, Sent, Watched } from './end-process.ts'
import type { Contestant, UplinkMetrics, Work } from './workload.ts'

export interface Session {
  measure(): Promise<UplinkMetrics>
  stop(): Promise<void>
}

const [SENDER_END, RECEIVER_END] = [0, 1]

const peer = new URL('./end-process.ts', import.meta.url)

/** Of each connection, each way that bulk goes */
function allInFlightBytes (senders: Watched[], receivers: Watched[]): number[] {
  const ways = senders.flatMap((sender, pair) => [[sender, receivers[pair]], [receivers[pair], sender]])

  return ways.filter(([, to]) => to.bulkBytes > 0).flatMap(([from, to]) => inFlightBytes(from.instants, to.instants))
}

function toMetrics (senders: Sent[], receivers: Watched[], measuredMs: number): UplinkMetrics {
  const latenciesMs = senders.flatMap(({ latenciesMs }) => [...latenciesMs])
  const total = (peers: Watched[], what: 'bulkBytes' | 'verifiedBytes' | 'cpuMs'): number => sum(peers.map(watched => watched[what]))
  const inFlight = allInFlightBytes(senders, receivers)
  const there = total(receivers, 'bulkBytes') / 1e6
  const back = (total(senders, 'bulkBytes') + total(receivers, 'verifiedBytes')) / 1e6
  const megabytes = there + back
  const measuredS = measuredMs / 1000

  return {
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    inFlightMegabytes: inFlight.length === 0 ? undefined : median(inFlight) / 1e6,
    lateP99Ms: quantile(senders.flatMap(({ lateMs }) => [...lateMs]), 0.99),
    besideMegabytesPerS: megabytes / measuredS,
    thereMegabytesPerS: there / measuredS,
    backMegabytesPerS: back / measuredS,
    lowerMegabytesPerS: Math.min(there, back) / measuredS,
    senderCpuSPerGigabyte: total(senders, 'cpuMs') / megabytes,
    receiverCpuSPerGigabyte: total(receivers, 'cpuMs') / megabytes
  }
}

export function startSession (contestant: Contestant, link: Link, { scenario, streams, urgentIntervalMs, measuredMs, warmUpMs }: Work, nodeOptions?: string[]): Session {
  const { sender: sendsWith = contestant.muxer } = contestant
  const start = (end: number, title: string): Child<PeerCommands> => startAt<PeerCommands>(link, end, peer, title, nodeOptions)
  const startSender = (): Sender => typeof sendsWith === 'string' ? start(SENDER_END, 'sender') : startNativeSender(sendsWith, link.commands[SENDER_END])
  const children = Array.from({ length: scenario === 'shared' ? 2 : 1 }, () => ({ sender: startSender(), receiver: start(RECEIVER_END, 'receiver') }))
  const pairs = children.map(({ sender, receiver }) => ({ sender: sender.commands, receiver: receiver.commands }))
  const senders = pairs.map(({ sender }) => sender)
  const receivers = pairs.map(({ receiver }) => receiver)
  const saturating = scenario === 'both' ? [...senders, ...receivers] : senders

  async function connect (): Promise<void> {
    for (const { sender, receiver } of pairs) {
      const [addresses] = await Promise.all([receiver.start(contestant, link.addresses[RECEIVER_END]), sender.start({ ...contestant, muxer: typeof sendsWith === 'string' ? sendsWith : contestant.muxer }, link.addresses[SENDER_END])])
      await sender.dial(await link.reach(addresses))
    }

    // senders come first: with a delay, a receiver has the connection later than its dialler, and ahead of the first stream
    for (const peer of saturating) {
      await peer.open(streams)
    }
  }

  async function halve (afterMs: number): Promise<void> {
    await sleep(afterMs)
    link.halve()
  }

  return {
    async measure () {
      await connect()

      if (scenario === 'both' && typeof sendsWith !== 'string') {
        await Promise.all(receivers.map(async peer => peer.startCountingReplies()))
      }

      await Promise.all(saturating.map(async peer => peer.startBulk()))

      if (scenario === 'pause') {
        await Promise.all(receivers.map(async peer => peer.startPausing()))
      }

      if (scenario === 'busy') {
        await Promise.all(senders.map(async peer => peer.startWorking?.()))
      }

      const leadInMs = warmUpMs + (scenario === 'halved' ? measuredMs / 2 : 0)
      const fromMs = nowMs() + leadInMs
      const window = { fromMs, toMs: fromMs + measuredMs }
      const [sent, received] = await Promise.all([
        Promise.all(senders.map(async peer => peer.measure(window, urgentIntervalMs))),
        Promise.all(receivers.map(async peer => peer.watch(window))),
        scenario === 'halved' && halve(leadInMs)
      ])

      return toMetrics(sent, received, measuredMs)
    },

    async stop () {
      await Promise.all(children.flatMap(({ sender, receiver }) => [sender, receiver]).map(async child => child.stop()))
      await link.remove()
    }
  }
}
