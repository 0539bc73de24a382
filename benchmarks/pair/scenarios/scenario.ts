// What every scenario provides: a sender half and a receiver half.
import type { Stream } from '@libp2p/interface'
import type { Row } from '../../rows.ts'

export interface SenderHalf {
  /** Does so many units of work without a break, done when the receiver has confirmed all of it */
  work(units: number): Promise<void>
  /** One entry per request, for the scenario that measures latency */
  latenciesMs?: number[]
  close(): Promise<void>
}

export interface ReceiverHalf {
  onStream(stream: Stream): void
  close(): void
}

export interface Scenario {
  /** Resolves when all streams are open and known to the receiver */
  send(openStream: () => Promise<Stream>, row: Row): Promise<SenderHalf>
  receive(row: Row): ReceiverHalf
}

export type OpenStream = Parameters<Scenario['send']>[0]
