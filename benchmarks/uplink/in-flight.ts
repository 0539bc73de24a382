// What is in flight between two processes: what the muxer of one has handed down and has not reached that of the other, whatever muxer it is.
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from '../../testing/programs/clock.ts'
import type { MessageStream, StreamMuxerFactory } from '@libp2p/interface'

/** What has passed between the muxer of this process and what is below it, since the connection began */
export interface Instant {
  atMs: number
  handedDownBytes: number
  arrivedBytes: number
}

const SAMPLE_EVERY_MS = 20

let isWatching = false
let handedDownBytes = 0
let arrivedBytes = 0

function watch (connection: MessageStream): void {
  const send = connection.send.bind(connection)

  isWatching = true
  connection.send = data => {
    handedDownBytes += data.byteLength

    return send(data)
  }
  connection.addEventListener('message', ({ data }) => { arrivedBytes += data.byteLength })
}

/** The same muxer, whose one connection is watched */
export function watchMuxer (create: (...args: any[]) => StreamMuxerFactory): () => StreamMuxerFactory {
  return (...args) => {
    const factory = create(...args)
    const createStreamMuxer = factory.createStreamMuxer.bind(factory)

    factory.createStreamMuxer = connection => {
      // ahead of the muxer, which may consume what it gets
      watch(connection)

      return createStreamMuxer(connection)
    }

    return factory
  }
}

/** None where no muxer was handed a connection */
export async function sampleWatched (toMs: number): Promise<Instant[]> {
  const instants: Instant[] = []

  if (!isWatching) {
    return instants
  }

  for (let atMs = nowMs(); atMs < toMs; atMs = nowMs()) {
    instants.push({ atMs, handedDownBytes, arrivedBytes })
    await sleep(SAMPLE_EVERY_MS)
  }

  return instants
}

/** At each instant of who sends that lies between two of who receives, to whom bytes are taken to have come at a steady rate between them */
export function inFlightBytes (from: Instant[], to: Instant[]): number[] {
  return from.flatMap(({ atMs, handedDownBytes }) => {
    const next = to.findIndex(instant => instant.atMs >= atMs)

    if (next < 1) {
      return []
    }

    const [before, after] = [to[next - 1], to[next]]
    const part = (atMs - before.atMs) / (after.atMs - before.atMs)

    return [handedDownBytes - before.arrivedBytes - part * (after.arrivedBytes - before.arrivedBytes)]
  })
}
