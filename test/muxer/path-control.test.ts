// The option `pathControl`: a control of the program's own.
import { describe, expect, test, vi } from 'vitest'
import { yamux } from '../../src/index.ts'
import { yamux as lightYamux } from '../../src/light.ts'
import { ForwardingControl, fullControl, NoControl } from '../../src/path-control.ts'
import { Positions } from '../../src/core/positions.ts'
import { pattern } from '../../testing/protocol/frames.ts'
import { nextTurn, RawTransport } from '../../testing/protocol/raw-peer.ts'
import { createMeteredPeer, openStreams } from './fixtures/metered-peer.ts'
import type { CreatePathControl, PathFigures, PathInit } from '../../src/path-control.ts'
import type { MessageStream } from '@libp2p/interface'

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
    ['a function that returns nothing', () => {}]
  ])('refuses %s, at the first connection', (_, create) => {
    expect(() => { connect(yamux({ pathControl: create as unknown as CreatePathControl })) }).toThrow(expect.objectContaining({
      name: 'InvalidParametersError',
      message: expect.stringMatching(/^what pathControl returns is .*, it must be a PathControl$/s)
    }))
  })
})

test('figures of a control of the program reach the metrics', () => {
  const asked: number[] = []

  class Described extends ForwardingControl {
    override figures (nowMs: number): PathFigures {
      asked.push(nowMs)

      return { inFlightBytes: 1000, boundBytes: 5000, bytesPerMs: 125, roundTripMs: 40, heldMs: 2000 }
    }
  }

  const peer = createMeteredPeer({ pathControl: init => new Described(new NoControl(init)) })

  expect(peer.sink.calculate('in_flight_bytes')).toEqual({ actual: 1000, bound: 5000 })
  expect(peer.sink.calculate('path_bytes_per_second')).toBe(125_000)
  expect(peer.sink.calculate('path_round_trip_seconds')).toBe(0.04)
  expect(peer.sink.calculate('held_seconds_total')).toBe(2)

  peer.clock.advance(1000)
  peer.muxer.abort(new Error('The test is over'))
  expect(peer.sink.calculate('in_flight_bytes')).toEqual({ actual: 0, bound: 0 })
  expect(peer.sink.calculate('held_seconds_total')).toBe(2)
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
