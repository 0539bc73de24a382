// A muxer directly on a connection: no encryption, no negotiation.
import { createMuxer } from './muxer.ts'
import type { ContestantMuxer } from '../../contestants.ts'
import type { Endpoint, OnStream } from './endpoint.ts'
import type { MessageStream, StreamMuxer } from '@libp2p/interface'

/** What carries the bytes of a muxer */
export interface Wire {
  listen(onConnection: (connection: MessageStream) => void): Promise<string[]>
  dial(addresses: string[]): Promise<MessageStream>
}

export async function createBareEndpoint (name: ContestantMuxer, wire: Wire): Promise<Endpoint> {
  const factory = (await createMuxer(name))()
  let onStream: OnStream = stream => { stream.abort(new Error('Nobody handles streams')) }
  let addresses: string[] = []
  let muxer: StreamMuxer

  function begin (connection: MessageStream): StreamMuxer {
    muxer = factory.createStreamMuxer(connection)
    muxer.addEventListener('stream', evt => { onStream(evt.detail) })

    return muxer
  }

  return {
    countsWrites: true,

    async listen () {
      return wire.listen(begin)
    },

    async dial (remote) {
      addresses = remote

      if (name !== 'none') {
        begin(await wire.dial(addresses))
      }
    },

    async handle (handler) {
      onStream = handler
    },

    async unhandle () {},

    async openStream () {
      return (name === 'none' ? begin(await wire.dial(addresses)) : muxer).createStream()
    }
  }
}
