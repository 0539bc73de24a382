// The parent's view: a beacon node in a process, its peers in others, and who is there at the time.
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '../../testing/programs/child.ts'
import { CHURN_INTERVAL_MS, departures, PEER_PROCESSES, PEERS } from './plan.ts'
import type { Child } from '../../testing/programs/child.ts'
import type { BeaconCommands, BeaconReport } from './beacon-node.ts'
import type { Departure, Population } from './plan.ts'
import type { PeerReport, PeersCommands } from './peers.ts'

export interface Outcome {
  /** While all peers are connected, nothing is in flight and gossip goes on */
  quiet: BeaconReport
  /** All peers have gone */
  alone: BeaconReport
  peers: PeerReport[]
  departed: PeerReport[]
  peerFailures: string[]
  peerLogErrors: string[]
}

export interface Network {
  run (durationMs: number, onProgress: (line: string) => void): Promise<Outcome>
  stop (): Promise<void>
}

interface Member {
  number: number
  id: string
}

/** What is in flight when nobody begins anything any more: the last messages, copies of them, the ends of streams */
const QUIET_MS = 2000
const SETTLE_BEFORE_LEAVING_MS = 300

const beaconModule = new URL('beacon-node.ts', import.meta.url)
const peersModule = new URL('peers.ts', import.meta.url)

export function startNetwork ({ muxers }: Population): Network {
  const beacon = startChild<BeaconCommands>(beaconModule, 'beacon node')
  const children = Array.from({ length: PEER_PROCESSES }, (_, index) => startChild<PeersCommands>(peersModule, `process ${index + 1} of peers`))
  const members: Member[] = []
  let beaconAddress = ''
  let nextNumber = 0
  let departed = 0

  function hostOf (number: number): Child<PeersCommands>['commands'] {
    return children[number % children.length].commands
  }

  function beaconId (): string {
    return beaconAddress.split('/p2p/')[1]
  }

  /** Every second peer is dialled by the beacon node */
  async function join (): Promise<void> {
    const number = nextNumber++
    const host = hostOf(number)
    const { id, address } = await host.add(number, muxers[number % muxers.length])

    if (number % 2 === 0) {
      await host.dial(number, beaconAddress)
    } else {
      await beacon.commands.dial(address)
    }

    await host.begin(number, beaconId())
    members.push({ number, id })
  }

  async function leave (how: Departure): Promise<void> {
    const { number, id } = members.splice(departed % members.length, 1)[0]
    const host = hostOf(number)

    departed++
    await host.settle(number)
    await sleep(SETTLE_BEFORE_LEAVING_MS)

    if (how === 'hung up on') {
      await beacon.commands.hangUp(id)
    }

    await host.leave(number, how, beaconId())
  }

  async function churn (untilMs: number, onProgress: (line: string) => void): Promise<void> {
    while (performance.now() < untilMs) {
      await sleep(CHURN_INTERVAL_MS)
      await leave(departures[departed % departures.length])
      await join()

      if (departed % 10 === 0) {
        onProgress(`${departed} peers have left and others have come, ${Math.max(0, Math.round((untilMs - performance.now()) / 1000))} s to go`)
      }
    }
  }

  return {
    async run (durationMs, onProgress) {
      beaconAddress = await beacon.commands.start()

      while (members.length < PEERS) {
        await join()
      }

      onProgress(`${PEERS} peers are connected`)
      await beacon.commands.begin()
      await churn(performance.now() + durationMs, onProgress)

      await Promise.all(members.map(async ({ number }) => hostOf(number).settle(number)))
      await beacon.commands.settle()
      await sleep(QUIET_MS)
      const quiet = await beacon.commands.report()
      const reports = await Promise.all(children.map(async child => child.commands.report()))

      await Promise.all(children.map(async child => child.commands.stop()))
      await sleep(QUIET_MS)
      const alone = await beacon.commands.report()
      await beacon.commands.stop()

      return {
        quiet,
        alone,
        peers: reports.flatMap(({ peers }) => peers),
        departed: reports.flatMap(({ departed }) => departed),
        peerFailures: reports.flatMap(({ failures }) => failures),
        peerLogErrors: reports.flatMap(({ logErrors }) => logErrors)
      }
    },

    async stop () {
      await Promise.all([beacon, ...children].map(async child => child.stop()))
    }
  }
}
