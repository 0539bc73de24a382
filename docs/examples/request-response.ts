// Requests and answers, a stream for each: with a time limit, and with errors that the other side explains.
//
//   npm run example docs/examples/request-response.ts
import { setTimeout as sleep } from 'node:timers/promises'
import { noise } from '@chainsafe/libp2p-noise'
import { tcp } from '@libp2p/tcp'
import { lpStream } from '@libp2p/utils'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import type { Libp2p, Stream } from '@libp2p/interface'

const PROTOCOL = '/example/sum/1'
const TIMEOUT_MS = 10_000
const LIMITS = { maxDataLength: 65_536 }

const server = await createNode()
// libp2p allows a peer 32 open streams of a protocol, and resets more, unless told otherwise
await server.handle(PROTOCOL, answer, { maxInboundStreams: 256 })
const client = await createNode()

console.log('1, 2, 3:', await ask({ numbers: [1, 2, 3] }))
console.log('1, two:', await ask({ numbers: [1, 'two'] }).catch(String))
console.log('slowly:', await ask({ numbers: [1], delayMs: 60_000 }, 500).catch(String))
const sums = await Promise.all(Array.from({ length: 200 }, async (_, i) => ask({ numbers: [i, i] })))
console.log('200 together:', sums.join(' '))
await client.stop()
await server.stop()

async function ask (request: object, timeoutMs = TIMEOUT_MS): Promise<number> {
  // for all of it: the dial if there is no connection yet, the stream, the answer
  const signal = AbortSignal.timeout(timeoutMs)
  const stream = await client.dialProtocol(server.getMultiaddrs(), PROTOCOL, { signal, maxOutboundStreams: 256 })

  try {
    // a stream is bytes: the length in front of each message says where it ends
    const messages = lpStream(stream, LIMITS)
    await messages.write(encode(request), { signal })
    const { sum, error } = decode((await messages.read({ signal })).subarray())
    await stream.close({ signal })

    if (error != null) {
      throw new Error(error)
    }

    return sum
  } catch (err: any) {
    // the peer need not work on; a stream that is closed stays so
    stream.abort(err)
    throw err
  }
}

async function answer (stream: Stream): Promise<void> {
  const messages = lpStream(stream, LIMITS)
  const request = decode((await messages.read()).subarray())
  const asker = new AbortController()
  stream.addEventListener('close', ({ error }) => { asker.abort(error) })

  try {
    await messages.write(encode({ sum: await sum(request, asker.signal) }))
  } catch (err: any) {
    if (asker.signal.aborted) {
      console.log('Nobody waits for this sum any more')
      return
    }

    await messages.write(encode({ error: err.message }))
  }

  await stream.close()
}

async function sum ({ numbers, delayMs = 0 }: { numbers: number[], delayMs?: number }, signal: AbortSignal): Promise<number> {
  const wrong = numbers.find(number => typeof number !== 'number')

  if (wrong != null) {
    throw new Error(`${wrong} is not a number`)
  }

  await sleep(delayMs, undefined, { signal })

  return numbers.reduce((sum, number) => sum + number)
}

async function createNode (): Promise<Libp2p> {
  return createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()]
  })
}

function encode (message: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(message))
}

function decode (bytes: Uint8Array): any {
  return JSON.parse(new TextDecoder().decode(bytes))
}
