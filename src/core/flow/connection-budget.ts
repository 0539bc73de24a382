/**
 * What all receive windows of a connection may grow by together. A thousand streams that each earn
 * a large window would otherwise add up to more memory than the machine has.
 *
 * Invariant: availableBytes + what windows have taken and not returned = the total.
 */

export class ConnectionBudget {
  availableBytes: number

  constructor (totalBytes: number) {
    this.availableBytes = totalBytes
  }

  /** Returns how much of the wish is granted */
  take (wishBytes: number): number {
    const grantedBytes = Math.min(wishBytes, this.availableBytes)
    this.availableBytes -= grantedBytes

    return grantedBytes
  }

  giveBack (bytes: number): void {
    this.availableBytes += bytes
  }
}
