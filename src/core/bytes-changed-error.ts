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
    super(`send() was given ${bytesBefore} bytes, which were ${bytesNow} when they were to be written: do not transfer or shrink a buffer before its bytes are written, or send a copy`)
  }
}

/** By who was given other bytes of the same chunk */
export class ReceivedBytesChangedError extends BytesChangedError {
  override name = 'ReceivedBytesChangedError'
  readonly code = 'ERR_RECEIVED_BYTES_CHANGED'

  constructor (bytesBefore: number, bytesNow: number) {
    super(`${bytesBefore} bytes had arrived, which were ${bytesNow} when they were to be read: do not transfer the buffer of what a stream delivers, others have bytes in it`)
  }
}
