// One end of one connection to a peer, whatever it runs over.
import type { Stream, StreamMuxerFactory } from '@libp2p/interface'
import type { WatchedMuxer } from './watched-muxer.ts'

export interface Session extends WatchedMuxer {
  openStream(): Promise<Stream>
  /** Ends the connection in good order */
  close(): Promise<void>
}

export interface Endpoint {
  /** Returns the address to dial */
  listen(): Promise<string>
  dial(address: string): Promise<void>
  /** Resolves when there is a connection, dialled or accepted */
  session: Promise<Session>
  stop(): Promise<void>
}

export interface EndpointInit {
  createMuxer: () => StreamMuxerFactory
  onStream(stream: Stream): void
}
