// No muxer at all, in a muxer's place: the connection itself is the only stream. The limit of what a muxer can reach.
import { TypedEventEmitter } from '@libp2p/interface'
import type { MessageStream, Stream, StreamMuxer, StreamMuxerEvents, StreamMuxerFactory, StreamMuxerStatus } from '@libp2p/interface'

const PROTOCOL = '/none'

class NoMuxer extends TypedEventEmitter<StreamMuxerEvents> implements StreamMuxer {
  readonly protocol = PROTOCOL
  readonly #stream: Stream

  constructor (connection: MessageStream) {
    super()
    // what else a stream has, every connection of libp2p has as well
    this.#stream = Object.assign(connection, { id: '0', protocol: '', closeRead: async () => {} }) as unknown as Stream
  }

  /** The stream that the other side opened is there from the start: whoever begins to listen is told */
  override addEventListener (...args: Parameters<TypedEventEmitter<StreamMuxerEvents>['addEventListener']>): void {
    super.addEventListener(...args)

    if (args[0] === 'stream' && this.#stream.direction === 'inbound') {
      this.safeDispatchEvent('stream', { detail: this.#stream })
    }
  }

  get status (): StreamMuxerStatus {
    return this.#stream.status === 'open' ? 'open' : 'closed'
  }

  get streams (): Stream[] {
    return this.status === 'open' ? [this.#stream] : []
  }

  async createStream (): Promise<Stream> {
    return this.#stream
  }

  abort (err: Error): void {
    this.#stream.abort(err)
  }

  async close (): Promise<void> {
    await this.#stream.close()
  }
}

export function noMuxer (): () => StreamMuxerFactory {
  return () => ({ protocol: PROTOCOL, createStreamMuxer: connection => new NoMuxer(connection) })
}
