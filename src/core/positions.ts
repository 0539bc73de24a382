/**
 * How far a connection has come, in bytes from its first one: what was written, and what of it the peer is known to have read. The session
 * moves all of them but `confirmedBytes`, which whoever knows the position of an answered ping moves too.
 *
 * Invariant: confirmedBytes <= writtenBytes, and so are markedBytes and dataEndBytes.
 */
export class Positions {
  /** All that was handed to the transport */
  writtenBytes = 0
  /** Where the last mark stands: a ping behind data, whose pong says that the data has arrived */
  markedBytes = 0
  /** Where the last ping stands that is no mark */
  pingedBytes = 0
  /** Where the last data ends */
  dataEndBytes = 0
  /** A pong said that the peer has read so much */
  confirmedBytes = 0

  confirm (positionBytes: number): void {
    this.confirmedBytes = Math.max(this.confirmedBytes, positionBytes)
  }
}
