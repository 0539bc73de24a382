// The links that are simulated: those of the rust-yamux benchmark, and the long fat one of the go-yamux study.
import { byId } from '../programs/names.ts'
import type { LinkOptions } from '../simulation/link.ts'

export interface Link {
  id: string
  label: string
  bytesPerMs: number
  roundTripMs: number
}

export const links: Link[] = [
  { id: 'satellite', label: 'satellite\n512 kbit/s, 900 ms', bytesPerMs: 64, roundTripMs: 900 },
  { id: 'dsl', label: 'dsl\n2 Mbit/s, 50 ms', bytesPerMs: 250, roundTripMs: 50 },
  { id: 'mobile', label: 'mobile\n6 Mbit/s, 100 ms', bytesPerMs: 750, roundTripMs: 100 },
  { id: 'adsl2+', label: 'adsl2+\n20 Mbit/s, 50 ms', bytesPerMs: 2500, roundTripMs: 50 },
  { id: 'cable', label: 'cable\n200 Mbit/s, 20 ms', bytesPerMs: 25_000, roundTripMs: 20 },
  { id: 'lan', label: 'gigabit LAN\n1 Gbit/s, 0.1 ms', bytesPerMs: 125_000, roundTripMs: 0.1 },
  { id: 'terrestrial', label: 'terrestrial\n1 Gbit/s, 1 ms', bytesPerMs: 125_000, roundTripMs: 1 },
  { id: 'long-fat', label: 'long fat\n1 Gbit/s, 100 ms', bytesPerMs: 125_000, roundTripMs: 100 }
]

/** What Noise seals in one record at most: it can be read when the last byte of it is there, so it arrives at once */
const RECORD_BYTES = 65_519

export function findLink (id: string): Link {
  return byId('link', id, links)
}

export function linkOptions (link: Link): LinkOptions {
  return { rateBytesPerS: link.bytesPerMs * 1000, delayMs: link.roundTripMs / 2, segmentBytes: RECORD_BYTES }
}

/** From the first send to the last byte, if nothing but the link takes time: all bytes on the wire, and the way of the last one */
export function idealMs ({ bytesPerMs, roundTripMs }: Link, byteLength: number): number {
  return byteLength / bytesPerMs + roundTripMs / 2
}

/** What is in flight on a full link until credit for it can be back */
export function bandwidthDelayBytes ({ bytesPerMs, roundTripMs }: Link): number {
  return bytesPerMs * roundTripMs
}
