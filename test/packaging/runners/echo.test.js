// Tests of an application with two nodes, as its author writes them for whichever runner and environment.
import { noise } from '@chainsafe/libp2p-noise'
import { memory } from '@libp2p/memory'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'

const { afterEach, beforeEach, expect, test } = globalThis

const PROTOCOL = '/echo/1.0.0'
const STREAMS = 10
const BYTES = 10_000

const createNode = async listen => createLibp2p({
  addresses: { listen },
  transports: [memory()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()]
})

let nodes
let connection

beforeEach(async () => {
  nodes = await Promise.all([createNode([]), createNode(['/memory/listener'])])
  const [dialler, listener] = nodes
  await listener.handle(PROTOCOL, async stream => {
    for await (const bytes of stream) {
      stream.send(bytes)
    }

    await stream.close()
  })
  connection = await dialler.dial(listener.getMultiaddrs())
})

afterEach(async () => {
  await Promise.all(nodes.map(async node => node.stop()))
})

async function echo (value) {
  const stream = await connection.newStream(PROTOCOL)
  let equalBytes = 0

  stream.send(new Uint8Array(BYTES).fill(value))
  await stream.close()

  for await (const bytes of stream) {
    equalBytes += bytes.subarray().filter(byte => byte === value).length
  }

  return equalBytes
}

test('ten streams are echoed, and the connection is closed by a signal of the environment', async () => {
  expect(await Promise.all(Array.from({ length: STREAMS }, async (_, i) => echo(i)))).toEqual(Array(STREAMS).fill(BYTES))

  await connection.close({ signal: AbortSignal.timeout(5000) })
  expect(connection.status).toBe('closed')
})

test('a message is an event to the environment', async () => {
  const stream = await connection.newStream(PROTOCOL)
  const target = new EventTarget()
  const received = new Promise(resolve => { target.addEventListener('message', resolve) })
  stream.addEventListener('message', evt => { target.dispatchEvent(evt) })
  stream.send(Uint8Array.of(1))

  expect((await received).data.subarray()).toEqual(Uint8Array.of(1))
})
