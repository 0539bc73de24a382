// Connections to the target: raw TCP, or TCP with multistream-select and Noise as libp2p has them; dialled, or accepted.
import { EventEmitter, once } from 'node:events'
import { isIP } from 'node:net'
import { noise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { defaultLogger } from '@libp2p/logger'
import { handle, select } from '@libp2p/multistream-select'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import type { MessageStream, MultiaddrConnection, Upgrader } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

const YAMUX = '/yamux/1.0.0'
const CONNECT_MS = 5_000
/** A target that dials does so again when a connection has ended, perhaps after a pause */
const BE_DIALLED_MS = 20_000

export interface TransportInit {
  host: string
  port: number
  listen: boolean
  libp2p: boolean
}

export interface Transport {
  /** Where it listens, if it does */
  address?: string
  /** A new connection, on which yamux is spoken from the first byte */
  connect (): Promise<MessageStream>
  stop (): Promise<void>
}

/** Agrees on Noise and yamux; a key of its own for each connection, so that no target takes them for one peer's */
async function agree (connection: MultiaddrConnection, signal: AbortSignal): Promise<MessageStream> {
  const isDialler = connection.direction === 'outbound'
  const privateKey = await generateKeyPair('Ed25519')
  const encrypter = noise()({ logger: defaultLogger(), privateKey, peerId: peerIdFromPrivateKey(privateKey), upgrader: {} as unknown as Upgrader })
  const agreeOn = async (stream: MessageStream, protocol: string): Promise<unknown> => (isDialler ? select : handle)(stream, [protocol], { signal })
  const options = { signal, skipStreamMuxerNegotiation: true }

  await agreeOn(connection, encrypter.protocol)
  const secured = await (isDialler ? encrypter.secureOutbound(connection, options) : encrypter.secureInbound(connection, options))
  await agreeOn(secured.connection, YAMUX)

  return secured.connection
}

/** A signal that no longer aborts once its work is done: libp2p would end the connection */
async function within<T> (limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => { controller.abort(new Error(`No connection within ${limitMs / 1000} s`)) }, limitMs)

  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

function toMultiaddr (host: string, port: number): Multiaddr {
  const kind = isIP(host) === 0 ? 'dns' : `ip${isIP(host)}`

  return multiaddr(`/${kind}/${host}/tcp/${port}`)
}

export async function createTransport ({ host, port, listen, libp2p }: TransportInit): Promise<Transport> {
  const transport = tcp()({ logger: defaultLogger() })
  const address = toMultiaddr(host, port)
  const upgrade = async (connection: MultiaddrConnection, signal: AbortSignal): Promise<MessageStream> => libp2p ? agree(connection, signal) : connection

  if (!listen) {
    return {
      async connect () {
        return within(CONNECT_MS, async signal => {
          const upgrader = { upgradeOutbound: async (connection: MultiaddrConnection) => upgrade(connection, signal) } as unknown as Upgrader

          // what the upgrader makes is what dial() returns
          return await transport.dial(address, { upgrader, signal }) as unknown as MessageStream
        })
      },
      async stop () {}
    }
  }

  const accepted: MessageStream[] = []
  const accepts = new EventEmitter()
  const listener = transport.createListener({
    upgrader: {
      async upgradeInbound (connection: MultiaddrConnection) {
        accepted.push(await within(CONNECT_MS, async signal => upgrade(connection, signal)))
        accepts.emit('connection')
      }
    } as unknown as Upgrader
  })
  await listener.listen(address)

  return {
    address: listener.getAddrs().map(bound => bound.toString().split('/').filter((_, index) => index % 2 === 0).slice(1).join(':'))[0],
    async connect () {
      const signal = AbortSignal.timeout(BE_DIALLED_MS)

      while (accepted.length === 0) {
        await once(accepts, 'connection', { signal }).catch(() => { throw new Error(`Nobody has dialled within ${BE_DIALLED_MS / 1000} s`) })
      }

      return accepted.shift() as MessageStream
    },
    async stop () { await listener.close() }
  }
}
