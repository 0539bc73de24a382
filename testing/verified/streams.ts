// Helpers around one stream that all scenarios share.
import { pEvent } from 'p-event'
import { Uint8ArrayList } from 'uint8arraylist'
import type { Stream, StreamCloseEvent } from '@libp2p/interface'

/** Keeps negotiations of many streams below the limits of libp2p */
const OPENED_AT_ONCE = 200

export async function openStreams (openStream: () => Promise<Stream>, count: number): Promise<Stream[]> {
  const streams: Stream[] = []

  while (streams.length < count) {
    const missing = Math.min(OPENED_AT_ONCE, count - streams.length)
    streams.push(...await Promise.all(Array.from({ length: missing }, openStream)))
  }

  return streams
}

export function viewsOf (data: Uint8Array | Uint8ArrayList): Iterable<Uint8Array> {
  return data instanceof Uint8Array ? [data] : data
}

/** Cuts what it is handed into pieces of one length, however it was merged or split */
export function pieceReader (pieceBytes: number, onPiece: (piece: Uint8Array) => void): (data: Uint8Array | Uint8ArrayList) => void {
  const buffered = new Uint8ArrayList()

  return data => {
    buffered.append(data)

    while (buffered.byteLength >= pieceBytes) {
      const piece = buffered.slice(0, pieceBytes)
      buffered.consume(pieceBytes)
      onPiece(piece)
    }
  }
}

export function readPieces (stream: Stream, pieceBytes: number, onPiece: (piece: Uint8Array) => void): void {
  const read = pieceReader(pieceBytes, onPiece)

  stream.addEventListener('message', ({ data }) => { read(data) })
}

/** Reads the replies of a stream one after the other. Without a library's queue: for a stream of one request that was a quarter of what it left behind. */
export function replyReader (stream: Stream, replyBytes: number): () => Promise<Uint8Array> {
  const replies: Uint8Array[] = []
  let arrived = Promise.withResolvers<void>()
  let closedBy: StreamCloseEvent | undefined

  readPieces(stream, replyBytes, reply => {
    replies.push(reply)
    arrived.resolve()
  })
  // no error is made where none is needed: its stack trace takes as long as a write
  stream.addEventListener('close', evt => {
    closedBy = evt
    arrived.resolve()
  })

  return async () => {
    await arrived.promise
    const reply = replies.shift()

    if (reply == null) {
      throw new Error('The stream closed before the receiver had replied', { cause: closedBy?.error })
    }

    if (replies.length === 0 && closedBy == null) {
      arrived = Promise.withResolvers()
    }

    return reply
  }
}

/** Closes this side and waits until the other side has closed as well */
export async function closeFully (stream: Stream): Promise<void> {
  const closed = pEvent(stream, 'close')
  await stream.close()
  await closed
}

/** The answer to closeFully of the other side */
export function closeWhenRemoteDoes (stream: Stream): void {
  stream.addEventListener('remoteCloseWrite', () => {
    stream.close().catch(err => { stream.abort(err) })
  })
}
