// sendData() of @libp2p/tcp writes each piece of a list by itself.
import { createServer, Socket } from 'node:net'
import { defaultLogger } from '@libp2p/logger'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { pEvent } from 'p-event'
import { Uint8ArrayList } from 'uint8arraylist'
import { expect, test, vi } from 'vitest'
import type { AddressInfo } from 'node:net'
import type { MultiaddrConnection, Upgrader } from '@libp2p/interface'

/** What the kernel is handed for 100 records as Noise sends them, the length first */
async function socketWrites (): Promise<number> {
  const server = createServer(socket => { socket.resume() }).listen(0, '127.0.0.1')
  await pEvent(server, 'listening')
  const address = multiaddr(`/ip4/127.0.0.1/tcp/${(server.address() as AddressInfo).port}`)
  const upgrader = { upgradeOutbound: async (socket: unknown) => socket } as unknown as Upgrader
  const connection: unknown = await tcp()({ logger: defaultLogger() }).dial(address, { upgrader, signal: AbortSignal.timeout(5000) })
  const socket = connection as MultiaddrConnection
  const spies = [vi.spyOn(Socket.prototype, '_write'), vi.spyOn(Socket.prototype, '_writev' as '_write')]

  for (let record = 0; record < 100; record++) {
    socket.send(new Uint8ArrayList(new Uint8Array(2), new Uint8Array(128)))
  }

  await socket.close()
  server.close()
  const writes = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  vi.restoreAllMocks()

  return writes
}

test('today 100 records of two pieces are 200 writes', async () => {
  expect(await socketWrites()).toBe(200)
})

test.fails('once fixed, a record is one write at most', async () => {
  expect(await socketWrites()).toBeLessThanOrEqual(100)
})
