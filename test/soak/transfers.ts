/**
 * What the workers of the soak do with one stream: each either ends with the right bytes or throws.
 */
import { PROTOCOLS } from '../../testing/libp2p/handlers.ts'
import { MAX_STREAMS } from '../../testing/libp2p/serving-node.ts'
import { patternPieces } from '../../testing/pattern.ts'
import { patternDigest, readDigest } from '../../testing/libp2p/digest.ts'
import { firstMessage, readAll, sendAndClose } from '../../testing/libp2p/streams.ts'
import type { ProtocolName } from '../../testing/libp2p/handlers.ts'
import type { Connection, Stream } from '@libp2p/interface'

export type Transfer = (connection: Connection, seed: number, byteLength: number) => Promise<void>

/** A transfer that ended without an error and without the right bytes */
export class WrongBytesError extends Error {
  override name = 'WrongBytesError'
}

async function open (connection: Connection, protocol: ProtocolName): Promise<Stream> {
  return connection.newStream(PROTOCOLS[protocol], { maxOutboundStreams: MAX_STREAMS })
}

function check (protocol: ProtocolName, byteLength: number, digest: string, expected: string): void {
  if (digest !== expected) {
    throw new WrongBytesError(`${protocol} of ${byteLength} bytes gave ${digest}, expected ${expected}`)
  }
}

/** Sends, and compares the digest that the peer made of it */
function sends (protocol: 'hash' | 'slow'): Transfer {
  return async (connection, seed, byteLength) => {
    const stream = await open(connection, protocol)
    const answer = readAll(stream)
    await Promise.all([answer, sendAndClose(stream, patternPieces(byteLength, seed))])
    check(protocol, byteLength, Buffer.from(await answer).toString('hex'), patternDigest(seed, byteLength))
  }
}

const receives: Transfer = async (connection, seed, byteLength) => {
  const stream = await open(connection, 'source')
  const digest = readDigest(stream)
  await Promise.all([digest, sendAndClose(stream, [new TextEncoder().encode(JSON.stringify({ seed, byteLength }))])])
  check('source', byteLength, await digest, patternDigest(seed, byteLength))
}

const echoes: Transfer = async (connection, seed, byteLength) => {
  const stream = await open(connection, 'echo')
  const digest = readDigest(stream)
  await Promise.all([digest, sendAndClose(stream, patternPieces(byteLength, seed))])
  check('echo', byteLength, await digest, patternDigest(seed, byteLength))
}

/** Gives up in the middle */
const aborts: Transfer = async (connection, seed, byteLength) => {
  const stream = await open(connection, 'hash')

  for (const piece of patternPieces(byteLength, seed)) {
    stream.send(piece)
  }

  stream.abort(new Error('Gave up'))
}

/** Leaves a peer that never reads */
const leaves: Transfer = async connection => {
  const stream = await open(connection, 'hang')
  await firstMessage(stream)
  stream.abort(new Error('Left'))
}

/** Small ones more often */
export const TRANSFERS: Transfer[] = [sends('hash'), sends('hash'), receives, receives, echoes, echoes, sends('slow'), aborts, leaves]
