/**
 * Positions in the bytes that a connection has written, counted from its first one. The session advances them. The path control also advances
 * `confirmedBytes`, as it knows where each mark stands.
 *
 * Invariant: confirmedBytes, markedBytes, pingedBytes and dataEndBytes are at most writtenBytes.
 */
export class Positions {
  /** The end of all that was pulled for the transport */
  writtenBytes = 0
  /** Where the last mark was written: a ping behind data, whose pong confirms that the data has arrived */
  markedBytes = 0
  /** Where the write with the last ordinary ping begins */
  pingedBytes = 0
  /** Where the last write with data ends, without its mark */
  dataEndBytes = 0
  /** How far a pong has confirmed that the peer has read */
  confirmedBytes = 0

  confirm (positionBytes: number): void {
    this.confirmedBytes = Math.max(this.confirmedBytes, positionBytes)
  }
}
