// The parent's view of one muxer's two processes: a sender and a receiver.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createBirpc } from 'birpc'
import type { Spent } from './counters.ts'
import type { MuxerName } from './muxers.ts'
import type { PeerCommands, Sent } from './peer.ts'
import type { Row } from './rows.ts'
import type { ChildProcess } from 'node:child_process'

export interface Measured {
  sent: Sent
  receiverSpent: Spent
}

export interface Pair {
  muxer: MuxerName
  /** Resolves when both processes run and are connected */
  ready: Promise<void>
  measure(row: Row, atLeastMs: number): Promise<Measured>
  stop(): Promise<void>
}

const peerPath = fileURLToPath(new URL('peer.ts', import.meta.url))

/** No command takes as long, unless something got lost on the way */
const COMMAND_TIMEOUT_MS = 30_000
const EXIT_TIMEOUT_MS = 2000

function startPeer (muxer: MuxerName, role: string) {
  const child = fork(peerPath, { serialization: 'advanced' })
  const commands = createBirpc<PeerCommands>({}, {
    // what cannot be sent to a peer that is gone is rejected when it exits
    post: message => { child.send(message, () => {}) },
    on: listener => child.on('message', listener),
    timeout: COMMAND_TIMEOUT_MS,
    onTimeoutError (command) {
      throw new Error(`The ${role} of ${muxer} did not finish "${command}" in ${COMMAND_TIMEOUT_MS / 1000} seconds`)
    }
  })

  child.once('exit', () => { commands.$close(new Error(`The ${role} of ${muxer} has exited`)) })

  return { child, commands }
}

async function stopPeer (child: ChildProcess): Promise<void> {
  if (child.exitCode != null || child.signalCode != null) {
    return
  }

  const exited = once(child, 'exit')
  const killing = setTimeout(() => child.kill('SIGKILL'), EXIT_TIMEOUT_MS)

  if (child.connected) {
    child.disconnect()
  }

  await exited
  clearTimeout(killing)
}

export function startPair (muxer: MuxerName): Pair {
  const sender = startPeer(muxer, 'sender')
  const receiver = startPeer(muxer, 'receiver')

  async function connect (): Promise<void> {
    const [addresses] = await Promise.all([receiver.commands.start(muxer), sender.commands.start(muxer)])
    await sender.commands.dial(addresses)
  }

  return {
    muxer,
    ready: connect(),

    async measure (row, atLeastMs) {
      try {
        await receiver.commands.receive(row.id)
        await sender.commands.open(row.id)

        await receiver.commands.startCounting()
        const sent = await sender.commands.send(atLeastMs)
        const receiverSpent = await receiver.commands.spent()

        await sender.commands.close()
        await receiver.commands.close()

        return { sent, receiverSpent }
      } catch (err) {
        throw new Error(`${muxer}, ${row.label}: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
      }
    },

    async stop () {
      await Promise.all([stopPeer(sender.child), stopPeer(receiver.child)])
    }
  }
}
