/**
 * A buffer that bytes lie in was transferred or shrunk while they waited: they are lost, and with them their stream.
 */
export abstract class BytesChangedError extends Error {
  abstract readonly code: string
}

/** By the application that gave them to `send()` */
export class SentBytesChangedError extends BytesChangedError {
  override name = 'SentBytesChangedError'
  readonly code = 'ERR_SENT_BYTES_CHANGED'

  constructor (bytesBefore: number, bytesNow: number) {
    super(`send() was given ${bytesBefore} bytes, of which ${bytesNow} were left to be written: send a copy of a buffer that you transfer or shrink`)
  }
}

/** By who was given other bytes of the same chunk */
export class ReceivedBytesChangedError extends BytesChangedError {
  override name = 'ReceivedBytesChangedError'
  readonly code = 'ERR_RECEIVED_BYTES_CHANGED'

  constructor (bytesBefore: number, bytesNow: number) {
    super(`${bytesBefore} bytes had arrived, of which ${bytesNow} were left to be read: do not transfer the buffer of what a stream delivers`)
  }
}
