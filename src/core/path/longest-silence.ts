/**
 * How long a path had nothing to do because no pong came, lately: so long what is under way must last. Fades slowly, so that little is
 * lost when it was forgotten too soon; and a program that stood still once in a while is forgiven, or a second of it would be queued for.
 */

const FADES_MS = 10_000
const FORGIVEN_PART = 0.01
const MOST_FORGIVEN_MS = 1000

export class LongestSilence {
  ms = 0
  #atMs = 0
  #forgivenMs = 0
  #forgivenAtMs: number | undefined

  fade (nowMs: number): void {
    this.ms *= Math.exp(-Math.abs(nowMs - this.#atMs) / FADES_MS)
    this.#atMs = nowMs
  }

  learn (silentMs: number, nowMs: number): void {
    this.fade(nowMs)
    this.ms = Math.max(this.ms, silentMs)
  }

  /** It is within the part of the time that may be lost */
  forgives (silentMs: number, nowMs: number): boolean {
    this.#forgivenMs = Math.min(MOST_FORGIVEN_MS, this.#forgivenMs + FORGIVEN_PART * Math.abs(nowMs - (this.#forgivenAtMs ?? nowMs)))
    this.#forgivenAtMs = nowMs
    const isForgiven = silentMs <= this.#forgivenMs
    this.#forgivenMs -= isForgiven ? silentMs : 0

    return isForgiven
  }
}
