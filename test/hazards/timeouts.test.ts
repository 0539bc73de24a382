// What a peer may leave undone, and for how long: in virtual time, from one timer however many streams there are.
import { describe, expect, test } from 'vitest'
import { ACK, data, FIN, pattern, ping, PING, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { NO_LIMITS } from '../../testing/protocol/limits.ts'
import { nextTurn, oneTurn } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import { converse, endings, expectAlive, expectEnded, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'
import type { YamuxStream } from '../../src/index.ts'

forbidIncidents()

/** With an idle timeout that nothing here meets */
function connect (init: RawPeerInit = {}): { peer: Conversation, clock: VirtualClock } {
  const clock = new VirtualClock()

  return { peer: converse({ clock, streamOptions: { inactivityTimeout: Infinity }, ...init }), clock }
}

function endedWith (name: string, code: string, numbers: RegExp): object {
  return [expect.objectContaining({ error: expect.objectContaining({ name, code, message: expect.stringMatching(numbers) }) })]
}

describe('a stream that the peer does not acknowledge', () => {
  const timedOut = endedWith('OpenTimeoutError', 'ERR_OPEN_TIMEOUT', /stream 1 within 75000 ms/)

  test('is reset after 75 s, although it was written to', async () => {
    const { peer, clock } = connect()
    const stream = await peer.open()
    const events = endings(stream)
    clock.advance(50_000)
    stream.send(pattern(10))
    await peer.written()
    clock.advance(24_999)
    expect(events).toEqual([])
    clock.advance(1)

    expect(events).toEqual(timedOut)
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, 1, 0]])
    await expectAlive(peer)
  })

  test.each([
    ['ACK', windowUpdate(1, 0, ACK)],
    ['a frame without ACK', data(1, pattern(1))]
  ])('stays when %s comes in time', async (_, answer) => {
    const { peer, clock } = connect()
    const events = endings(await peer.open())
    clock.advance(74_999)
    peer.deliver(answer)
    clock.advance(600_000)

    expect(events).toEqual([])
  })

  test('gives its place to those who wait to open one', async () => {
    const { peer, clock } = connect()
    await Promise.all(Array.from({ length: 256 }, async () => peer.muxer.createStream()))
    const waiting = peer.muxer.createStream()
    await peer.written()
    clock.advance(80_000)

    expect((await waiting).id).toBe('513')
    expect((await peer.written()).filter(([, flags]) => flags === RST)).toHaveLength(256)
  })
})

describe('a stream that this side has closed', () => {
  async function closed (prepare?: (stream: YamuxStream) => void): Promise<{ peer: Conversation, clock: VirtualClock, events: unknown[], closing: Promise<unknown> }> {
    const { peer, clock } = connect()
    const stream = await peer.open()
    peer.deliver(windowUpdate(1, 0, ACK))
    prepare?.(stream)
    clock.advance(1_000_000)
    const events = endings(stream)
    const closing = stream.close().then(() => 'closed', (err: Error) => err.name)
    await peer.written()

    return { peer, clock, events, closing }
  }

  test('is reset when the peer does not end it within 5 minutes', async () => {
    const { peer, clock, events, closing } = await closed()
    expect(await closing).toBe('closed')
    clock.advance(299_999)
    expect(events).toEqual([])
    clock.advance(1)

    expect(events).toEqual(endedWith('CloseTimeoutError', 'ERR_CLOSE_TIMEOUT', /Stream 1 .* 300000 ms, 0 bytes/))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, 1, 0]])
    expect(peer.muxer.streams).toHaveLength(0)
  })

  test('stays while the peer still sends', async () => {
    const { peer, clock, events } = await closed(stream => { stream.addEventListener('message', () => {}) })

    for (let i = 0; i < 10; i++) {
      clock.advance(200_000)
      peer.deliver(data(1, pattern(1)))
    }

    expect(events).toEqual([])
    peer.deliver(windowUpdate(1, 0, FIN))
    expect(events).toHaveLength(1)
    await expectAlive(peer)
  })

  test('keeps data that a slow program has not read, and gives the peer time to send more after that', async () => {
    const { peer, clock, events } = await closed()
    const iterator = peer.muxer.streams[0][Symbol.asyncIterator]()
    peer.deliver(data(1, pattern(200_000)))
    peer.deliver(data(1, pattern(60_000)))
    const read = async (): Promise<number | undefined> => (await iterator.next()).value?.byteLength
    let readBytes = await read() ?? 0
    clock.advance(100_000_000)
    expect(events).toEqual([])

    while (readBytes < 260_000) {
      readBytes += await read() ?? 0
    }

    const more = read()
    await peer.written()
    clock.advance(260_000)
    expect(events).toEqual([])
    peer.deliver(data(1, pattern(77)))
    expect(await more).toBe(77)
    const end = read()
    clock.advance(340_000)

    expect(events).toEqual(endedWith('CloseTimeoutError', 'ERR_CLOSE_TIMEOUT', /Stream 1 /))
    await expect(end).rejects.toThrow('closed for writing')
  })

  test('does not wait for a loop that has ended', async () => {
    const { peer, clock, events } = await closed()
    const iterator = peer.muxer.streams[0][Symbol.asyncIterator]()
    peer.deliver(data(1, pattern(1000)))
    await iterator.next()
    peer.deliver(data(1, pattern(2000)))
    await iterator.return(undefined)
    clock.advance(340_000)
    expect(events).toEqual(endedWith('CloseTimeoutError', 'ERR_CLOSE_TIMEOUT', /Stream 1 /))
  })

  test.each(['a slow loop', 'a listener that has paused'])('waits for %s until its inactivityTimeout, also if that is longer', async reader => {
    const { peer, clock } = connect({ streamOptions: { inactivityTimeout: 600_000 } })
    const stream = await peer.open()
    const events = endings(stream)
    const iterator = reader === 'a slow loop' ? stream[Symbol.asyncIterator]() : undefined

    if (iterator === undefined) {
      stream.addEventListener('message', () => { stream.pause() })
    }

    peer.deliver(data(1, pattern(1000), ACK))
    await iterator?.next()
    peer.deliver(data(1, pattern(1000)))
    await stream.close()
    await peer.written()
    clock.advance(599_000)
    expect(events).toEqual([])
    clock.advance(90_000)

    expect(events).toEqual(endedWith('InactivityTimeoutError', 'ERR_INACTIVITY_TIMEOUT', /600000 ms/))
  })

  test('and that the peer has opened does not wait for an iterator, which may have been dropped', async () => {
    const { peer, clock } = connect()
    const stream = await peer.accept(2)
    const events = endings(stream)
    const iterator = stream[Symbol.asyncIterator]()
    peer.deliver(data(2, pattern(1000)), data(2, pattern(1000)))
    await iterator.next()
    await stream.close()
    clock.advance(300_000)

    expect(events).toEqual(endedWith('CloseTimeoutError', 'ERR_CLOSE_TIMEOUT', /Stream 2 /))
  })

  test('and whose bytes the peer gives no credit for: close() ends with the reset', async () => {
    const { peer, clock, events, closing } = await closed(stream => { stream.send(pattern(WINDOW_BYTES + 77)) })
    clock.advance(300_000)

    expect(await closing).toBe('CloseTimeoutError')
    expect(events).toEqual(endedWith('CloseTimeoutError', 'ERR_CLOSE_TIMEOUT', /, 77 bytes were not sent/))
    await expectAlive(peer)
  })
})

describe('a peer that is silent', () => {
  test.each([
    ['from the start', 0, 3000],
    ['since it sent something in the first interval', 400, 2600]
  ])('%s, loses the connection after three intervals, and the error says for how long it was', async (_, sentMs, silentMs) => {
    const { peer, clock } = connect({ enableKeepAlive: true, keepAliveInterval: 1000 })
    const events = endings(await peer.open())

    if (sentMs > 0) {
      await clock.pass(sentMs, sentMs)
      peer.deliver(data(1, pattern(1)))
    }

    await clock.pass(3100 - sentMs, 100)

    expect(events).toEqual(endedWith('KeepAliveTimeoutError', 'ERR_KEEP_ALIVE_TIMEOUT', new RegExp(`sent nothing for ${silentMs} ms`)))
  })
})

describe('a peer that sends and never answers a ping', () => {
  test('loses the connection after ten intervals, and whoever waits for the pong is told', async () => {
    const { peer, clock } = connect({ enableKeepAlive: true, keepAliveInterval: 1000 })
    const events = endings(await peer.open())
    const pinging = peer.muxer.ping().catch((err: Error) => err.name)

    for (let i = 0; i < 20; i++) {
      peer.deliver(data(1, pattern(1)))
      await clock.pass(500, 500)
      expect(peer.muxer.status).toBe(i < 19 ? 'open' : 'closed')
    }

    expect(events).toEqual(endedWith('KeepAliveTimeoutError', 'ERR_KEEP_ALIVE_TIMEOUT', /did not answer a ping for 10000 ms/))
    expect(await pinging).toBe('MuxerClosedError')
    await expectEnded(peer, 2)
  })

  test('keeps it when it answers late, each time', async () => {
    const { peer, clock } = connect({ enableKeepAlive: true, keepAliveInterval: 1000 })
    const waiting: number[] = []

    for (let i = 0; i < 100; i++) {
      peer.deliver(data(2 + 2 * i, pattern(1), SYN))
      await nextTurn()
      waiting.push(...peer.takeFrames().filter(({ type, flags }) => type === 2 && flags === SYN).map(({ length }) => length))

      if (i % 9 === 8) {
        waiting.splice(0).forEach(value => { peer.deliver(ping(value, ACK)) })
      }

      clock.advance(1000)
    }

    expect(peer.muxer.status).toBe('open')
  })
})

test.each([0, 1, 5])('a peer that leaves one ping unanswered, as go-yamux may, keeps the connection, and whoever waits for a pong gets the next: ping %i', async lost => {
  const { peer, clock } = connect({ enableKeepAlive: true, keepAliveInterval: 1000 })
  const pinging = peer.muxer.ping()
  let pings = 0

  for (let i = 0; i < 100; i++) {
    peer.deliver(data(2 + 2 * i, pattern(1), SYN))
    await nextTurn()

    for (const { length: value } of peer.takeFrames().filter(({ type, flags }) => type === PING && flags === SYN)) {
      if (pings++ !== lost) {
        peer.deliver(ping(value, ACK))
      }
    }

    await clock.pass(1000, 500)
  }

  expect(peer.muxer.status).toBe('open')
  expect(pings).toBeGreaterThan(90)
  expect(await pinging).toBeGreaterThanOrEqual(0)
  expect(await Promise.race([peer.muxer.ping(), nextTurn().then(() => 'waits')])).toBe('waits')
})

test('a peer that answers each ping keeps the connection, although another is in flight at the end of every interval', async () => {
  const { peer, clock } = connect({ enableKeepAlive: true, keepAliveInterval: 1000 })

  for (let i = 0; i < 100; i++) {
    await nextTurn()
    expect(peer.muxer.status).toBe('open')
    const [{ length: value }] = peer.takeFrames().filter(({ type, flags }) => type === 2 && flags === SYN)
    clock.advance(900)
    peer.deliver(ping(value, ACK))
    // as traffic does while the round trip is being measured
    peer.muxer.ping().catch(() => {})
    clock.advance(100)
  }
})

describe('a transport that accepts nothing', () => {
  async function stalled (init: RawPeerInit = {}): Promise<{ peer: Conversation, clock: VirtualClock, stream: YamuxStream }> {
    const { peer, clock } = connect(init)
    const stream = await peer.open()
    peer.deliver(windowUpdate(1, 0, ACK))
    peer.transport.isFull = true
    stream.send(pattern(10))
    await peer.written()

    return { peer, clock, stream }
  }

  test('loses the connection after 60 s, although the peer goes on sending', async () => {
    const { peer, clock, stream } = await stalled({ enableKeepAlive: true, limits: NO_LIMITS })
    const events = endings(stream)
    const draining = stream.send(pattern(WINDOW_BYTES)) ? 'not asked to wait' : stream.onDrain().then(() => 'drained', (err: Error) => err.name)
    const opening = Promise.all(Array.from({ length: 300 }, async () => peer.muxer.createStream())).catch((err: Error) => err.name)

    for (let i = 0; i < 60; i++) {
      expect(peer.muxer.status).toBe('open')
      peer.deliver(data(1, pattern(10)), ping(i, SYN))
      await clock.pass(1000, 1000)
    }

    expect(events).toEqual(endedWith('WriteTimeoutError', 'ERR_WRITE_TIMEOUT', /60000 ms/))
    expect(await draining).toBe('WriteTimeoutError')
    expect(await opening).toBe('MuxerClosedError')
    await expectEnded(peer, 2)
    expect(clock.timerCount).toBe(0)
  })

  test('again and again for a moment keeps no deadline from coming', async () => {
    const clock = new VirtualClock()
    let looks = 0
    // as in any event loop: time passes between two looks at the clock, and timers are late
    const lateClock = {
      ...clock,
      nowMs: () => clock.nowMs() + looks++ / 10_000,
      setBackgroundTimer: (task: () => void, delayMs: number) => clock.setTimer(task, delayMs + 0.7)
    }
    const peer = converse({ clock: lateClock, limits: { openTimeoutMs: 100 } })
    const unanswered = endings(await peer.open())
    const stream = await peer.open()
    peer.deliver(windowUpdate(3, 0, ACK))

    for (let i = 0; i < 300; i++) {
      peer.transport.isFull = true
      stream.send(pattern(10))
      await oneTurn()
      clock.advance(0.5)
      peer.transport.drain()
    }

    expect(unanswered).toEqual(endedWith('OpenTimeoutError', 'ERR_OPEN_TIMEOUT', /stream 1 within 100 ms/))
  })

  test('keeps it when it accepts something now and then', async () => {
    const { peer, clock, stream } = await stalled()

    for (let i = 0; i < 10; i++) {
      clock.advance(59_000)
      peer.transport.drain()
      peer.transport.isFull = true
      stream.send(pattern(10))
      await nextTurn()
    }

    expect(peer.muxer.status).toBe('open')
  })

  test('keeps it for 60 s from when the peer last gave credit: a WebSocket says "go on" when all of its 4 MiB are gone', async () => {
    const { peer, clock, stream } = await stalled({ limits: NO_LIMITS })
    const events = endings(stream)

    for (let i = 0; i < 3; i++) {
      await clock.pass(50_000, 1000)
      peer.deliver(windowUpdate(1, 1))
    }

    await clock.pass(59_000, 1000)
    expect(events).toEqual([])
    await clock.pass(1000, 1000)
    expect(events).toEqual(endedWith('WriteTimeoutError', 'ERR_WRITE_TIMEOUT', /60000 ms/))
  })

  test('keeps it for 60 s from when the peer answered a ping', async () => {
    const { peer, clock, stream } = await stalled({ limits: NO_LIMITS, enableKeepAlive: true, keepAliveInterval: 1_000_000 })
    const events = endings(stream)
    await clock.pass(50_000, 1000)
    peer.deliver(ping(0, ACK))

    await clock.pass(59_000, 1000)
    expect(events).toEqual([])
    await clock.pass(1000, 1000)
    expect(events).toEqual(endedWith('WriteTimeoutError', 'ERR_WRITE_TIMEOUT', /60000 ms/))
  })

  test('loses it when what the peer sends is no answer', async () => {
    const { peer, clock } = await stalled({ limits: NO_LIMITS })

    for (let i = 0; i < 4; i++) {
      await clock.pass(15_000, 15_000)
      peer.deliver(data(1, pattern(10)), ping(9, ACK), windowUpdate(1, 0))
    }

    await clock.pass(1000, 1000)
    expect(peer.muxer.status).toBe('closed')
  })

  test('keeps it when nothing more was to be written', async () => {
    const { peer, clock } = await stalled()
    peer.transport.drain()
    clock.advance(1_000_000)
    await expectAlive(peer)
  })
})

describe('10,000 streams', () => {
  const COUNT = 10_000
  // no pong comes, which for five intervals is no reason to end
  const init: RawPeerInit = { enableKeepAlive: true, keepAliveInterval: 60_000, maxInboundStreams: COUNT, maxOutboundStreams: COUNT, streamOptions: { inactivityTimeout: 120_000 } }

  /** How many timers were set until all streams are open, used, half-closed and timed out */
  async function timersFor (count: number): Promise<{ live: number, set: number }> {
    const { peer, clock } = connect(init)
    const setTimer = clock.setTimer
    let set = 0
    let live = 0
    Object.assign(clock, {
      setTimer: (task: () => void, delayMs: number) => {
        set++
        const timer = setTimer(task, delayMs)
        live = Math.max(live, clock.timerCount)

        return timer
      }
    })

    for (let i = 0; i < count; i++) {
      peer.deliver(data(2 + 2 * i, pattern(10), SYN))
    }

    await nextTurn()
    peer.inbound.forEach((stream, i) => {
      stream.send(pattern(10))

      if (i % 2 === 0) {
        stream.close().catch(() => {})
      }
    })

    for (let i = 0; i < 60; i++) {
      peer.deliver(ping(i, SYN))
      clock.advance(5000)
      await nextTurn()
    }

    expect(peer.muxer.status).toBe('open')
    expect(peer.muxer.streams).toHaveLength(0)

    return { live, set }
  }

  test('cost no more timers than one', async () => {
    const one = await timersFor(1)
    expect(one.live).toBe(1)
    const many = await timersFor(COUNT)
    expect(many.live).toBe(1)
    // those that were written a moment later are found in another sweep
    expect(many.set).toBeLessThanOrEqual(one.set + 2)
  })
})
