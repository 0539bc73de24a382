// Which streams there are, and how many there may be.
import { beforeEach, describe, expect, test } from 'vitest'
import { StreamTable } from '../../src/core/stream-table.ts'
import { noTuning } from './fixtures/lanes.ts'

const INIT = { maxInboundStreams: 2, initialWindowBytes: 262_144, maxWindowBytes: 1_048_576, maxGrowthBytes: 1_048_576, frameBytes: 16_384, mergeFromBytes: 0 }

let streams: StreamTable<unknown>

beforeEach(() => {
  streams = new StreamTable(true, INIT)
})

describe('streams', () => {
  test('that a dialler opens have odd ids, from 1', () => {
    expect([1, 2, 3].map(() => streams.addOutbound(0).id)).toEqual([1, 3, 5])
  })

  test('that a listener opens have even ids, from 2', () => {
    streams = new StreamTable(false, INIT)

    expect([1, 2, 3].map(() => streams.addOutbound(0).id)).toEqual([2, 4, 6])
  })

  test('are found by id until they are removed', () => {
    const outbound = streams.addOutbound(0)
    const inbound = streams.addInbound(2, 0)

    expect(streams.get(1)).toBe(outbound)
    expect(streams.get(2)).toBe(inbound)
    expect([...streams.values()]).toEqual([outbound, inbound])
    expect(streams.size).toBe(2)

    streams.remove(outbound)
    expect(streams.get(1)).toBeUndefined()
    expect(streams.size).toBe(1)
  })

  test('know their side, and when they began', () => {
    const outbound = streams.addOutbound(5)
    const inbound = streams.addInbound(2, 6)

    expect([outbound.isOutbound, outbound.lastActiveMs]).toEqual([true, 5])
    expect([inbound.isOutbound, inbound.lastActiveMs]).toEqual([false, 6])
  })

  test('have the window and the manner of reading that are configured', () => {
    streams = new StreamTable(true, { ...INIT, initialWindowBytes: 300_000, mergeFromBytes: Infinity })
    const stream = streams.addOutbound(0)
    stream.readBuffer.append(Uint8Array.of(1), 2)

    expect(stream.receiveWindow.takeUpdate(0, noTuning)).toBe(300_000 - 262_144)
    expect(stream.readBuffer.readyBytes).toBe(0)
    expect(stream.isMerging).toBe(false)
    expect(stream.isNeverCut).toBe(true)
  })
})

describe('the budget for growing windows', () => {
  test('is what one window may be, for all of them together', () => {
    expect(streams.budget.availableBytes).toBe(1_048_576)
  })

  test('has back what a stream took of it when the stream is over, once', () => {
    const stream = streams.addInbound(2, 0)
    stream.receiveWindow.receive(262_144, 2)
    stream.receiveWindow.read(0, 0)
    stream.receiveWindow.read(262_144, 0)
    stream.receiveWindow.takeUpdate(1, { ...noTuning, roundTrip: { smoothedMs: 100 }, budget: streams.budget })
    expect(streams.budget.availableBytes).toBe(1_048_576 - 262_144)

    streams.remove(stream)
    streams.remove(stream)
    expect(streams.budget.availableBytes).toBe(1_048_576)
  })
})

describe('places', () => {
  test('for inbound streams are limited, and free again once the peer knows of the end', () => {
    const first = streams.addInbound(2, 0)
    expect(streams.isInboundFull).toBe(false)

    streams.addInbound(4, 0)
    expect(streams.isInboundFull).toBe(true)

    streams.remove(first)
    expect(streams.isInboundFull).toBe(true)

    streams.release(first)
    expect(streams.isInboundFull).toBe(false)
    expect(streams.inboundCount).toBe(1)
  })

  test('are counted for each side apart', () => {
    const outbound = streams.addOutbound(0)
    streams.addInbound(2, 0)
    expect([streams.outboundCount, streams.inboundCount]).toEqual([1, 1])

    streams.release(outbound)
    expect([streams.outboundCount, streams.inboundCount]).toEqual([0, 1])
  })

  test('are none when no inbound stream is allowed', () => {
    expect(new StreamTable(true, { ...INIT, maxInboundStreams: 0 }).isInboundFull).toBe(true)
  })
})

describe('the ack backlog', () => {
  test('holds 256 streams that the peer has not acknowledged', () => {
    for (let i = 0; i < 255; i++) {
      streams.addOutbound(0)
    }

    expect(streams.isAckBacklogFull).toBe(false)

    streams.addOutbound(0)
    expect(streams.isAckBacklogFull).toBe(true)
  })

  test('has no inbound streams in it', () => {
    streams.acknowledge(streams.addInbound(2, 0))

    expect(streams.unackedCount).toBe(0)
  })

  test('frees a place once, however often a stream is acknowledged', () => {
    const stream = streams.addOutbound(0)
    streams.addOutbound(0)

    streams.acknowledge(stream)
    streams.acknowledge(stream)

    expect(streams.unackedCount).toBe(1)
  })
})
