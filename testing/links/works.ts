// What is sent: the messages of the rust-yamux benchmark, and for fast far links ten seconds of sending.
import { INITIAL_WINDOW_BYTES } from '../../src/core/wire/frame.ts'
import { byId } from '../programs/names.ts'
import { bandwidthDelayBytes, links } from './links.ts'
import type { Link } from './links.ts'

export interface Work {
  id: string
  label: string
  streams: number
  messageBytes: number
  /** On each stream */
  messages: number
}

const TEN_SECONDS_MS = 10_000
const LONG_MESSAGE_BYTES = 65_536

const plainWorks: Work[] = [1, 10].flatMap(streams => [
  { id: `${streams}x4k`, label: `${streams} × 1,000 of 4 KiB`, streams, messageBytes: 4096, messages: 1000 },
  { id: `${streams}x10m`, label: `${streams} × one of 10 MiB`, streams, messageBytes: 10_485_760, messages: 1 }
])

/** What a link carries in ten seconds: there the time that windows need to grow is a small part */
function tenSeconds ({ bytesPerMs }: Link): Work[] {
  return [1, 10].map(streams => ({
    id: `${streams}x10s`,
    label: `${streams} × 10 s of 64 KiB`,
    streams,
    messageBytes: LONG_MESSAGE_BYTES,
    messages: Math.round(bytesPerMs * TEN_SECONDS_MS / streams / LONG_MESSAGE_BYTES)
  }))
}

function worksOf (link: Link): Work[] {
  return bandwidthDelayBytes(link) > INITIAL_WINDOW_BYTES ? [...plainWorks, ...tenSeconds(link)] : plainWorks
}

export function findWork (link: Link, id: string): Work {
  return byId(`work on ${link.id}`, id, worksOf(link))
}

export function payloadBytes ({ streams, messageBytes, messages }: Work): number {
  return streams * messageBytes * messages
}

interface Cell {
  link: Link
  work: Work
}

/** In the order of the table: works, and the links that each is for */
export const cells: Cell[] = [...plainWorks.map(({ id }) => id), '1x10s', '10x10s'].flatMap(id =>
  links.flatMap(link => worksOf(link).filter(work => work.id === id).map(work => ({ work, link }))))
