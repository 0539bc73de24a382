// The parent's view of the two processes of one variant, on TCP and Noise.
import { startChild } from '../../harness/child.ts'
import { TCP_PHASES } from './workload.ts'
import type { Measured } from './measured.ts'
import type { PeerCommands } from './peer.ts'
import type { Variant } from './variants.ts'

export interface Session {
  variant: Variant
  /** Resolves when both processes run and are connected */
  ready: Promise<void>
  measure(): Promise<Measured>
  stop(): Promise<void>
}

const peer = new URL('peer.ts', import.meta.url)

export function startSession (variant: Variant): Session {
  const sender = startChild<PeerCommands>(peer, `sender of "${variant.label}"`)
  const receiver = startChild<PeerCommands>(peer, `receiver of "${variant.label}"`)

  async function connect (): Promise<void> {
    const [address] = await Promise.all([receiver.commands.start(variant.id), sender.commands.start(variant.id)])
    await sender.commands.dial(address)
  }

  return {
    variant,
    ready: connect(),

    async measure () {
      try {
        await receiver.commands.accept()
        await sender.commands.open()

        const [shares, sent] = await Promise.all([receiver.commands.watch(), sender.commands.send()])
        const arrived = await receiver.commands.arrived(await sender.commands.stopBulk())

        await sender.commands.close()
        await receiver.commands.unaccept()

        return { ...sent, ...arrived, shares, phases: TCP_PHASES }
      } catch (err) {
        throw new Error(`${variant.label}: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
      }
    },

    async stop () {
      await Promise.all([sender.stop(), receiver.stop()])
    }
  }
}
