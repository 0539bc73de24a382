// An uplink of 10 Mbit/s, as many have at home: what connects to this port comes out at another one, packet after packet.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'

const BYTES_PER_MS = 1_250
const PACKET_BYTES = 1_460
/** What a timer may wake too late is made up for */
const LATE_MS = 20

async function * slowly (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let lineFreeMs = 0

  for await (const chunk of chunks) {
    for (let offset = 0; offset < chunk.length; offset += PACKET_BYTES) {
      const packet = chunk.subarray(offset, offset + PACKET_BYTES)
      lineFreeMs = Math.max(lineFreeMs, performance.now() - LATE_MS) + packet.length / BYTES_PER_MS
      const waitMs = lineFreeMs - performance.now()

      // timers know no less
      if (waitMs >= 1) {
        await sleep(waitMs)
      }

      yield packet
    }
  }
}

export async function startSlowLine (toPort: number): Promise<number> {
  const server = createServer(from => {
    const to = connect(toPort, '127.0.0.1')
    pipeline(from, slowly, to, () => {})
    pipeline(to, from, () => {})
  })

  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')

  return (server.address() as AddressInfo).port
}
