// Which streams there are, and how many there may be.
import { beforeEach, describe, expect, test } from 'vitest'
import { StreamRegistry } from '../../src/core/stream-registry.ts'
import { noTuning } from './fixtures/lanes.ts'

const INIT = { maxInboundStreams: 2, initialWindowBytes: 262_144, maxWindowBytes: 1_048_576, maxGrowthBytes: 1_048_576, frameBytes: 16_384, mergeFromBytes: 0 }

let registry: StreamRegistry<unknown>

beforeEach(() => {
  registry = new StreamRegistry(true, INIT)
})

describe('streams', () => {
  test('that a dialler opens have odd ids, from 1', () => {
    expect([1, 2, 3].map(() => registry.addOutbound(0).id)).toEqual([1, 3, 5])
  })

  test('that a listener opens have even ids, from 2', () => {
    registry = new StreamRegistry(false, INIT)

    expect([1, 2, 3].map(() => registry.addOutbound(0).id)).toEqual([2, 4, 6])
  })

  test('are found by id until they are removed', () => {
    const outbound = registry.addOutbound(0)
    const inbound = registry.addInbound(2, 0)

    expect(registry.get(1)).toBe(outbound)
    expect(registry.get(2)).toBe(inbound)
    expect([...registry.values()]).toEqual([outbound, inbound])
    expect(registry.size).toBe(2)

    registry.remove(outbound)
    expect(registry.get(1)).toBeUndefined()
    expect(registry.size).toBe(1)
  })

  test('know their side, and when they began', () => {
    const outbound = registry.addOutbound(5)
    const inbound = registry.addInbound(2, 6)

    expect([outbound.isOutbound, outbound.lastActiveMs]).toEqual([true, 5])
    expect([inbound.isOutbound, inbound.lastActiveMs]).toEqual([false, 6])
  })

  test('have the window and the manner of reading that are configured', () => {
    registry = new StreamRegistry(true, { ...INIT, initialWindowBytes: 300_000, mergeFromBytes: Infinity })
    const stream = registry.addOutbound(0)
    stream.readBuffer.append(Uint8Array.of(1))

    expect(stream.receiveWindow.takeUpdate(0, noTuning)).toBe(300_000 - 262_144)
    expect(stream.readBuffer.isReady).toBe(false)
    expect(stream.isMerging).toBe(false)
    expect(stream.isNeverCut).toBe(true)
  })
})

describe('the budget for growing windows', () => {
  test('is what one window may be, for all of them together', () => {
    expect(registry.budget.availableBytes).toBe(1_048_576)
  })

  test('has back what a stream took of it when the stream is over, once', () => {
    const stream = registry.addInbound(2, 0)
    stream.receiveWindow.receive(262_144, 2)
    stream.receiveWindow.read(0, 0)
    stream.receiveWindow.read(262_144, 0)
    stream.receiveWindow.takeUpdate(1, { ...noTuning, roundTripMs: 100, budget: registry.budget })
    expect(registry.budget.availableBytes).toBe(1_048_576 - 262_144)

    registry.remove(stream)
    registry.remove(stream)
    expect(registry.budget.availableBytes).toBe(1_048_576)
  })
})

describe('places', () => {
  test('for inbound streams are limited, and free again once the peer knows of the end', () => {
    const first = registry.addInbound(2, 0)
    expect(registry.isInboundFull).toBe(false)

    registry.addInbound(4, 0)
    expect(registry.isInboundFull).toBe(true)

    registry.remove(first)
    expect(registry.isInboundFull).toBe(true)

    registry.release(first)
    expect(registry.isInboundFull).toBe(false)
    expect(registry.inboundCount).toBe(1)
  })

  test('are counted for each side apart', () => {
    const outbound = registry.addOutbound(0)
    registry.addInbound(2, 0)
    expect([registry.outboundCount, registry.inboundCount]).toEqual([1, 1])

    registry.release(outbound)
    expect([registry.outboundCount, registry.inboundCount]).toEqual([0, 1])
  })

  test('are none when no inbound stream is allowed', () => {
    expect(new StreamRegistry(true, { ...INIT, maxInboundStreams: 0 }).isInboundFull).toBe(true)
  })
})

describe('the ack backlog', () => {
  test('holds 256 streams that the peer has not acknowledged', () => {
    for (let i = 0; i < 255; i++) {
      registry.addOutbound(0)
    }

    expect(registry.isAckBacklogFull).toBe(false)

    registry.addOutbound(0)
    expect(registry.isAckBacklogFull).toBe(true)
  })

  test('has no inbound streams in it', () => {
    registry.acknowledge(registry.addInbound(2, 0))

    expect(registry.unackedCount).toBe(0)
  })

  test('frees a place once, however often a stream is acknowledged', () => {
    const stream = registry.addOutbound(0)
    registry.addOutbound(0)

    registry.acknowledge(stream)
    registry.acknowledge(stream)

    expect(registry.unackedCount).toBe(1)
  })
})
