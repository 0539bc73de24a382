// The works over real sockets, with a relay that shapes rate and delay: whether the simulation tells the truth.
import { startChild } from '../../harness/child.ts'
import { atPort, portOf } from '../../relay/address.ts'
import type { Child } from '../../harness/child.ts'
import type { RelayCommands } from '../../relay/relay.ts'
import type { Link } from './links.ts'
import type { PeerCommands } from './peer.ts'
import type { Result, TcpResult } from './report.ts'
import type { Variant } from './variants.ts'
import type { Work } from './works.ts'

/** Of one work, which takes up to 1.5 minutes on a link that a muxer does not fill */
const TIMEOUT_MS = 300_000
/** Beside what is on its way, as much as a simulated socket takes */
const RELAY_BUFFER_BYTES = 65_536

/** What passes the relay is read packet by packet, as from a slow line */
const PACKET_BYTES = 1460

const peer = new URL('peer.ts', import.meta.url)

export interface Processes {
  sender: Child<PeerCommands>
  receiver: Child<PeerCommands>
  relay: Child<RelayCommands>
}

export function startProcesses (): Processes {
  const options = { timeoutMs: TIMEOUT_MS }

  return {
    sender: startChild<PeerCommands>(peer, 'sender', options),
    receiver: startChild<PeerCommands>(peer, 'receiver', options),
    relay: startChild<RelayCommands>(new URL('../../relay/relay.ts', import.meta.url), 'relay', options)
  }
}

/** Resolves with how long a work took */
type Transfer = (work: Work) => Promise<number>

async function connect ({ sender, receiver, relay }: Processes, link: Link, variant: Variant): Promise<Transfer> {
  const { bytesPerMs, roundTripMs } = link
  const id = `${variant.id} ${link.id}`
  const delayMs = roundTripMs / 2
  const address = await receiver.commands.listen(id, variant.id)
  const relayPort = await relay.commands.relayTo(portOf(address), {
    bytesPerMs, delayMs, bufferBytes: RELAY_BUFFER_BYTES + bytesPerMs * delayMs, segmentBytes: PACKET_BYTES
  })
  await sender.commands.dial(id, variant.id, atPort(address, relayPort))

  return async work => {
    const [endMs, startMs] = await Promise.all([
      receiver.commands.received(id, link.id, work.id),
      sender.commands.send(id, link.id, work.id)
    ])

    return endMs - startMs
  }
}

/**
 * The same works as were simulated. One stream waits for each update, so its works go one after the other on each link:
 * all at once they kept the processes so busy that each wait took 10 ms more. Ten streams that keep a link
 * full do not mind.
 */
export async function measureOverTcp (processes: Processes, simulated: Result[]): Promise<TcpResult[]> {
  const ofLinks = [...Map.groupBy(simulated, ({ link }) => link).values()]

  return (await Promise.all(ofLinks.map(async ofLink => {
    const transfers = new Map<Variant, Transfer>()

    for (const { link, work, variant } of ofLink) {
      if (!transfers.has(variant)) {
        const transfer = await connect(processes, link, variant)
        // warms up the processes and the connection
        await transfer(work)
        transfers.set(variant, transfer)
      }
    }

    const measure = async ({ link, work, variant, simulated: { first } }: Result): Promise<TcpResult> => {
      const tookMs = await transfers.get(variant)?.(work) ?? NaN

      return { link, work, variant, simulatedMs: first.tookMs, tookMs }
    }
    const results: TcpResult[] = []

    for (const result of ofLink.filter(({ work }) => work.streams === 1)) {
      results.push(await measure(result))
    }

    for (const ofWork of Map.groupBy(ofLink.filter(({ work }) => work.streams > 1), ({ work }) => work).values()) {
      results.push(...await Promise.all(ofWork.map(measure)))
    }

    return results
  }))).flat()
}
