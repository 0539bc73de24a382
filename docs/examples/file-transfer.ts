// Sends a file, with progress at both ends. The other side has the whole file in the end, or an error and no file.
//
//   npm run example docs/examples/file-transfer.ts <folder>           receives into a folder, and prints where
//   npm run example docs/examples/file-transfer.ts <file> <address>   sends there
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { link, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { noise } from '@chainsafe/libp2p-noise'
import { tcp } from '@libp2p/tcp'
import { lpStream } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import type { Stream } from '@libp2p/interface'

const PROTOCOL = '/example/file/1'
const [path, address] = process.argv.slice(2)

const node = await createLibp2p({
  addresses: { listen: address == null ? ['/ip4/127.0.0.1/tcp/0'] : [] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()]
})

if (address == null) {
  await node.handle(PROTOCOL, receive)
  console.log(`Waiting at ${node.getMultiaddrs()[0]}`)
} else {
  try {
    await send(await node.dialProtocol(multiaddr(address), PROTOCOL))
  } catch (err: any) {
    console.error(`\nNot sent: ${err.message}`)
    process.exitCode = 1
  }

  await node.stop()
}

async function send (stream: Stream): Promise<void> {
  const { size: sizeBytes } = await stat(path)
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  const header = { name: basename(path), sizeBytes, sha256: hash.digest('hex') }
  const messages = lpStream(stream)
  await messages.write(new TextEncoder().encode(JSON.stringify(header)))
  const showProgress = createProgress(`Sending ${header.name}`, sizeBytes)

  for await (const bytes of createReadStream(path)) {
    if (!stream.send(bytes)) {
      // enough waits to be sent: read on when it has left. It rejects if the peer goes away
      await stream.onDrain()
    }

    showProgress(bytes.length)
  }

  await stream.close()
  // the other side has kept it, or this throws
  await messages.read()
  console.log(`${header.name} has arrived`)
}

async function receive (stream: Stream): Promise<void> {
  const unfinished = join(path, `${randomUUID()}.part`)

  try {
    const messages = lpStream(stream)
    const { name, sizeBytes, sha256 } = JSON.parse(new TextDecoder().decode((await messages.read()).subarray()))
    const hash = createHash('sha256')
    const showProgress = createProgress(`Receiving ${name}`, sizeBytes)

    // a disk that is slower than the line makes the sender wait
    await pipeline(messages.unwrap(), async function * (source) {
      for await (const bytes of source) {
        hash.update(bytes.subarray())
        showProgress(bytes.byteLength)
        yield bytes.subarray()
      }
    }, createWriteStream(unfinished))

    if (hash.digest('hex') !== sha256) {
      throw new Error(`What came is not ${name}`)
    }

    // without `basename` a peer could write anywhere. Fails if there is such a file
    await link(unfinished, join(path, basename(name)))
    await lpStream(stream).write(new TextEncoder().encode('kept'))
    await stream.close()
    console.log(`${name} is whole`)
  } catch (err: any) {
    console.error(`\nNothing is kept: ${err.message}`)
    stream.abort(err)
  } finally {
    await rm(unfinished, { force: true })
  }
}

/** Shows each percent once */
function createProgress (label: string, sizeBytes: number): (bytes: number) => void {
  let doneBytes = 0
  let shown = -1

  return bytes => {
    doneBytes += bytes
    const percent = Math.floor(100 * doneBytes / sizeBytes)

    if (percent > shown) {
      shown = percent
      process.stdout.write(`\r${label}: ${percent} %${percent === 100 ? '\n' : ''}`)
    }
  }
}
