// The peer in JavaScript: `node peer.ts <muxer> <transport>`, then lines as ../README.md says.
import { createInterface } from 'node:readline'
import { Acceptor } from '../../testing/interop/acceptor.ts'
import { createLibp2pEndpoint } from '../../testing/interop/libp2p.ts'
import { MUXERS } from '../../testing/interop/windows.ts'
import { Opener } from '../../testing/interop/opener.ts'
import type { MuxerName } from '../../testing/interop/windows.ts'

const [muxerName, transport] = process.argv.slice(2) as [MuxerName, 'tcp' | 'ws']
const acceptor = new Acceptor()
const endpoint = await createLibp2pEndpoint(transport, {
  createMuxer: await MUXERS[muxerName](),
  onStream: acceptor.accept.bind(acceptor)
})
const opener = new Opener(async () => (await endpoint.session).openStream())

type Command = (...parameters: any[]) => Promise<unknown>

const commands: Record<string, Command> = {
  listen: async () => endpoint.listen(),
  dial: async (address: string) => endpoint.dial(address),
  echo: async (streamCount, byteLength) => opener.echo(Number(streamCount), Number(byteLength)),
  send: async (byteLength, pieceBytes, pauseMs) => opener.send(Number(byteLength), Number(pieceBytes), Number(pauseMs)),
  receive: async (byteLength, pauseMs) => opener.receive(Number(byteLength), Number(pauseMs)),
  exchange: async byteLength => opener.exchange(Number(byteLength)),
  reset: async errorCode => opener.reset(Number(errorCode)),
  'be-reset': async errorCode => opener.beReset(Number(errorCode)),
  ended: async () => acceptor.lastEnd,
  hang: async () => { await opener.hang() },
  ping: async () => { await (await endpoint.session).muxer.ping() },
  close: async () => (await endpoint.session).close(),
  closed: async () => { await (await endpoint.session).ended }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...parameters] = line.split(' ')

  try {
    const result = await commands[command](...parameters)
    process.stdout.write(`ok ${String(result ?? '')}\n`)
  } catch (err: any) {
    process.stdout.write(`error ${String(err.stack).replaceAll('\n', ' | ')}\n`)
  }
}

process.exit()
