// A child process: what idle sessions of a muxer hold in memory.
import { setTimeout as sleep } from 'node:timers/promises'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { pEvent } from 'p-event'
import { answer } from '../../harness/child.ts'
import { muxers } from '../../muxers.ts'
import { closeFully, closeWhenRemoteDoes } from '../../scenarios/streams.ts'
import { IDLE_SESSIONS, MESSAGE_BYTES } from './workload.ts'
import type { MuxerName } from '../../muxers.ts'
import type { MessageStream, Stream, StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'

export interface SessionMemory {
  /** Objects of the muxer, its session and what it waits for */
  heapBytes: number
  /** Buffers for bytes */
  bufferBytes: number
}

const SETTLING_MS = 500

/** Sessions that nothing refers to would be collected */
const sessions: StreamMuxer[] = []

async function measure (): Promise<SessionMemory> {
  await sleep(SETTLING_MS)
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()

  return { heapBytes: heapUsed, bufferBytes: arrayBuffers }
}

/** A message there and a closed stream: a session that has worked may hold more than one that never did */
async function startSessions (factory: StreamMuxerFactory, ends: [MessageStream, MessageStream]): Promise<void> {
  const [outbound, inbound] = ends.map(end => factory.createStreamMuxer(end))
  const accepted = pEvent<'stream', CustomEvent<Stream>>(inbound, 'stream')
  const stream = await outbound.createStream()

  stream.send(new Uint8Array(MESSAGE_BYTES))
  const { detail: remote } = await accepted
  await pEvent(remote, 'message')
  closeWhenRemoteDoes(remote)
  await closeFully(stream)
  sessions.push(outbound, inbound)
}

const commands = {
  /** For one end of a session, above what the connection below it takes */
  async measureIdleSession (muxer: MuxerName): Promise<SessionMemory> {
    const factory = (await muxers[muxer]())()

    const pairs = Array.from({ length: IDLE_SESSIONS / 2 }, () => multiaddrConnectionPair())

    // what is made once for all sessions is made here
    await startSessions(factory, multiaddrConnectionPair())
    const before = await measure()

    for (const ends of pairs) {
      await startSessions(factory, ends)
    }

    const after = await measure()

    return {
      heapBytes: (after.heapBytes - before.heapBytes) / IDLE_SESSIONS,
      bufferBytes: (after.bufferBytes - before.bufferBytes) / IDLE_SESSIONS
    }
  }
}

export type MemoryCommands = typeof commands

answer(commands)
