// ReqResp of the consensus specification, over streams as Lodestar uses them since libp2p 3: one stream a
// request, whole messages through a byteStream, the writable side closed behind each, one deadline for it all.
// Not `@lodestar/reqresp` itself: the newest that can be installed, 1.5.1, is for a libp2p before 1.
import { byteStream } from '@libp2p/utils'
import { Uint8ArrayList } from 'uint8arraylist'
import * as varint from 'uint8-varint'
import { decodeFrames, encodeFrames } from './snappy-frames.ts'
import type { Libp2p, PeerId, Stream } from '@libp2p/interface'
import type { ByteStream } from '@libp2p/utils'

export type Method = 'status/1' | 'ping/1' | 'goodbye/1' | 'beacon_blocks_by_range/2'

/** Yields one response chunk after the other */
export type Handler = (request: Uint8Array) => AsyncIterable<Uint8Array>

const SUCCESS = 0
/** The fork that each block belongs to */
const FORK_DIGEST = Uint8Array.of(0xaf, 0xca, 0xab, 0xa0)
const REQUEST_TIMEOUT_MS = 30_000
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024

function protocolOf (method: Method): string {
  return `/eth2/beacon_chain/req/${method}/ssz_snappy`
}

function hasContext (method: Method): boolean {
  return method === 'beacon_blocks_by_range/2'
}

function encodePayload (ssz: Uint8Array): Uint8ArrayList {
  return new Uint8ArrayList(varint.encode(ssz.byteLength), encodeFrames(ssz))
}

function encodeResponse (method: Method, ssz: Uint8Array): Uint8ArrayList {
  return new Uint8ArrayList(Uint8Array.of(SUCCESS), ...hasContext(method) ? [FORK_DIGEST] : [], encodePayload(ssz))
}

/** Takes as many bytes as it is asked for from what the stream brings */
class Reader {
  readonly #bytes: ByteStream<Stream>
  readonly #signal: AbortSignal
  readonly #onBytes?: (byteLength: number) => void
  readonly #left = new Uint8ArrayList()

  constructor (bytes: ByteStream<Stream>, signal: AbortSignal, onBytes?: (byteLength: number) => void) {
    this.#bytes = bytes
    this.#signal = signal
    this.#onBytes = onBytes
  }

  async hasMore (): Promise<boolean> {
    return this.#left.byteLength > 0 || this.#readMore()
  }

  readonly read = async (byteLength: number): Promise<Uint8ArrayList> => {
    while (this.#left.byteLength < byteLength) {
      if (!await this.#readMore()) {
        throw new Error(`The stream ended after ${this.#left.byteLength} of ${byteLength} bytes`)
      }
    }

    const taken = this.#left.sublist(0, byteLength)
    this.#left.consume(byteLength)

    return taken
  }

  /** Returns false at the end of the stream */
  async #readMore (): Promise<boolean> {
    const more = await this.#bytes.read({ signal: this.#signal })

    if (more == null) {
      return false
    }

    this.#onBytes?.(more.byteLength)
    this.#left.append(more)

    return true
  }
}

async function readPayload ({ read }: Reader): Promise<Uint8Array> {
  const prefix = new Uint8ArrayList()

  do {
    prefix.append(await read(1))
  } while (prefix.get(prefix.byteLength - 1) >= 0x80)

  const byteLength = varint.decode(prefix)

  if (byteLength > MAX_MESSAGE_BYTES) {
    throw new Error(`A message of ${byteLength} bytes, at most ${MAX_MESSAGE_BYTES} are allowed`)
  }

  return decodeFrames(read, byteLength)
}

async function readResponse (reader: Reader, method: Method): Promise<Uint8Array> {
  const result = (await reader.read(1)).get(0)

  if (result !== SUCCESS) {
    throw new Error(`The answer to ${method} is the error ${result}`)
  }

  if (hasContext(method)) {
    await reader.read(FORK_DIGEST.byteLength)
  }

  return readPayload(reader)
}

/** `onBytes` is told how much comes, as it comes */
export async function request (node: Libp2p, peer: PeerId, method: Method, ssz: Uint8Array, onBytes?: (byteLength: number) => void): Promise<Uint8Array[]> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  const stream = await node.dialProtocol(peer, protocolOf(method), { signal })

  try {
    const bytes = byteStream(stream)
    const reader = new Reader(bytes, signal, onBytes)
    const responses: Uint8Array[] = []

    await bytes.write(encodePayload(ssz), { signal })
    await stream.close({ signal })

    while (await reader.hasMore()) {
      responses.push(await readResponse(reader, method))
    }

    return responses
  } catch (err: any) {
    stream.abort(err)
    throw err
  }
}

async function respond (stream: Stream, method: Method, handler: Handler): Promise<void> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  const bytes = byteStream(stream)

  for await (const ssz of handler(await readPayload(new Reader(bytes, signal)))) {
    await bytes.write(encodeResponse(method, ssz), { signal })
  }

  await stream.close({ signal })
}

/** Who asks is told of an error by the end of the stream; `onFailure` only while it is connected */
export async function serve (node: Libp2p, method: Method, handler: Handler, onFailure: (err: unknown) => void): Promise<void> {
  await node.handle(protocolOf(method), async (stream, connection) => {
    try {
      await respond(stream, method, handler)
    } catch (err: any) {
      stream.abort(err instanceof Error ? err : new Error(`The stream of ${method} ended while it was written to`))

      if (connection.status === 'open') {
        onFailure(err)
      }
    }
  })
}
