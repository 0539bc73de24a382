// Signals that are not of the runtime's own class, with every method that takes one; beside stock where it works with them.
import { createRequire } from 'node:module'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { GO_AWAY } from '../../testing/protocol/frames.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { createRawPeer, nextTurn, RawTransport } from '../../testing/protocol/raw-peer.ts'
import { isOwn, MUXER_PAIRS, muxers, OWN_MUXERS } from '../../testing/muxers.ts'
import { fromController, fromSignal, SIGNAL_KINDS } from '../muxer/fixtures/signals.ts'
import { connectNodes } from './fixtures/connected-nodes.ts'
import type { SignalKinds } from '../muxer/fixtures/signals.ts'
import type { MessageStream, Stream, StreamMuxer } from '@libp2p/interface'

forbidIncidents()

const BACKLOG = 256
/** More than the window of a new stream */
const UNTAKEN_BYTES = 2 ** 20

const require = createRequire(import.meta.url)

/** Packages under whose names two classes are known: they are imported by CommonJS, as their users do */
const PACKAGES: SignalKinds = Object.fromEntries(['abort-controller', 'node-abort-controller'].map(name => {
  const { AbortController } = require(name)

  return [`the package ${name}`, () => fromController(new AbortController())]
}))

/** A realm of its own, whose errors and functions are not this one's */
const REALM: SignalKinds = {
  'another realm\'s': () => fromSignal(runInNewContext(`({
    aborted: false,
    reason: undefined,
    listeners: new Set(),
    addEventListener (type, listener) { this.listeners.add(listener) },
    removeEventListener (type, listener) { this.listeners.delete(listener) },
    abort () {
      this.aborted = true
      this.reason = new Error('Enough')
      this.listeners.forEach(listener => { listener({ type: 'abort', target: this }) })
    }
  })`))
}

const KINDS: SignalKinds = { ...SIGNAL_KINDS, ...PACKAGES, ...REALM }
const kinds = Object.entries(KINDS)

interface Options { signal: AbortSignal }

/** Calls that wait, for a peer that answers nothing */
const WAITS: Record<string, () => Promise<(options: Options) => Promise<unknown>>> = {
  createStream: async () => {
    const { muxer } = createRawPeer()

    for (let i = 0; i < BACKLOG; i++) {
      await muxer.createStream()
    }

    return async options => muxer.createStream(options)
  },
  ping: async () => {
    const { muxer } = createRawPeer()

    return async options => muxer.ping(options)
  },
  'stream.close': async () => {
    const stream = await fullStream()

    return async options => stream.close(options)
  },
  onDrain: async () => {
    const stream = await fullStream()

    return async options => stream.onDrain(options)
  }
}

async function fullStream (): Promise<Stream> {
  const { muxer } = createRawPeer()
  const stream = await muxer.createStream()
  stream.send(new Uint8Array(UNTAKEN_BYTES))
  await nextTurn()

  return stream
}

async function expectAborted (called: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const err: unknown = await called.then(() => {}, err => err)

  if (signal.reason === undefined) {
    expect(err).toMatchObject({ name: 'AbortError' })
  } else {
    expect(err).toBe(signal.reason)
  }
}

describe.each(kinds)('a signal that is %s', (_, create) => {
  describe.each(Object.entries(WAITS))('ends %s', (_, arrange) => {
    test('that waits, with an error', async () => {
      const call = await arrange()
      const { signal, abort } = create()
      const called = call({ signal })
      await nextTurn()
      abort()

      await expectAborted(called, signal)
    })

    test('that has not begun, with an error', async () => {
      const call = await arrange()
      const { signal, abort } = create()
      abort()

      await expectAborted(call({ signal }), signal)
    })
  })

  test('may be given to calls that need not wait', async () => {
    const { muxer } = createRawPeer()
    const { signal } = create()
    const stream = await muxer.createStream({ signal })
    await stream.onDrain({ signal })
    await stream.closeRead({ signal })
    await stream.close({ signal })
    await muxer.close({ signal })

    expect(muxer.status).toBe('closed')
  })

  test('is heeded by closeRead()', async () => {
    const { muxer } = createRawPeer()
    const stream = await muxer.createStream()
    const { signal, abort } = create()
    abort()

    await expectAborted(stream.closeRead({ signal }), signal)
    expect(stream.readStatus).toBe('readable')
  })

  test.each([
    ['has been aborted', true],
    ['is aborted while it waits', false]
  ])('that %s lets the muxer say GoAway nevertheless', async (_, isAbortedBefore) => {
    const { muxer, takeFrames } = createRawPeer()
    const stream = await muxer.createStream()
    stream.send(new Uint8Array(UNTAKEN_BYTES))
    const { signal, abort } = create()

    if (isAbortedBefore) {
      abort()
    }

    const closing = muxer.close({ signal })
    await nextTurn()
    abort()
    await closing.catch(() => {})
    await nextTurn()

    expect(muxer.status).toBe('closed')
    expect([stream.status, takeFrames().at(-1)?.type]).toEqual(['aborted', GO_AWAY])
  })

  test.each(['ping', 'onDrain'] as const)('ends %s() with what stock\'s is ended with', async method => {
    const reasons = []
    const { signal: { reason, removeEventListener } } = create()

    for (const name of ['stock', ...OWN_MUXERS] as const) {
      const factory = (await muxers[name]())()
      const muxer = factory.createStreamMuxer(new RawTransport('outbound') as unknown as MessageStream) as StreamMuxer & { ping (options: Options): Promise<number> }
      const { signal, abort } = create()
      let called

      if (method === 'ping') {
        called = muxer.ping({ signal })
      } else {
        const stream = await muxer.createStream()
        stream.send(new Uint8Array(UNTAKEN_BYTES))
        called = stream.onDrain({ signal })
      }

      abort()
      reasons.push(await called.catch((err: Error | undefined) => err?.message))
      muxer.abort(new Error('The test is over'))
    }

    // stock's has none where the signal has none, and one of its own where it cannot remove its listener
    const stocks = removeEventListener === undefined ? reason?.message : reasons[0]
    expect(reasons.slice(1)).toEqual(OWN_MUXERS.map(() => stocks ?? 'The operation was aborted'))
  })
})

describe.each(MUXER_PAIRS.filter(({ dialler }) => isOwn(dialler)))('$dialler that dials $listener over TCP and Noise', names => {
  test.each(kinds)('closes the connection at both ends with a signal that is %s', async (_, create) => {
    const nodes = await connectNodes(names)
    await nodes.open()
    const ended = [nodes.dialler, nodes.listener].map(async ({ connection }) => new Promise(resolve => { connection.addEventListener('close', resolve) }))

    // libp2p's TCP refuses signals without throwIfAborted(), when it has closed the socket
    await nodes.dialler.connection.close(create()).catch(err => { expect(err).toMatchObject({ message: expect.stringContaining('throwIfAborted') }) })
    await Promise.all(ended)

    expect([nodes.dialler, nodes.listener].map(({ connection, muxer }) => [connection.status, muxer.status])).toEqual([['closed', 'closed'], ['closed', 'closed']])
    await nodes.stop()
  })
})
