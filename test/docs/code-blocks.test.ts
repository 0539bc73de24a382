// The code in README.md and docs is right: it type-checks, it runs, and the scripts that it names are there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { noise } from '@chainsafe/libp2p-noise'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { benchmarks } from '../../benchmarks/list.ts'
import { codeOf, documents, root } from './fixtures/documents.ts'
import { modules } from './fixtures/modules.ts'
import { typeCheck } from './fixtures/type-check.ts'
import { chunksOf, sendAll } from '../../testing/libp2p/streams.ts'
import { yamux } from '../../src/index.ts'
import type { Libp2p } from '@libp2p/interface'

/** What the peer echoes: the second is what pages call the application's own */
const ECHOED_PROTOCOLS = ['/echo/1', '/my/protocol/1.0.0']
const PRINTS = ['info', 'log', 'table'] as const
const TYPE_CHECK_TIMEOUT_MS = 60_000

const started = vi.hoisted(() => new Set<Libp2p>())

// whoever makes a node, it is stopped behind the block
vi.mock('libp2p', async importOriginal => {
  const libp2p = await importOriginal<typeof import('libp2p')>()

  return {
    ...libp2p,
    createLibp2p: (async options => {
      const node = await libp2p.createLibp2p(options)
      started.add(node)

      return node
    }) as typeof libp2p.createLibp2p
  }
})

async function createNode (): Promise<Libp2p> {
  return createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()]
  })
}

/** What a block may use without making it */
async function createNames (): Promise<Record<string, unknown>> {
  const [node, peer] = await Promise.all([createNode(), createNode()])

  await peer.handle(ECHOED_PROTOCOLS, async stream => {
    for await (const bytes of chunksOf(stream)) {
      await sendAll(stream, [bytes])
    }

    await stream.close()
  })

  const connection = await node.dial(peer.getMultiaddrs())

  return { node, peer, connection, stream: await connection.newStream('/echo/1'), yamux }
}

let faults: Map<string, string[]>

beforeAll(() => {
  faults = typeCheck(modules)
}, TYPE_CHECK_TIMEOUT_MS)

describe.each(modules)('$path:$line', ({ fileName, reason }) => {
  afterEach(async () => {
    await Promise.all([...started].map(async node => node.stop()))
    started.clear()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  test('type-checks', () => {
    expect(faults.get(fileName)).toEqual([])
  })

  // the others say in front of the block why they are not run
  if (reason === undefined) {
    test('runs', async () => {
      PRINTS.forEach(name => vi.spyOn(console, name).mockImplementation(() => {}))
      Object.entries(await createNames()).forEach(([name, value]) => { vi.stubGlobal(name, value) })

      await import(/* @vite-ignore */ fileName)
    })
  }
})

test.each(documents)('npm scripts that %s names are there', document => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const named = codeOf(document).flatMap(code => [...code.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(([, script, short]) => script ?? short))

  expect(named.filter(name => !(name in scripts))).toEqual([])
})

test.each(documents)('benchmarks that %s runs are in the list', document => {
  const named = codeOf(document).flatMap(code => [...code.matchAll(/\bnpm run bench ([\w-]+)/g)].map(([, name]) => name))

  expect(named.filter(name => benchmarks.every(benchmark => benchmark.name !== name))).toEqual([])
})
