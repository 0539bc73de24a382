// Ours and stock at the two ends of a connection over TCP and Noise: how libp2p's connection, and what is open on it, come to their end.
import { multiaddrConnectionPair } from '@libp2p/utils'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ALL_PAIRS, isOwn, MUXER_PAIRS, muxers } from '../../testing/muxers.ts'
import { frame, pattern } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { closeOf, readAll } from '../../testing/libp2p/streams.ts'
import { connectNodes } from './fixtures/connected-nodes.ts'
import type { ConnectedNodes } from './fixtures/connected-nodes.ts'
import type { Stream } from '@libp2p/interface'

const WINDOW_BYTES = 262_144
const NO_ERROR = undefined
const anyError = expect.any(Error)
const named = (name: string): unknown => expect.objectContaining({ name })

function isConnectionReset (error: Error | undefined): boolean {
  const { cause } = error ?? {}

  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNRESET'
}

/** As libp2p's echo does: reads to the end, then closes */
async function serve (stream: Stream): Promise<void> {
  await readAll(stream)
  await stream.close()
}

/** As a loop that breaks does */
async function firstOf (stream: Stream): Promise<void> {
  const iterator = stream[Symbol.asyncIterator]()
  await iterator.next()
  await iterator.return?.()
}

describe.each(ALL_PAIRS)('$dialler that dials $listener', names => {
  let nodes: ConnectedNodes

  beforeEach(async () => {
    nodes = await connectNodes(names)
  })

  afterEach(async () => {
    await nodes.stop()
  })

  test.each(['dialler', 'listener'] as const)('all is closed without an error when the %s closes the connection', async side => {
    const streams: Stream[] = []
    const served: Array<Promise<void>> = []

    for (let i = 0; i < 5; i++) {
      const both = await nodes.open()
      streams.push(...both)
      served.push(serve(both[side === 'dialler' ? 1 : 0]))
    }

    const { dialler, listener } = nodes
    const closes = Promise.all([...streams, dialler.connection, listener.connection].map(closeOf))
    await nodes[side].connection.close()

    expect((await closes).map(({ error }) => error)).toEqual(Array(12).fill(NO_ERROR))
    expect([dialler.connection, listener.connection, ...streams].map(({ status }) => status)).toEqual(Array(12).fill('closed'))
    await Promise.all(served)
    expect([dialler.connection.streams, listener.connection.streams]).toEqual([[], []])
  })

  test.each([
    ['at once', 0],
    ['with the listener two turns behind', 2]
  ])('all is closed without an error when both ends close the connection, %s', async (_, turnsBehind) => {
    await nodes.open()
    const { dialler, listener } = nodes
    const closes = Promise.all([dialler.connection, listener.connection].map(closeOf))
    const closing = [dialler.connection.close()]

    for (let i = 0; i < turnsBehind; i++) {
      await nextTurn()
    }

    closing.push(listener.connection.close())
    await Promise.all(closing)

    expect((await closes).map(({ error }) => error)).toEqual([NO_ERROR, NO_ERROR])
    expect([dialler.connection.status, listener.connection.status]).toEqual(['closed', 'closed'])
  })

  test('a violation is the error of the connection, and of its streams; the peer is told', async () => {
    const [opened, accepted] = await nodes.open()
    const closes = Promise.all([nodes.listener.connection, accepted].map(closeOf))
    const othersCloses = Promise.all([nodes.dialler.connection, opened].map(closeOf))
    nodes.dialler.transport.send(frame(9, 0, 0))

    expect((await closes).map(({ error }) => error)).toEqual([named('InvalidFrameError'), named('InvalidFrameError')])
    const othersErrors = (await othersCloses).map(({ error }) => error)
    // a write of the peer's may meet the reset of the socket, with which the kernel discards what had come
    const isCut = isConnectionReset(othersErrors[1])
    expect(othersErrors).toEqual([anyError, isCut ? anyError : named('StreamResetError')])
    expect(nodes.dialler.goAways).toEqual(isCut ? expect.any(Array) : [1])
    expect([nodes.dialler, nodes.listener].map(({ connection }) => connection.status)).toEqual(['aborted', 'aborted'])

    if (isOwn(names.listener)) {
      expect((await closes)[0].error).toMatchObject({ code: 'ERR_INVALID_FRAME' })
    }
  })

  test('what was sent before an abort in the same turn arrives', async () => {
    const [opened, accepted] = await nodes.open()
    const closes = Promise.all([opened, accepted].map(closeOf))
    let receivedBytes = 0
    accepted.addEventListener('message', evt => { receivedBytes += evt.data.byteLength })
    opened.send(new Uint8Array(50_000))
    opened.abort(new TypeError('The limit is reached'))

    expect((await closes).map(({ error }) => error)).toEqual([named('TypeError'), named('StreamResetError')])
    expect(receivedBytes).toBe(50_000)
  })

  test('so does what was sent before the connection is aborted in the same turn', async () => {
    const [opened, accepted] = await nodes.open()
    const closes = Promise.all([opened, accepted, nodes.dialler.connection].map(closeOf))
    let receivedBytes = 0
    accepted.addEventListener('message', evt => { receivedBytes += evt.data.byteLength })
    opened.send(new Uint8Array(1000))
    nodes.dialler.connection.abort(new TypeError('Enough'))

    expect((await closes).map(({ error }) => error)).toEqual([named('TypeError'), named('StreamResetError'), named('TypeError')])
    expect(receivedBytes).toBe(1000)
  })

  test('a stream that is aborted with bytes queued says that it is idle, one that the peer resets does not', async () => {
    const pairs = [await nodes.open(), await nodes.open()]
    const idle = pairs.map(() => 0)

    for (const [i, [opened, accepted]] of pairs.entries()) {
      accepted.pause()
      // more than a new stream's head start takes, where the machine is busy
      opened.send(new Uint8Array(8 * WINDOW_BYTES))
      opened.addEventListener('idle', () => { idle[i]++ })
    }

    const closes = Promise.all(pairs.map(async ([opened]) => closeOf(opened)))
    pairs[0][0].abort(new Error('Enough'))
    pairs[1][1].abort(new Error('Enough'))
    await closes

    expect(idle).toEqual([1, 0])
    expect(pairs.map(([opened]) => opened.status)).toEqual(['aborted', 'reset'])
  })
})

test.each(ALL_PAIRS)('a violation is the error of a connection whose ends call each other, too: $dialler that dials $listener', async names => {
  const [outbound, inbound] = multiaddrConnectionPair()
  const muxer = (await muxers[names.dialler]())().createStreamMuxer(outbound)
  const others = (await muxers[names.listener]())().createStreamMuxer(inbound)
  const closed = closeOf(outbound)
  inbound.send(frame(9, 0, 0))

  expect((await closed).error).toMatchObject({ name: 'InvalidFrameError' })
  expect(outbound.status).toBe('aborted')
  await vi.waitFor(() => { expect([muxer.status, others.status]).toEqual(['closed', 'closed']) })
})

test('a connection whose peer says GoAway for a reason ends with that as its error', async () => {
  const nodes = await connectNodes({ dialler: 'ours', listener: 'ours' })
  const closed = closeOf(nodes.listener.connection)
  nodes.dialler.transport.send(frame(3, 0, 0, 2))

  expect((await closed).error).toMatchObject({ name: 'RemoteGoAwayError', code: 'ERR_REMOTE_GO_AWAY', errorCode: 2 })
  await vi.waitFor(() => { expect(nodes.dialler.connection.status).not.toBe('open') })
  await nodes.stop()
})

test('the socket below a WebSocket is closed, too, when a peer has broken a rule', async () => {
  const openSockets = (): number => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
  const nodes = await connectNodes({ dialler: 'ours', listener: 'ours' }, 'webSockets')
  await nodes.open()
  const connected = openSockets()
  const close = closeOf(nodes.listener.connection)
  nodes.dialler.transport.send(frame(9, 0, 0))

  expect((await close).error).toMatchObject({ code: 'ERR_INVALID_FRAME' })
  await vi.waitFor(() => { expect(openSockets()).toBe(connected - 2) })
  await nodes.stop()
})

/** Stock closes its transport without waiting, and then what the reader writes may cost what it has not read: with stock's as with any */
describe.each(MUXER_PAIRS.filter(({ listener }) => isOwn(listener)))('$dialler that dials $listener, which closes the connection right behind its answer', names => {
  test.each([
    ['in one send', [pattern(200_000)]],
    ['in many', Array.from({ length: 20 }, (_, i) => pattern(10_000, i))]
  ])('gets all of it, %s', async (_, pieces) => {
    for (let i = 0; i < 5; i++) {
      const nodes = await connectNodes(names)
      const [opened, accepted] = await nodes.open()
      const reading = readAll(opened)
      pieces.forEach(piece => { accepted.send(piece) })
      await accepted.close()
      await nodes.listener.connection.close()

      expect((await reading).byteLength).toBe(200_000)
      await nodes.stop()
    }
  })
})

/** With stock at both ends one of them may be aborted */
describe.each(MUXER_PAIRS)('$dialler that dials $listener, each of which closes the connection as soon as it has closed its half of an answered request', names => {
  test('closes without an error', async () => {
    const nodes = await connectNodes(names)
    const [opened, accepted] = await nodes.open()
    const { dialler, listener } = nodes
    opened.send(pattern(100))
    const served = (async () => {
      await firstOf(accepted)
      accepted.send(pattern(100))
      await accepted.close()
      await listener.connection.close()
    })()

    await firstOf(opened)
    await opened.close()
    await Promise.all([dialler.connection.close(), served])
    expect([dialler.connection.status, listener.connection.status]).toEqual(['closed', 'closed'])
    await nodes.stop()
  })
})
