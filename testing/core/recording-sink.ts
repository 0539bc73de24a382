/**
 * Writes down what a decoder reports, in the order it does.
 */
import type { FrameSink } from '../../src/core/wire/decoder.ts'

export interface Header {
  type: number
  flags: number
  streamId: number
  length: number
}

export class RecordingSink implements FrameSink {
  readonly headers: Header[] = []
  /** What was called, in order */
  readonly calls: Array<'header' | 'body' | 'end'> = []
  /** Every piece of every body, as it was handed over */
  readonly pieces: Uint8Array[] = []
  readonly #wants: (header: Header) => boolean

  constructor (wants: (header: Header) => boolean = () => true) {
    this.#wants = wants
  }

  onHeader (type: number, flags: number, streamId: number, length: number): boolean {
    const header = { type, flags, streamId, length }
    this.headers.push(header)
    this.calls.push('header')

    return this.#wants(header)
  }

  onBody (piece: Uint8Array): void {
    this.pieces.push(piece)
    this.calls.push('body')
  }

  onBodyEnd (): void {
    this.calls.push('end')
  }
}
