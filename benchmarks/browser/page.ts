// The page that is measured: one cell of one round whenever it is told to.
import { connectToProcess, connectToWorker } from './connect.ts'
import { sendMessages } from './messages.ts'
import type { MuxerName } from '../contestants.ts'
import type { Open } from './connect.ts'

export interface Cell {
  muxer: MuxerName
  /** Of a process; a worker of the page if there is none */
  address?: string
  messageBytes: number
  count: number
}

export interface MeasuredPage {
  /** Returns how many milliseconds all messages took */
  measure (cell: Cell): Promise<number>
}

const connections = new Map<string, Promise<Open>>()

async function measure ({ muxer, address, messageBytes, count }: Cell): Promise<number> {
  const key = `${muxer} ${address}`
  const connecting = connections.get(key) ?? (address == null ? connectToWorker(muxer) : connectToProcess(muxer, address))
  connections.set(key, connecting)
  const open = await connecting

  return sendMessages(await open(), messageBytes, count)
}

Object.assign(globalThis, { measure } satisfies MeasuredPage)
