// The page: sends what is typed to the peer of the address, and shows what comes back, and after how long.
import { noise } from '@chainsafe/libp2p-noise'
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { identify } from '@libp2p/identify'
import { webSockets } from '@libp2p/websockets'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import { ECHO } from './protocol.ts'

const [address, words] = ['address', 'words'].map(id => document.getElementById(id) as HTMLInputElement)

const node = await createLibp2p({
  transports: [webSockets(), circuitRelayTransport()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  services: { identify: identify() },
  // browsers dial no private addresses otherwise, and here all are on one machine
  connectionGater: { denyDialMultiaddr: () => false }
})

address.value = decodeURIComponent(location.hash.slice(1))

document.getElementById('form')?.addEventListener('submit', event => {
  event.preventDefault()
  echo(words.value).then(show, show)
})

async function echo (text: string): Promise<string> {
  // dials only if there is no connection yet
  const connection = await node.dial(multiaddr(address.value))
  const beginMs = performance.now()
  const stream = await connection.newStream(ECHO, { runOnLimitedConnection: true })
  stream.send(new TextEncoder().encode(text))
  await stream.close()
  const decoder = new TextDecoder()
  let echoed = ''

  for await (const bytes of stream) {
    echoed += decoder.decode(bytes.subarray(), { stream: true })
  }

  const way = connection.direct ? 'directly' : 'through a relay'

  return `${echoed}: ${way}, ${Math.round(performance.now() - beginMs)} ms`
}

function show (result: unknown): void {
  const item = document.createElement('li')
  item.textContent = String(result)
  document.getElementById('echoes')?.append(item)
}
