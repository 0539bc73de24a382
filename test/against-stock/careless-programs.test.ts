// Programs that work with stock though they leave something undone: they do with ours. Over TCP and Noise.
import { createHash } from 'node:crypto'
import { echo } from '@libp2p/utils'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ALL_PAIRS, isOwn, MUXER_PAIRS } from '../../testing/muxers.ts'
import { patternPieces } from '../../testing/pattern.ts'
import { patternDigest } from '../../testing/libp2p/digest.ts'
import { closeOf, sendAll } from '../../testing/libp2p/streams.ts'
import { connectNodes } from './fixtures/connected-nodes.ts'
import type { ConnectedNodes } from './fixtures/connected-nodes.ts'
import type { Stream } from '@libp2p/interface'

const MEBIBYTE = 2 ** 20

describe.each(ALL_PAIRS)('$dialler that dials $listener', names => {
  let nodes: ConnectedNodes
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown): void => { unhandled.push(reason) }

  beforeEach(async () => {
    unhandled.length = 0
    process.on('unhandledRejection', onUnhandled)
    nodes = await connectNodes(names)
  })

  afterEach(async () => {
    await nodes.stop()
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
  })

  test('a close() that nobody waits for ends in an abort in the same turn', async () => {
    const [opened] = await nodes.open()
    opened.send(new Uint8Array(10))
    opened.close()
    opened.abort(new Error('Done with it'))
    await new Promise(resolve => { setTimeout(resolve, 20) })
    expect(opened.status).toBe('aborted')
  })

  test('a close() that nobody waits for ends with the connection', async () => {
    const [opened, accepted] = await nodes.open()
    accepted.pause()
    const closed = closeOf(opened)
    opened.send(new Uint8Array(600_000))
    opened.close()
    nodes.dialler.connection.abort(new Error('Done with it'))
    await closed
  })

  test('an abort() behind the end leaves what nobody has read', async () => {
    const [opened, accepted] = await nodes.open()
    const closed = closeOf(accepted)
    opened.send(new Uint8Array(1000))
    await opened.close()
    await accepted.close()
    await closed
    accepted.abort(new Error('Done with it'))
    let readBytes = 0
    accepted.addEventListener('message', evt => { readBytes += evt.data.byteLength })
    await new Promise(resolve => { setTimeout(resolve, 20) })

    expect([readBytes, accepted.status, accepted.readStatus]).toEqual([1000, 'closed', 'closed'])
  })

  test('a listener pauses its stream, and a timer resumes it when both ends have closed it', async () => {
    const [opened, accepted] = await nodes.open()
    const closed = Promise.all([opened, accepted].map(closeOf))
    opened.addEventListener('message', () => { opened.pause() })
    await opened.close()
    accepted.send(new Uint8Array(1000))
    await accepted.close()
    await closed

    opened.resume()
    expect([opened.status, opened.readBufferLength]).toEqual(['closed', 0])
  })

  test('a loop pauses and resumes its stream at the last chunk, with the FIN there', async () => {
    const [opened, accepted] = await nodes.open()
    const statuses: string[] = []
    const loop = (async () => {
      for await (const chunk of accepted) {
        await new Promise(resolve => { setTimeout(resolve, 30) })
        accepted.pause()
        statuses.push(accepted.readStatus)
        accepted.resume()
        statuses.push(`${chunk.byteLength}`)
      }

      return 'done'
    })()
    opened.send(new Uint8Array(1000))
    await opened.close()

    expect(await loop).toBe('done')
    expect(statuses.slice(0, 2)).toEqual(['paused', '1000'])
    await accepted.close()
    expect(accepted.readStatus).toBe('closed')
  })
})

async function digestOf (stream: Stream, pauseMs: number): Promise<string> {
  const hash = createHash('sha256')

  for await (const chunk of stream) {
    hash.update(chunk.subarray())

    if (pauseMs > 0) {
      await new Promise(resolve => { setTimeout(resolve, pauseMs) })
    }
  }

  return hash.digest('hex')
}

// stock's own loops end where the FIN comes while they are paused
describe.each(MUXER_PAIRS.filter(({ listener }) => isOwn(listener)))('$dialler that dials $listener', names => {
  test('echo() of @libp2p/utils gives back all of 2 MiB, whoever reads how fast', async () => {
    const nodes = await connectNodes(names)

    for (const pauseMs of [0, 5]) {
      const [opened, accepted] = await nodes.open()
      echo(accepted).catch(() => {})
      const received = digestOf(opened, pauseMs)
      await sendAll(opened, patternPieces(2 * MEBIBYTE, 1))
      await opened.close()
      expect(await received).toBe(patternDigest(1, 2 * MEBIBYTE))
    }

    await nodes.stop()
  })
})
