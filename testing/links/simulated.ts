// One work on one link in virtual time: exact figures, the same in every run.
import { HEADER_BYTES } from '../../src/core/wire/frame.ts'
import { simulate } from '../simulation/simulate.ts'
import { idealMs, linkOptions } from './links.ts'
import { Receiver, Sender } from './transfer.ts'
import { payloadBytes } from './works.ts'
import type { Link } from './links.ts'
import type { Variant } from './variants.ts'
import type { Work } from './works.ts'

export interface Transfer {
  /** From the first send to the arrival of the last byte */
  tookMs: number
  megabytesPerS: number
  /** Of what the link alone would take, 1 is all there is */
  linkPart: number
  /** What the receiver sent back: yamux headers, most of them window updates */
  framesBack: number
}

interface Simulated {
  /** On streams that are opened for it, so that windows begin at 256 KiB */
  first: Transfer
  /** The same once more, on the same streams */
  again: Transfer
}

/** The muxers have said hello, and measured the round trip */
const SETTLED_AFTER_ROUND_TRIPS = 3
const END_MS = 1e8

export async function simulateWork (link: Link, work: Work, variant: Variant): Promise<Simulated> {
  const [first, again] = await simulateTransfers(link, work, variant, 2)

  return { first, again }
}

/** The same work so many times, one after the other, on the same streams */
export async function simulateTransfers (link: Link, work: Work, { createMuxer, socketBufferBytes }: Variant, count: number): Promise<Transfer[]> {
  return simulate({ endMs: END_MS }, async sim => {
    const { dialler, listener, toDialler } = sim.connect({ ...linkOptions(link), socketBufferBytes }, { dialler: createMuxer, listener: createMuxer })
    const receiver = new Receiver()
    let sender: Sender | undefined
    listener.addEventListener('stream', evt => { receiver.onStream(evt.detail) })

    const transfer = async (): Promise<Transfer> => {
      await sim.sleep(SETTLED_AFTER_ROUND_TRIPS * link.roundTripMs)
      const startMs = sim.nowMs
      const bytesBackBefore = toDialler.bytesHandedDown
      const arrived = receiver.expect(work)
      sender ??= new Sender(await Promise.all(Array.from({ length: work.streams }, async () => dialler.createStream())))
      await Promise.all([sender.send(work), arrived])
      const tookMs = sim.nowMs - startMs

      return {
        tookMs,
        megabytesPerS: payloadBytes(work) / 1000 / tookMs,
        linkPart: idealMs(link, payloadBytes(work)) / tookMs,
        framesBack: (toDialler.bytesHandedDown - bytesBackBefore) / HEADER_BYTES
      }
    }

    const transfers: Transfer[] = []

    while (transfers.length < count) {
      transfers.push(await transfer())
    }

    return transfers
  })
}
