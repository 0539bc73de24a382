/**
 * The open streams as programs see them: one list, which a program may keep. What has ended leaves it a microtask later, or when somebody
 * asks for the list, so that a loop over it that aborts each stream comes to all of them.
 */
import type { MuxedStream } from '../stream/stream.ts'

export class StreamList {
  readonly #streams: MuxedStream[] = []
  readonly #ended: MuxedStream[] = []

  get current (): MuxedStream[] {
    this.settle()

    return this.#streams
  }

  add (stream: MuxedStream): void {
    this.#streams.push(stream)
  }

  remove (stream: MuxedStream): void {
    if (this.#ended.push(stream) === 1) {
      queueMicrotask(this.settle)
    }
  }

  /** Looks from the end, where streams that live shortly are, for those that ended last: when all end it looks at each once */
  readonly settle = (): void => {
    for (let stream = this.#ended.pop(); stream !== undefined; stream = this.#ended.pop()) {
      const index = this.#streams.lastIndexOf(stream)

      if (index !== -1) {
        this.#streams.splice(index, 1)
      }
    }
  }
}
