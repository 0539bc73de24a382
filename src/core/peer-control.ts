/**
 * The part of the seam that looks at the peer: how much the peer may have in flight. All that arrives here was allowed by credit, so credit is
 * what bounds it. Pure: time and bytes go in.
 */

/** The same one for the whole connection */
export interface PeerControl {
  /**
   * How much credit may be in flight: given back, and not known to be used. The rest waits, and goes back in portions; the last portion may exceed
   * this. Infinity: none waits.
   */
  readonly boundBytes: number
  /** How long credit travels, as far as windows should allow for it. Infinity until that is known. */
  readonly creditMs: number
  /** The shortest round trip of the path, which limits the head start of new streams. Infinity until it was measured. */
  readonly shortestMs: number

  /**
   * So much was handled: a chunk while credit is bound, otherwise a frame or more. Returns true if a ping should be sent; without a bound it goes
   * with the next window update.
   */
  onReceived (byteLength: number, nowMs: number): boolean
  /** A round has begun: a ping is written after so much credit in flight. `isWithheld`: more waits to be given back. */
  onRoundBegun (creditBytes: number, isWithheld: boolean, nowMs: number): void
  /** The pong ends the round. While credit waits, another ping follows. */
  onRoundEnded (roundTripMs: number, nowMs: number): void
  /** Credit is withheld, and nothing has arrived for 10 s, no pong either: set `boundBytes` to Infinity */
  onSilence (): void
}

/** Withholds nothing */
export const NO_PEER_CONTROL: PeerControl = {
  boundBytes: Infinity,
  creditMs: Infinity,
  shortestMs: Infinity,
  onReceived: () => false,
  onRoundBegun () {},
  onRoundEnded () {},
  onSilence () {}
}
