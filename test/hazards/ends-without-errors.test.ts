// Ends whose reason is no error, or one that cannot be looked at, and transports that fail as they are closed: all that ends does so once, with an error, and nothing is left uncaught.
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { ACK, data, DATA, FIN, frame, GO_AWAY, goAway, parseFrames, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import { converse, endings, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { controlTimeouts } from '../../testing/protocol/timeouts.ts'
import { EVENTS, expectOneError, expectUndisturbed, neighbours } from './fixtures/neighbours.ts'
import { FAILURES, NO_ERRORS } from './fixtures/no-errors.ts'
import type { Strategy } from '../../src/options/coalesce.ts'
import type { RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'
import type { Logger } from '@libp2p/interface'

forbidIncidents()

/** As a broken sink of logs: whoever logs is thrown at */
function throwingLog (): Logger {
  const fail = (): never => { throw new Error('The log is broken') }
  const log: Logger = Object.assign(fail, { enabled: true, error: fail, trace: Object.assign(() => fail(), { enabled: false }), newScope: () => log })

  return log
}

const LOGS: Array<[what: string, init: () => RawPeerInit]> = [
  ['a log', () => ({})],
  ['a log that throws', () => ({ log: throwingLog() })]
]

/** What has happened to a promise, without what it was rejected with */
async function outcome (promise: Promise<unknown>): Promise<string> {
  return await promise.then(() => 'resolved', () => 'rejected')
}

describe.each(LOGS)('with %s', (_, initOf) => {
  describe.each(NO_ERRORS)('%s', (_, make) => {
    test('aborts a stream as an error does', async () => {
      const both = await neighbours(initOf())
      const { peer, stream, events, bystander } = both
      stream.abort(make() as Error)

      expect(stream.status).toBe('aborted')
      expectOneError(events)
      expect(peer.muxer.streams.length).toBe(1)
      expect(peer.muxer.streams[0] === bystander).toBe(true)
      expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, 1, 0]])
      // a second time it is nothing
      stream.abort(make() as Error)
      expect(events.length).toBe(1)
      await expectUndisturbed(both)
    })

    test('aborts a stream of which all is waited for: each is settled', async () => {
      const both = await neighbours(initOf())
      const { peer, stream, events } = both
      peer.transport.isFull = true
      stream.send(pattern(1))
      await nextTurn()
      stream.send(pattern(WINDOW_BYTES))
      const loop = stream[Symbol.asyncIterator]()
      const waiting = [stream.onDrain(), loop.next(), stream.close()].map(outcome)
      await nextTurn()
      stream.abort(make() as Error)

      expect(await Promise.all(waiting)).toEqual(['rejected', 'rejected', 'rejected'])
      expectOneError(events)
      peer.transport.drain()
      expect(await peer.written()).toContainEqual([WINDOW_UPDATE, RST, 1, 0])
      await expectUndisturbed(both)
    })

    test.each([
      ['that nobody reads: they stay', false, 100],
      ['that a loop has begun to read: they are gone', true, 0]
    ])('aborts a stream that has ended with bytes unread %s', async (_, isRead, leftBytes) => {
      const both = await neighbours(initOf())
      const { peer, stream, events } = both
      const reading = isRead ? stream[Symbol.asyncIterator]().next() : undefined
      peer.deliver(data(1, pattern(10)), data(1, pattern(90)), windowUpdate(1, 0, RST))
      stream.abort(make() as Error)

      expect(stream.readBufferLength).toBe(leftBytes)
      await reading
      expect(events.length).toBe(1)
      await expectUndisturbed(both)
    })

    test('aborts the muxer as an error does', async () => {
      const { peer, stream, events, bystander } = await neighbours(initOf())
      const bystanderEvents = endings(bystander)
      stream.send(pattern(WINDOW_BYTES))
      const waiting = [stream.close(), peer.muxer.ping()].map(outcome)
      peer.muxer.abort(make() as Error)

      expect(peer.muxer.status).toBe('closed')
      expect([stream.status, bystander.status]).toEqual(['aborted', 'aborted'])
      expectOneError(events)
      expectOneError(bystanderEvents)
      expect(peer.muxer.streams.length).toBe(0)
      expect(await Promise.all(waiting)).toEqual(['rejected', 'rejected'])
      const frames = await peer.written()
      expect(frames.filter(([, flags]) => flags === RST)).toEqual([[WINDOW_UPDATE, RST, 1, 0], [WINDOW_UPDATE, RST, 3, 0]])
      expect(frames.at(-1)).toEqual([GO_AWAY, 0, 0, 2])
      expect(await outcome(peer.muxer.createStream())).toBe('rejected')
    })
  })
})

describe.each(LOGS)('with %s', (_, initOf) => {
  describe.each(FAILURES)('a listener that %s', (_, fail) => {
    test.each(NO_ERRORS)('%s ends its stream and nothing else, whatever the event', async (_, make) => {
      for (const type of Object.keys(EVENTS)) {
        const both = await neighbours(initOf())
        const { peer, stream, events, bystander } = both
        stream.addEventListener(type as 'message', () => fail(make()) as undefined)
        EVENTS[type](both)
        await nextTurn()

        expectOneError(events)
        expect(`${type}: ${stream.status}`).toBe(`${type}: ${type === 'close' ? 'reset' : 'aborted'}`)
        expect(peer.muxer.streams.length).toBe(1)
        expect(peer.muxer.streams[0] === bystander).toBe(true)

        if (type !== 'close') {
          expect(await peer.written()).toContainEqual([WINDOW_UPDATE, RST, 1, 0])
        }

        await expectUndisturbed(both)
      }
    })

    test.each(NO_ERRORS)('%s for a new stream ends that stream, and the next is served', async (_, make) => {
      const both = await neighbours(initOf())
      const { peer } = both
      let count = 0
      peer.muxer.addEventListener('stream', () => count++ === 0 ? fail(make()) as undefined : undefined)
      peer.deliver(data(2, pattern(10), SYN), data(4, pattern(20), SYN))
      await nextTurn()

      expect(peer.inbound.map(({ status }) => status)).toEqual(['aborted', 'open'])
      expect((await peer.written()).filter(([, flags]) => flags === RST)).toEqual([[WINDOW_UPDATE, RST, 2, 0]])
      await expectUndisturbed(both)
    })
  })
})

test('a listener that returns a thenable which is fulfilled ends nothing', async () => {
  const both = await neighbours()
  const { peer, stream, events } = both
  const received = receive(stream)
  stream.addEventListener('message', () => ({ then: (resolve: (value: unknown) => void) => { resolve('fine') } }) as any)
  stream.addEventListener('message', () => ({ then: 'no function' }) as any)
  stream.addEventListener('message', () => 'a string' as any)
  peer.deliver(data(1, pattern(10)))
  await nextTurn()

  expect(received.byteLength).toBe(10)
  expect(events).toEqual([])
  await expectUndisturbed(both)
})

const STRATEGIES: Strategy[] = ['turn', 'delay', 'off']

describe.each(STRATEGIES)('with \'%s\', a transport that throws as it is given', strategy => {
  /** Throws once all of the stream's bytes, or its FIN, are in what it is given */
  const LAST_WRITES: Array<[what: string, isLast: (frames: ReturnType<typeof parseFrames>) => boolean]> = [
    ['the last bytes', frames => frames.some(({ type, id, length }) => type === DATA && id === 1 && length > 0)],
    ['the FIN', frames => frames.some(({ flags, id }) => id === 1 && (flags & FIN) !== 0)]
  ]
  const PEERS: Array<[what: string, says: Uint8Array[]]> = [
    ['has finished', [windowUpdate(1, 0, FIN)]],
    ['has finished and was not read to the end', [data(1, pattern(10)), windowUpdate(1, 0, FIN)]],
    ['has not finished', []]
  ]

  describe.each(LAST_WRITES)('%s', (what, isLast) => {
    test.each(PEERS)('of a stream whose peer %s tells whoever closes it', async (_, says) => {
      const clock = new VirtualClock()
      const peer = converse({ clock, coalesce: { strategy } })
      const stream = await peer.open()
      peer.deliver(windowUpdate(1, 0, ACK), ...says)
      const events = endings(stream)
      const broken = new Error('The transport is broken')
      const send = peer.transport.send.bind(peer.transport)
      peer.transport.send = bytes => {
        if (isLast(parseFrames(bytes.subarray()))) {
          throw broken
        }

        return send(bytes)
      }
      stream.send(pattern(1000))
      const hasFailedAlready = strategy === 'off' && what === 'the last bytes'
      expect(stream.writeStatus).toBe(hasFailedAlready ? 'closed' : 'writable')
      const closing = stream.close().then(() => 'closed', (err: Error) => err)
      await nextTurn()
      clock.advance(10)
      await nextTurn()

      const isClosed = expect.objectContaining({ name: 'TransportClosedError', code: 'ERR_TRANSPORT_CLOSED', cause: broken })
      expect(events.map(({ error }) => error)).toEqual([isClosed])
      // one that was over before it was called may have nothing to do
      expect(await closing).toEqual(hasFailedAlready ? expect.anything() : isClosed)
      expect(stream.status).toBe('reset')
      expect(peer.muxer.status).toBe('closed')
      expect(peer.muxer.streams).toEqual([])
      expect(peer.transport.abortedWith).toBe(broken)
    })
  })
})

describe('a transport that fails', () => {
  const timeouts = controlTimeouts()
  const fail = (): never => { throw new Error('The transport cannot be closed') }

  const ABORTS: Array<[what: string, abort: () => void]> = [
    ['does nothing', () => {}],
    ['throws', fail],
    ['throws nothing', () => { throw undefined }] // eslint-disable-line no-throw-literal
  ]

  /** How the muxer comes to abort it */
  const ENDS: Array<[what: string, init: RawPeerInit, end: (peer: Conversation, clock: VirtualClock) => void | Promise<void>]> = [
    ['a violation', {}, peer => { peer.deliver(frame(9, 0, 0)) }],
    ['a GoAway', {}, peer => { peer.deliver(goAway(2)) }],
    ['a peer that is gone', { enableKeepAlive: true, keepAliveInterval: 1000 }, async (_, clock) => { await clock.pass(20_000, 1000) }],
    ['a transport that accepts nothing', {}, (peer, clock) => {
      peer.transport.isFull = true
      peer.deliver(frame(2, SYN, 0, 1))
      clock.advance(1)
      peer.muxer.streams[0].priority = 'urgent'
      peer.muxer.streams[0].send(pattern(1))
      systemClock.nextTurn(() => { systemClock.nextTurn(() => { clock.advance(100_000) }) })
    }]
  ]

  describe.each(ENDS)('as it is aborted because of %s', (_, init, end) => {
    test.each(ABORTS)('leaves nothing that goes on or is uncaught: abort() %s', async (_, abort) => {
      const { clock, expire } = timeouts
      const both = await neighbours({ clock, ...init })
      const { peer, stream, events } = both
      const bystanderEvents = endings(both.bystander)
      const waiting = [stream.send(pattern(10)) && stream.onDrain(), peer.muxer.ping()].map(async promise => outcome(Promise.resolve(promise)))
      let aborts = 0
      peer.transport.abort = () => {
        aborts++
        abort()
      }
      await end(peer, clock)
      await nextTurn()
      await nextTurn()
      // what it may take to be aborted is over as well
      await expire()

      expectOneError(events)
      expectOneError(bystanderEvents)
      expect(peer.muxer.status).toBe('closed')
      expect(peer.muxer.streams).toEqual([])
      expect((await Promise.all(waiting))[1]).toBe('rejected')
      await expect(peer.muxer.createStream()).rejects.toThrow(expect.objectContaining({ name: 'MuxerClosedError' }))
      expect(clock.timerCount).toBe(0)
      expect(aborts).toBe(1)
    })
  })

  /** What close() does, and whether abort() follows */
  const CLOSES: Array<[what: string, close: () => any, isAborted: boolean]> = [
    ['throws', fail, true],
    ['throws nothing', () => { throw undefined }, true], // eslint-disable-line no-throw-literal
    ['returns nothing', () => undefined, false],
    ['rejects with nothing', () => Promise.reject(undefined), true], // eslint-disable-line prefer-promise-reject-errors
    ['rejects', async () => fail(), true],
    ['never ends', () => new Promise(() => {}), true]
  ]

  describe.each(CLOSES)('as it is closed behind the last stream of a peer that has gone away, and whose close() %s', (_, close, isAborted) => {
    test.each(ABORTS)('leaves nothing that goes on or is uncaught: abort() %s', async (_, abort) => {
      const { clock, expire } = timeouts
      const { peer, stream, bystander } = await neighbours({ clock })
      let aborts = 0
      peer.transport.close = close
      peer.transport.abort = () => {
        aborts++
        abort()
      }
      ;[stream, bystander].forEach(each => { each.abort(new Error('Enough')) })
      peer.deliver(goAway(0))
      await expire()

      expect(peer.muxer.streams).toEqual([])
      await expect(peer.muxer.createStream()).rejects.toThrow(expect.objectContaining({ name: 'MuxerClosedError' }))
      expect(clock.timerCount).toBe(0)
      expect(aborts).toBe(isAborted ? 1 : 0)
    })
  })

  test.each(STRATEGIES)('as it sends, and as it is aborted for that, throws at nobody, with \'%s\'', async strategy => {
    const { clock } = timeouts
    const { peer, stream, events, bystander } = await neighbours({ clock, coalesce: { strategy } })
    const bystanderEvents = endings(bystander)
    const broken = new Error('The transport is broken')
    peer.transport.send = () => { throw broken }
    peer.transport.abort = fail
    expect(() => stream.send(pattern(10))).not.toThrow()
    await nextTurn()
    clock.advance(10)
    await nextTurn()

    expect(events).toMatchObject([{ error: { name: 'TransportClosedError', cause: broken } }])
    expectOneError(bystanderEvents)
    expect(peer.muxer.status).toBe('closed')
    expect(peer.muxer.streams).toEqual([])
    expect(clock.timerCount).toBe(0)
  })

  test.each(NO_ERRORS)('with %s as it sends ends its connection with an error', async (_, make) => {
    const { peer, stream, events, bystander } = await neighbours()
    const bystanderEvents = endings(bystander)
    peer.transport.send = () => { throw make() }
    stream.send(pattern(10))
    await nextTurn()

    expectOneError(events)
    expectOneError(bystanderEvents)
    expect(peer.muxer.status).toBe('closed')
    expect(peer.muxer.streams.length).toBe(0)
  })

  test.each(NO_ERRORS)('with %s as the reason of its end ends its connection', async (_, make) => {
    const { peer, events } = await neighbours()
    peer.transport.end(make() as Error)
    await nextTurn()

    expect(events.length).toBe(1)
    expect(peer.muxer.status).toBe('closed')
    expect(peer.muxer.streams.length).toBe(0)
  })
})
