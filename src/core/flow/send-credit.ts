/**
 * How many payload bytes the peer lets this side send on one stream.
 *
 * Invariant: spent <= INITIAL_WINDOW_BYTES + granted, and 0 <= availableBytes <= 2^32-1.
 */
import { INITIAL_WINDOW_BYTES, MAX_UINT32 } from '../frame/frame.ts'
import { ProtocolError } from '../protocol-error.ts'

export class SendCredit {
  /**
   * Starts at the protocol's window whatever this side's own configuration says:
   * a larger one exists only once the peer has advertised it.
   */
  availableBytes = INITIAL_WINDOW_BYTES

  grant (deltaBytes: number, streamId: number): void {
    const sumBytes = this.availableBytes + deltaBytes

    if (sumBytes > MAX_UINT32) {
      throw new ProtocolError('ERR_SEND_WINDOW_OVERFLOW', `received a window update of ${deltaBytes} bytes on stream ${streamId} which has ${this.availableBytes} bytes of credit left, together they may not exceed ${MAX_UINT32}`)
    }

    this.availableBytes = sumBytes
  }

  spend (payloadBytes: number): void {
    this.availableBytes -= payloadBytes
  }
}
