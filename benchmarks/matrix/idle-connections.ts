// What a connection with a few idle streams holds in memory, on either side, in two fresh processes.
import { startChild } from '../../testing/programs/child.ts'
import type { MuxerName } from '../contestants.ts'
import type { Metrics } from '../report/metrics.ts'
import type { IdleConnectionsCommands } from './idle-connections-peer.ts'

const CONNECTIONS = 200
const STREAMS_EACH = 5
/** What is made once for all connections is made by these */
const FIRST_CONNECTIONS = 5

export const idleConnections = { id: 'idle-connections', label: `${CONNECTIONS} connections, ${STREAMS_EACH} idle streams each` }

const peer = new URL('idle-connections-peer.ts', import.meta.url)

export async function measureIdleConnections (muxer: MuxerName): Promise<Metrics> {
  const children = ['dialer', 'listener'].map(role =>
    startChild<IdleConnectionsCommands>(peer, `${role} of ${muxer}`, { execArgv: ['--expose-gc'] }))
  const [dialer, listener] = children.map(({ commands }) => commands)
  const usedBytes = async (): Promise<number[]> => Promise.all([dialer.usedBytes(), listener.usedBytes()])

  try {
    const [addresses] = await Promise.all([listener.start(muxer), dialer.start(muxer)])
    await dialer.connect(addresses, FIRST_CONNECTIONS, STREAMS_EACH)
    const before = await usedBytes()
    await dialer.connect(addresses, CONNECTIONS, STREAMS_EACH)
    const [dialerKib, listenerKib] = (await usedBytes()).map((bytes, i) => (bytes - before[i]) / CONNECTIONS / 1024)

    return { dialerKibPerConnection: dialerKib, listenerKibPerConnection: listenerKib }
  } finally {
    await Promise.all(children.map(async child => child.stop()))
  }
}
