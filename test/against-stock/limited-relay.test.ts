// What a relay hands over of a stream that goes beyond its limit of data.
import { fileURLToPath } from 'node:url'
import { defaultLogger } from '@libp2p/logger'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { pEvent } from 'p-event'
import { expect, test } from 'vitest'
import { muxers } from '../../testing/muxers.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { Logger, Stream } from '@libp2p/interface'

interface Reservation {
  limit: { data: bigint }
  signal: AbortSignal
}

type CreateLimitedRelay = (from: Stream, to: Stream, signal: AbortSignal, reservation: Reservation, options: { log: Logger }) => void

// not exported: a relay would count the handshakes of whom it joins too
const relayUtils = new URL('utils.js', import.meta.resolve('@libp2p/circuit-relay-v2'))
const { createLimitedRelay } = await import(fileURLToPath(relayUtils)) as { createLimitedRelay: CreateLimitedRelay }

async function openStream (name: MuxerName): Promise<[opened: Stream, accepted: Stream]> {
  const factory = (await muxers[name]())()
  const [dialler, listener] = multiaddrConnectionPair().map(maConn => factory.createStreamMuxer(maConn))
  const accepted = pEvent<'stream', CustomEvent<Stream>>(listener, 'stream')
  const opened = await dialler.createStream()

  return [opened, (await accepted).detail]
}

test.each([['ours', 0], ['light', 0], ['stock', 4]] as const)('of two sends of 4 bytes, which exceed a limit of 5, a relay with %s hands over %i', async (name, expected) => {
  const [sender, from] = await openStream(name)
  const [to, receiver] = await openStream(name)
  const { signal } = new AbortController()
  let receivedBytes = 0
  receiver.addEventListener('message', evt => { receivedBytes += evt.data.byteLength })
  const ended = pEvent(receiver, 'close')
  createLimitedRelay(from, to, signal, { limit: { data: 5n }, signal }, { log: defaultLogger().forComponent('relay') })
  sender.send(new Uint8Array(4))
  sender.send(new Uint8Array(4))
  await ended

  expect(receiver.status).toBe('reset')
  expect(receivedBytes).toBe(expected)
})
