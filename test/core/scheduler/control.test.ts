// What is not payload: the order it goes in, what never goes because something else has taken its place, and how much may wait.
import { beforeEach, describe, expect, test } from 'vitest'
import { PENDING_ACK, PENDING_FIN, PENDING_RST, PENDING_SYN, PENDING_UPDATE } from '../../../src/core/stream-state.ts'
import { ACK, concat, FIN, GO_AWAY, goAway, PING, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../../testing/protocol/frames.ts'
import { createControlLane, createStream, fillBatch } from '../../../testing/core/lanes.ts'
import { Batch } from '../../../src/core/scheduler/batch.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'
import type { Frame } from '../../../testing/protocol/frames.ts'
import type { StreamInit } from '../../../testing/core/lanes.ts'

const NOW_MS = 77

let lane: ReturnType<typeof createControlLane>
let finsInBatch: number[]
let resetsWritten: number[]
let pingsWritten: number[]

beforeEach(() => {
  finsInBatch = []
  resetsWritten = []
  pingsWritten = []
  lane = createControlLane({
    onFinBatched: stream => { finsInBatch.push(stream.id) },
    onResetWritten: stream => { resetsWritten.push(stream.id) },
    onPingWritten: nowMs => { pingsWritten.push(nowMs) }
  })
})

function enlist (id: number, init: StreamInit): StreamState {
  const stream = createStream(id, init)
  lane.enlist(stream)

  return stream
}

function fill (maxBytes = 65_519, maxFrames = Infinity): Frame[] {
  return fillBatch(batch => { lane.fill(batch, NOW_MS) }, maxBytes, maxFrames)
}

function fillBytes (): Uint8Array {
  const batch = new Batch()
  batch.begin(65_519, Infinity)
  lane.fill(batch, NOW_MS)

  return batch.finish().subarray()
}

describe('the lane', () => {
  test('goes on in the next batch where the last one was full', () => {
    lane.pong(1)
    lane.pong(2)
    lane.refuse(4)
    enlist(1, { pending: PENDING_SYN })
    enlist(3, { pending: PENDING_SYN })
    lane.goAway(2)
    const written: Array<[type: number, id: number, length: number]> = []

    for (let batch = 0; batch < 6; batch++) {
      // 23 bytes are a header and one byte short of the next
      written.push(...fill(23).map(({ type, id, length }): [number, number, number] => [type, id, length]))
    }

    expect(written).toEqual([
      [PING, 0, 1], [PING, 0, 2], [WINDOW_UPDATE, 4, 0], [WINDOW_UPDATE, 1, 0], [WINDOW_UPDATE, 3, 0], [GO_AWAY, 0, 2]
    ])
  })

  test('says when its ping was written, not when it was asked for', () => {
    lane.ping(7)
    fill(11)
    expect(pingsWritten).toEqual([])

    fill(12)
    expect(pingsWritten).toEqual([NOW_MS])
  })

  test('says GoAway once, with the code that was asked for last', () => {
    lane.goAway(0)
    lane.goAway(1)
    expect(fillBytes()).toEqual(goAway(1))

    lane.goAway(2)
    expect(lane.hasOutput).toBe(false)
    expect(fill()).toEqual([])
  })

  test('knows when it holds no more than acknowledgements', () => {
    expect(lane.cannotWait).toBe(false)

    const stream = enlist(2, { pending: PENDING_ACK })
    expect(lane.cannotWait).toBe(false)

    stream.pending |= PENDING_UPDATE
    lane.enlist(stream)
    expect(lane.cannotWait).toBe(true)

    fill()
    expect(lane.cannotWait).toBe(false)

    lane.pong(1)
    expect(lane.cannotWait).toBe(true)
  })
})

describe('a stream', () => {
  test('stands in the lane once, whatever it pending', () => {
    const stream = enlist(2, { pending: PENDING_ACK })
    stream.receiveWindow.receive(200_000, 2)
    stream.receiveWindow.read(200_000, 0)
    stream.pending |= PENDING_UPDATE | PENDING_FIN
    lane.enlist(stream)
    lane.enlist(stream)

    expect(fillBytes()).toEqual(concat(windowUpdate(2, 200_000, ACK), windowUpdate(2, 0, FIN)))
    expect(stream.pending).toBe(0)
    expect(lane.hasOutput).toBe(false)
  })

  test.each([['SYN', PENDING_SYN, SYN], ['ACK', PENDING_ACK, ACK]])('leaves its FIN to the next write when there is room for its %s alone', (_, pending, flags) => {
    enlist(2, { pending: pending | PENDING_FIN })

    expect(fill(23)).toMatchObject([{ flags, id: 2 }])
    expect(finsInBatch).toEqual([])
    expect(lane.hasOutput).toBe(true)
    expect(fill(65_519, 1)).toMatchObject([{ flags: FIN, id: 2 }])
    expect(finsInBatch).toEqual([2])
    expect(lane.hasOutput).toBe(false)
  })

  test('takes the FIN back that was left when it is reset', () => {
    const stream = enlist(2, { pending: PENDING_SYN | PENDING_FIN })
    fill(23)
    stream.pending = PENDING_RST
    lane.enlist(stream)

    expect(fill()).toMatchObject([{ flags: RST, id: 2 }])
    expect(lane.hasOutput).toBe(false)
  })
})
