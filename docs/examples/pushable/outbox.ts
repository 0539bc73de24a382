// An outgoing queue for a stream, made with it-pushable as in many protocols. It stays short: if the other side reads slowly, push() waits.
import { pushable } from 'it-pushable'
import type { Stream } from '@libp2p/interface'

/** The queue holds at most one message more. The stream's own queue and the peer's window come on top. */
export const MAX_QUEUED_BYTES = 65_536

export class Outbox {
  readonly #queue = pushable()
  readonly #ended = new AbortController()
  readonly #sent: Promise<void>

  constructor (stream: Stream) {
    // without this, a push() that waits for room would hang
    stream.addEventListener('close', ({ error }) => {
      this.#ended.abort(error)
      this.#queue.end(error)
    })
    this.#sent = this.#sendAll(stream)
    // push() and end() report it
    this.#sent.catch(() => {})
  }

  get queuedBytes (): number {
    return this.#queue.readableLength
  }

  /** Resolves when there is room for the next message. Rejects if the stream has ended, where a pushable would silently drop the message. */
  async push (message: Uint8Array): Promise<void> {
    const { signal } = this.#ended
    signal.throwIfAborted()
    this.#queue.push(message)

    if (this.queuedBytes >= MAX_QUEUED_BYTES) {
      await this.#queue.onEmpty({ signal }).catch(() => { signal.throwIfAborted() })
    }
  }

  /** Resolves when all messages have left and the stream is closed for writing */
  async end (): Promise<void> {
    this.#queue.end()
    await this.#sent
  }

  // Not pipe() of @libp2p/utils: it also reads everything that comes in, so this side could never hold back the other one
  async #sendAll (stream: Stream): Promise<void> {
    for await (const message of this.#queue) {
      if (!stream.send(message)) {
        // the stream is full: meanwhile messages stay in the queue
        await stream.onDrain()
      }
    }

    await stream.close()
  }
}
