// The option `pathControl`: a control of the program's own.
import { describe, expect, test, vi } from 'vitest'
import { yamux } from '../../src/index.ts'
import { yamux as lightYamux } from '../../src/light.ts'
import { ForwardingControl, fullControl, NoControl } from '../../src/path-control.ts'
import { NO_PEER_CONTROL } from '../../src/core/peer-control.ts'
import { Positions } from '../../src/core/positions.ts'
import { HEADER_BYTES } from '../../src/core/wire/frame.ts'
import { ACK, data, DATA, pattern, ping, PING, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { createRawPeer, nextTurn, RawTransport } from '../../testing/protocol/raw-peer.ts'
import { createMeteredPeer, openStreams } from './fixtures/metered-peer.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { CreatePathControl, PathControl, PathFigures, PathInit, WritePlan } from '../../src/path-control.ts'
import type { RawPeer } from '../../testing/protocol/raw-peer.ts'
import type { MessageStream } from '@libp2p/interface'

forbidIncidents()

function connect (factory: ReturnType<typeof yamux>): void {
  factory().createStreamMuxer(new RawTransport('outbound') as unknown as MessageStream)
}

describe.each([['yamux()', yamux], ['the light yamux()', lightYamux]])('%s', (_, yamux) => {
  test('calls the function once for each connection, with what the options say', () => {
    const create = vi.fn<CreatePathControl>(init => new NoControl(init))
    const factory = yamux({ pathControl: create, enableKeepAlive: false, maxMessageSize: 8192, coalesce: { maxQueueDelayMs: 20, maxBytes: 32_768 } })
    expect(create).not.toHaveBeenCalled()

    connect(factory)
    connect(factory)
    expect(create).toHaveBeenCalledTimes(2)

    for (const [init, positions] of create.mock.calls) {
      expect(init).toMatchObject({ maxQueueDelayMs: 20, recordBytes: 32_768, maxWriteBytes: 32_768, frameBytes: 8192, maxFrameBytes: 8192 })
      expect(Math.abs(init.nowMs() - performance.now())).toBeLessThan(10_000)
      expect(positions).toBeInstanceOf(Positions)
    }

    expect(create.mock.calls[0][1]).not.toBe(create.mock.calls[1][1])
  })

  test.each([
    ['fullControl instead of fullControl()', fullControl],
    ['a function that returns nothing', () => {}],
    ['a function that returns null', () => null]
  ])('refuses %s, at the first connection', (_, create) => {
    expect(() => { connect(yamux({ pathControl: create as unknown as CreatePathControl })) }).toThrow(expect.objectContaining({
      name: 'InvalidParametersError',
      message: expect.stringMatching(/^what pathControl returns is .*, it must be a PathControl$/s)
    }))
  })
})

test('figures of a control of the program reach the metrics, times in whole milliseconds', () => {
  const asked: number[] = []

  class Described extends ForwardingControl {
    override figures (nowMs: number): PathFigures {
      asked.push(nowMs)

      return { inFlightBytes: 1000, boundBytes: 5000, bytesPerMs: 125, roundTripMs: 40, heldMs: 2000.75 }
    }
  }

  const peer = createMeteredPeer({ pathControl: init => new Described(new NoControl(init)) })

  expect(peer.sink.calculate('in_flight_bytes')).toEqual({ actual: 1000, bound: 5000 })
  expect(peer.sink.calculate('path_bytes_per_second')).toBe(125_000)
  expect(peer.sink.calculate('path_round_trip_seconds')).toBe(0.04)
  expect(peer.sink.calculate('held_seconds_total')).toMatchObject({ path: 2 })

  peer.clock.advance(1000)
  peer.muxer.abort(new Error('The test is over'))
  expect(peer.sink.calculate('in_flight_bytes')).toEqual({ actual: 0, bound: 0 })
  expect(peer.sink.calculate('held_seconds_total')).toMatchObject({ path: 2 })
  expect(asked.at(-1)).toBe(1000)
})

describe('a control that holds data', () => {
  class Held extends ForwardingControl {
    isHeldNow = true
    looks = 0
    delayMs: number
    readonly #init: PathInit

    constructor (init: PathInit, delayMs: number) {
      super(new NoControl(init))
      this.#init = init
      this.delayMs = delayMs
    }

    override get isHeld (): boolean { return this.isHeldNow }
    override get lookDelayMs (): number { return this.delayMs }

    override look (nowMs: number): void {
      expect(nowMs).toBe(this.#init.nowMs())
      this.looks++
    }
  }

  async function send (delayMs: number) {
    let control: Held | undefined
    const peer = createMeteredPeer({ pathControl: init => { control = new Held(init, delayMs); return control } })
    const setTimer = vi.spyOn(peer.clock, 'setBackgroundTimer')
    const [stream] = await openStreams(peer, 1)
    stream.send(pattern(1000))
    await nextTurn()

    return { peer, setTimer, control: control as Held }
  }

  test('is asked again after its delay, and what it lets go then is written', async () => {
    const { peer, control } = await send(30)
    await peer.clock.pass(29, 1)
    expect(control.looks).toBe(0)
    expect(peer.takeFrames()).toEqual([])

    control.isHeldNow = false
    await peer.clock.pass(1, 1)
    await nextTurn()
    expect(control.looks).toBe(1)
    expect(peer.takeFrames()).toMatchObject([{ length: 1000 }])
    await peer.clock.pass(100, 1)
    expect(control.looks).toBe(1)
  })

  test('is not asked in each millisecond when its delay is longer than timers take', async () => {
    const { setTimer } = await send(Infinity)

    // setTimeout takes more than this for 1
    expect(Math.max(...setTimer.mock.calls.map(([, delayMs]) => delayMs))).toBe(2 ** 31 - 1)
  })
})

describe('a control of the program', () => {
  /** A peer whose control is `Control` in front of none, and a stream with as much queued */
  async function connectWith (Control: new (inner: PathControl) => PathControl, queuedBytes = 100_000): Promise<{ peer: RawPeer, stream: YamuxStream }> {
    const peer = createRawPeer({ pathControl: init => new Control(new NoControl(init)) })
    const stream = await peer.muxer.createStream()
    peer.deliver(windowUpdate(1, 1_000_000, ACK))
    stream.send(pattern(queuedBytes))
    await nextTurn()
    await nextTurn()

    return { peer, stream }
  }

  function dataBytes (peer: RawPeer): number {
    return peer.takeFrames().filter(({ type }) => type === DATA).reduce((sum, { length }) => sum + length, 0)
  }

  test('whose hold ends between two looks at it holds nothing up', async () => {
    let phase: 'held' | 'looked' | 'free' = 'held'

    class Timed extends ForwardingControl {
      override get isHeld (): boolean {
        const isHeld = phase !== 'free'
        // by a clock that goes on between the first question and the second
        phase = phase === 'looked' ? 'free' : phase

        return isHeld
      }

      override look (): void {
        phase = phase === 'held' ? 'looked' : phase
      }

      override get lookDelayMs (): number { return 1 }
    }

    const { peer } = await connectWith(Timed, 100)
    await vi.waitFor(() => { expect(dataBytes(peer)).toBe(100) })
  })

  test.each([
    ['writeBytes', 0.5], ['writeBytes', 0.25], ['quantumBytes', 0.5], ['extraQueueBytes', 0.5]
  ] as const)('whose plan has a fraction in %s loses no byte', async (name, fraction) => {
    class Fractions extends ForwardingControl {
      override planWrite (...args: Parameters<PathControl['planWrite']>): WritePlan {
        const plan = super.planWrite(...args)

        return { ...plan, [name]: plan[name] + fraction }
      }
    }

    const { peer } = await connectWith(Fractions)
    expect(dataBytes(peer)).toBe(100_000)
  })

  test('whose writes have no limit loses no count of what it has written', async () => {
    class Unlimited extends ForwardingControl {
      override get peer (): undefined { return null as unknown as undefined }
      override get fullWriteBytes (): number { return Infinity }
      override planWrite (): WritePlan { return { writeBytes: Infinity, quantumBytes: Infinity, extraQueueBytes: 0 } }
    }

    let positions: Positions | undefined
    const peer = createRawPeer({
      pathControl: (init, of) => {
        positions = of

        return new Unlimited(new NoControl(init))
      }
    })
    const stream = await peer.muxer.createStream()
    peer.deliver(windowUpdate(1, 1_000_000, ACK))
    stream.send(pattern(200_000))
    await nextTurn()
    await nextTurn()

    expect(positions?.writtenBytes).toBe(peer.transport.writes.reduce((sum, { byteLength }) => sum + byteLength, 0))
    expect(peer.transport.writes.length).toBeLessThan(10)
    expect(dataBytes(peer)).toBe(200_000)
  })

  test.each([NaN, undefined, -1, 0, 1, 24])('whose writes hold %s bytes writes all', async value => {
    class Small extends ForwardingControl {
      override get fullWriteBytes (): number { return value as number }
      override planWrite (): WritePlan { return { writeBytes: value as number, quantumBytes: value as number, extraQueueBytes: value as number } }
    }

    const { peer } = await connectWith(Small)
    await vi.waitFor(() => { expect(peer.transport.writes.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeGreaterThan(100_000) })
    expect(dataBytes(peer)).toBe(100_000)
  })

  test.each(['isHeld', 'isMarkDue', 'isUrgentSpent', 'leavesRoomFromBytes', 'fullWriteBytes', 'needsNoMark', 'planWrite', 'onWritten'] as const)('that throws in %s ends its connection with an error that names it', async member => {
    class Throwing extends ForwardingControl {}

    const { peer, stream } = await connectWith(Throwing, 100)
    Object.defineProperty(Throwing.prototype, member, { get () { throw new Error('no') } })
    // each of them is asked for one of these
    peer.transport.isFull = true
    stream.priority = 'urgent'
    expect(() => { stream.send(pattern(10_000)) }).not.toThrow()
    await nextTurn()
    stream.priority = 'normal'
    peer.transport.drain()
    await nextTurn()

    if (stream.status === 'open') {
      stream.send(pattern(10))
    }

    await vi.waitFor(() => { expect(peer.transport.abortedWith).toMatchObject({ code: 'ERR_PATH_CONTROL', message: `${member} of the pathControl failed: no`, cause: { message: 'no' } }) })
  })

  test.each(['boundBytes', 'onReceived', 'onRoundBegun', 'onRoundEnded'] as const)('whose peer control throws in %s ends its connection with an error that names it', async member => {
    let isBroken = false
    const orThrow = <Value>(value: Value): Value => {
      if (isBroken) {
        throw new Error('no')
      }

      return value
    }
    const throwing = Object.defineProperty({ ...NO_PEER_CONTROL }, member, { get: () => orThrow(NO_PEER_CONTROL[member]) })
    const peer = createRawPeer({ pathControl: init => Object.assign(new NoControl(init), { peer: throwing }) })
    const stream = await peer.muxer.createStream()
    stream.addEventListener('message', () => {})
    isBroken = true
    const measured = peer.muxer.ping().catch(() => {})
    await nextTurn()
    peer.deliver(data(1, pattern(20_000), ACK))
    peer.deliver(ping(0, ACK))
    await measured
    await nextTurn()

    expect(peer.transport.abortedWith).toMatchObject({ message: `peer.${member} of the pathControl failed: no` })
  })

  test.each(['look', 'onClosing', 'end'] as const)('whose %s is async and rejects ends no process', async member => {
    class Rejecting extends ForwardingControl {
      override get isHeld (): boolean { return true }
      override get lookDelayMs (): number { return 1 }
    }

    const { peer } = await connectWith(Rejecting, 100)
    let runs = 0
    Object.defineProperty(Rejecting.prototype, member, {
      value: async () => {
        runs++
        throw new Error('no')
      }
    })
    await new Promise(resolve => { setTimeout(resolve, 20) })
    await peer.muxer.close({ signal: AbortSignal.timeout(50) }).catch(() => {})
    peer.transport.end()
    await nextTurn()

    expect(runs).toBeGreaterThan(0)
  })

  test.each(['look', 'end', 'figures', 'onClosing'] as const)('that throws in %s ends no process', async member => {
    class Throwing extends ForwardingControl {
      override get isHeld (): boolean { return true }
      override get lookDelayMs (): number { return 1 }
    }

    const metered = createMeteredPeer({ pathControl: init => new Throwing(new NoControl(init)) })
    const [stream] = await openStreams(metered, 1)
    Object.defineProperty(Throwing.prototype, member, { value: () => { throw new Error('no') } })
    stream.send(pattern(100))
    await new Promise(resolve => { setTimeout(resolve, 20) })
    metered.sink.calculate('in_flight_bytes')
    await metered.muxer.close({ signal: AbortSignal.timeout(50) }).catch(() => {})
    metered.transport.end()
    await nextTurn()
  })

  test.each([
    ['returns none', () => undefined],
    ['returns one of another ping', () => 5],
    ['is due again', () => 2 ** 31]
  ])('whose mark is due and %s ends its connection', async (_, mark) => {
    let isDue = false

    class Due extends ForwardingControl {
      override get isMarkDue (): boolean { return isDue }
      override mark (): number | undefined { return mark() }
    }

    const { peer, stream } = await connectWith(Due, 100)
    isDue = true
    stream.send(pattern(100))
    await vi.waitFor(() => { expect(peer.transport.abortedWith?.message).toMatch(/^mark of the pathControl failed/) })
  })

  test('whose mark is a fraction ends its connection', async () => {
    let isDue = false

    class Fraction extends ForwardingControl {
      override get isMarkDue (): boolean { return isDue }

      override mark (): number {
        isDue = false

        return 2 ** 31 + 0.5
      }
    }

    const { peer, stream } = await connectWith(Fraction, 100)
    isDue = true
    stream.send(pattern(100))
    await vi.waitFor(() => { expect(peer.transport.abortedWith).toMatchObject({ code: 'ERR_PATH_CONTROL' }) })
  })

  test('whose mark is due, and then has none, sends an ordinary ping', async () => {
    let isDue = false

    class Undecided extends ForwardingControl {
      override get isMarkDue (): boolean { return isDue }
      override mark (): undefined { isDue = false }
    }

    const { peer, stream } = await connectWith(Undecided, 100)
    peer.takeFrames()
    isDue = true
    stream.send(pattern(100))
    await nextTurn()

    expect(peer.takeFrames().map(({ type, flags, length }) => [type, flags, length])).toEqual([[PING, SYN, 0], [DATA, 0, 100]])
  })

  test('with no prototype is taken', async () => {
    const peer = createRawPeer({
      pathControl: init => {
        const control = new NoControl(init)
        const members = [...Object.keys(control), ...Object.getOwnPropertyNames(NoControl.prototype)].filter(name => name !== 'constructor')

        return Object.assign(Object.create(null) as PathControl, Object.fromEntries(members.map(name => [name, (control as any)[name]?.bind?.(control) ?? (control as any)[name]])))
      }
    })
    const stream = await peer.muxer.createStream()
    stream.send(pattern(100))
    await nextTurn()

    expect(dataBytes(peer)).toBe(100)
  })

  test('that lacks a member is refused, and the member is named', () => {
    const { look, ...incomplete } = { ...new NoControl({ recordBytes: 65_519, frameBytes: 16_384, maxFrameBytes: 16_384 }), ...Object.fromEntries(Object.getOwnPropertyNames(NoControl.prototype).map(name => [name, () => {}])) } as Record<string, unknown>

    expect(look).toBeTypeOf('function')
    expect(() => { connect(yamux({ pathControl: () => incomplete as unknown as PathControl })) }).toThrow(expect.objectContaining({ name: 'InvalidParametersError', message: 'What pathControl returns has no look, it must be a PathControl' }))
  })
})

test('the peer control hears of all that arrives, also while its ping waits for the next window update', async () => {
  let toldBytes = 0

  class Counting extends NoControl {
    override readonly peer = {
      ...NO_PEER_CONTROL,
      onReceived (byteLength: number): boolean {
        toldBytes += byteLength

        return true
      }
    }
  }

  const peer = createRawPeer({ pathControl: init => new Counting(init) })
  await peer.muxer.createStream()
  peer.deliver(data(1, pattern(20_000), ACK))
  peer.deliver(data(1, pattern(20_000)))
  peer.deliver(data(1, pattern(20_000)))

  expect(toldBytes).toBe(3 * (20_000 + HEADER_BYTES))
})

test.each([
  ['as it arrives', true],
  ['in a later turn', false]
])('credit for what is read %s, and is withheld, comes back after ten silent seconds, also when no timer of the muxer runs', async (_, isReading) => {
  class Withholding extends NoControl {
    override readonly peer = {
      ...NO_PEER_CONTROL,
      boundBytes: 16_384,
      onReceived: () => true,
      onSilence () { this.boundBytes = Infinity }
    }
  }

  const peer = createMeteredPeer({ pathControl: init => new Withholding(init), enableKeepAlive: false })
  const [stream] = await openStreams(peer, 1)
  const read = (): void => { stream.addEventListener('message', () => {}) }

  if (isReading) {
    read()
  }

  peer.deliver(data(1, pattern(200_000)))
  await nextTurn()

  if (!isReading) {
    read()
    await nextTurn()
  }

  const granted = (): number => peer.takeFrames().filter(({ type, flags }) => type === WINDOW_UPDATE && flags === 0).reduce((sum, { length }) => sum + length, 0)
  const firstBytes = granted()
  expect(firstBytes).toBeLessThan(40_000)

  for (let second = 0; second < 12; second++) {
    peer.clock.advance(1000)
    await nextTurn()
  }

  expect(firstBytes + granted()).toBe(200_000)
})
