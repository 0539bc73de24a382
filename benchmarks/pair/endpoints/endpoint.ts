// One end of one contestant's connection: whatever multiplexes, over whatever carries it.
import type { Stream } from '@libp2p/interface'

export type OnStream = (stream: Stream) => void

export interface Endpoint {
  /** Returns the addresses to dial, none where the two ends are connected from the start */
  listen(): Promise<string[]>
  dial(addresses: string[]): Promise<void>
  /** What is done from now on with streams that the other side opens */
  handle(onStream: OnStream): Promise<void>
  unhandle(): Promise<void>
  /** Either side may, if the protocol lets it */
  openStream(): Promise<Stream>
  /** Whether the process sees the writes to its sockets; native code makes its own */
  countsWrites: boolean
}
