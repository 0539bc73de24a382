// Every stream begins with its index, which tells the receiver what bytes to expect on it.
import { Uint8ArrayList } from 'uint8arraylist'
import { isAt, startOfStream } from './pattern.ts'
import { viewsOf } from './streams.ts'
import type { Stream } from '@libp2p/interface'

const INDEX_BYTES = 4

export function sendIndex (stream: Stream, index: number): void {
  const bytes = Buffer.alloc(INDEX_BYTES)
  bytes.writeUInt32BE(index)
  stream.send(bytes)
}

/** `begin` gets the index and returns what takes the bytes that follow it */
export function onIndexed (stream: Stream, begin: (index: number) => (bytes: Uint8Array) => void): void {
  const head = new Uint8ArrayList()
  let onBytes: ((bytes: Uint8Array) => void) | undefined

  stream.addEventListener('message', ({ data }) => {
    if (onBytes == null) {
      head.append(data)

      if (head.byteLength < INDEX_BYTES) {
        return
      }

      onBytes = begin(Buffer.from(head.subarray(0, INDEX_BYTES)).readUInt32BE())
      data = head.sublist(INDEX_BYTES)
    }

    for (const view of viewsOf(data)) {
      onBytes(view)
    }
  })
}

/** Compares what follows the index with what such a stream is sent */
export function onVerified (stream: Stream, onRight: (index: number, byteLength: number) => void, onWrong: (err: Error) => void): void {
  onIndexed(stream, index => {
    let verifiedBytes = 0

    return bytes => {
      if (isAt(startOfStream(index) + verifiedBytes, bytes)) {
        verifiedBytes += bytes.byteLength
        onRight(index, bytes.byteLength)
      } else {
        onWrong(new Error(`Stream ${index} got wrong bytes after ${verifiedBytes} right ones`))
      }
    }
  })
}
