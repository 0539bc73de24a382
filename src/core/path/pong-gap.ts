/**
 * How long it is from one pong to the next while data waits. Until the next one comes nobody knows what has arrived, so that much more has to
 * be under way: with less a peer that answers few marks, or a program of this node that looks for pongs only now and then, leaves the path
 * empty in between, the rate that is seen falls, and what is allowed follows it down.
 */

/** A gap counts by what arrived in it, until so many times what is under way has come behind it: pongs in a clump make it no shorter */
const REMEMBERED = 2
/** The clock has jumped */
const LONGEST_MS = 60_000

export class PongGap {
  /** The mean that a byte has seen */
  ms = 0

  /** `gapMs` before this pong there was another, or data began to be handed down; so much has arrived since */
  learn (gapMs: number, arrivedBytes: number, underWayBytes: number): void {
    if (gapMs >= 0 && gapMs <= LONGEST_MS) {
      this.ms += (gapMs - this.ms) * Math.min(1, arrivedBytes / (REMEMBERED * underWayBytes))
    }
  }
}
