// Ends of a link that do what transports may do and the simulated one does not.
import { StreamMessageEvent } from '@libp2p/interface'
import { FIN, parseFrames } from '../../../testing/protocol/frames.ts'
import { foreignCopy, foreignList } from './foreign.ts'
import { eagerLogger } from './odd-faults.ts'
import type { LinkEnd } from '../../../testing/simulation/link.ts'
import type { Random } from '../../../testing/simulation/random.ts'
import type { Refusal } from './mischief.ts'

const FOREIGN_CHANCE = 0.3

/** Some of what arrives is of another realm */
export function deliverForeignChunks (end: LinkEnd, random: Random): void {
  const arrived = end.arrived.bind(end)

  end.arrived = bytes => {
    if (bytes.byteLength === 0 || end.readStatus !== 'readable' || !random.chance(FOREIGN_CHANCE)) {
      arrived(bytes)
    } else if (random.chance(0.5)) {
      end.onData(foreignList(bytes))
    } else {
      // past libp2p's own buffer, which takes no such thing
      end.dispatchEvent(new StreamMessageEvent(foreignCopy(bytes)))
    }
  }
}

/** Throws what `refuse` returns at one write, of which nothing is taken */
export function refuseWrite (end: LinkEnd, { write, ofFins }: Refusal, refuse: () => unknown): void {
  const send = end.send.bind(end)
  let writesLeft = write

  end.send = data => {
    const bytes = data.subarray()

    if ((!ofFins || parseFrames(bytes).some(({ flags }) => (flags & FIN) !== 0)) && --writesLeft === 0) {
      throw refuse()
    }

    return send(bytes)
  }
}

/** What the muxer says is read: of an error that cannot be printed, too */
export function readLogs (end: LinkEnd): void {
  const { log } = end
  const read = Object.assign((...args: Parameters<typeof log>) => { log(...args) }, log, { newScope: () => eagerLogger() })
  Object.defineProperty(end, 'log', { value: read })
}
