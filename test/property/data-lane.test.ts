// Laws of the data lane: every byte once and in order, within credit, frame and batch; equal shares for the busy.
import fc from 'fast-check'
import { equals } from 'uint8arrays/equals'
import { expect, test } from 'vitest'
import { createDataLanes, createStream, fillBatch } from '../../testing/core/lanes.ts'
import { concat, DATA, FIN, WINDOW_UPDATE } from '../../testing/protocol/frames.ts'
import { streamBytes } from './fixtures/chunks.ts'
import type { StreamState } from '../../src/core/stream-state.ts'
import type { Frame } from '../../testing/protocol/frames.ts'

const MIN_CUT_BYTES = 1024
const WINDOW_BYTES = 262_144

/** The largest frame while streams contend, and that of a stream alone */
const frameBytes = fc.oneof(fc.constant(16_384), fc.integer({ min: 1024, max: 65_536 }))
const loneFrameBytes = fc.integer({ min: 1024, max: 65_536 })
const messageBytes = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 50_000 }))
/** What a stream may send in its turn. A message that is kept whole may be longer. */
const shareBytes = fc.option(fc.integer({ min: 1024, max: 16_384 }), { nil: undefined })
const batchBytes = fc.oneof(fc.integer({ min: 2048, max: 70_000 }), fc.integer({ min: 13, max: 2048 }))
const batchFrames = fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 5 }))
const index = fc.nat(3)

const steps = fc.array(fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('write' as const), index, bytes: messageBytes }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('grant' as const), index, bytes: messageBytes }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('fill' as const), maxBytes: batchBytes, maxFrames: batchFrames }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('close' as const), index }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('discard' as const), index }) }
), { maxLength: 60, size: 'max' })

interface Sender {
  stream: StreamState
  queued: Uint8Array[]
  writtenBytes: number
  sent: Uint8Array[]
  creditBytes: number
  hasFinished: boolean
}

function byteLength (pieces: Uint8Array[]): number {
  return pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

test('every byte goes out once, in order, within credit, frame and batch, whatever is asked when', () => {
  fc.assert(fc.property(fc.constantFrom('backlog', true, false), fc.tuple(frameBytes, loneFrameBytes, shareBytes), fc.array(fc.nat(100_000), { minLength: 4, maxLength: 4 }), steps, (mergesMessages, [frameBytes, loneFrameBytes, shareBytes = frameBytes], credits, steps) => {
    const finsDue: StreamState[] = []
    const finished: number[] = []
    const lane = createDataLanes({
      frameBytes,
      loneFrameBytes,
      onFinBatched: stream => { finished.push(stream.id) },
      onFinDue: stream => { finsDue.push(stream) }
    })
    lane.setQuantum(Math.min(shareBytes, frameBytes))
    const senders = credits.map((creditBytes, i): Sender => {
      const stream = createStream(i, { maxWholeBytes: mergesMessages === true ? undefined : frameBytes, mergeFromBytes: mergesMessages === false ? undefined : 16_384 })
      stream.creditBytes -= WINDOW_BYTES - creditBytes

      return { stream, queued: [], writtenBytes: 0, sent: [], creditBytes, hasFinished: false }
    })

    const account = (frame: Frame): void => {
      const sender = senders[frame.id]
      expect(sender.hasFinished).toBe(false)

      if (frame.type === DATA) {
        expect(frame.length).toBeGreaterThan(0)
        expect(frame.length).toBeLessThanOrEqual(Math.max(frameBytes, loneFrameBytes))
        sender.creditBytes -= frame.length
        expect(sender.creditBytes).toBeGreaterThanOrEqual(0)
        sender.sent.push(frame.payload)
      } else {
        expect([frame.type, frame.flags, frame.length]).toEqual([WINDOW_UPDATE, FIN, 0])
        expect(sender.stream.life.writeStatus === 'closing' && byteLength(sender.sent) === byteLength(sender.queued)).toBe(true)
        sender.hasFinished = true
      }
    }
    const fill = (maxBytes: number, maxFrames: number): number => {
      const frames = fillBatch(batch => { lane.fill(batch, 0, 0, false, false) }, maxBytes, maxFrames)
      frames.forEach(account)
      expect(frames.length).toBeLessThanOrEqual(maxFrames)
      // a message that must not be cut, and nothing else
      const isOneMessage = mergesMessages !== true && frames.length === 1
      expect(frames.reduce((sum, { payload }) => sum + 12 + payload.byteLength, 0)).toBeLessThanOrEqual(isOneMessage ? Math.max(maxBytes, 12 + frameBytes) : maxBytes)

      return frames.length
    }

    for (const step of steps) {
      if (step.does === 'fill') {
        fill(step.maxBytes, step.maxFrames)
        continue
      }

      const sender = senders[step.index]
      const { stream } = sender

      if (step.does === 'write' && stream.life.writeStatus === 'writable') {
        const bytes = streamBytes(stream.id, sender.writtenBytes, sender.writtenBytes += step.bytes)
        sender.queued.push(bytes)
        stream.sendQueue.add(bytes, bytes.byteLength)
        lane.onQueued(stream, bytes.byteLength)
      } else if (step.does === 'grant') {
        sender.creditBytes += step.bytes
        stream.creditBytes += step.bytes
        lane.enlist(stream)
      } else if (step.does === 'close') {
        if (stream.sendQueue.byteLength > 0) {
          stream.become('close')
        }
      } else if (step.does === 'discard') {
        lane.discard(stream)
        sender.queued = [...sender.sent]
      }
    }

    // all credit there is, and all the room: everything must leave
    for (const sender of senders) {
      sender.creditBytes += 10_000_000
      sender.stream.creditBytes += 10_000_000
      lane.enlist(sender.stream)
    }

    expect(lane.queuedBytes).toBe(senders.reduce((sum, { stream }) => sum + stream.sendQueue.byteLength, 0))

    while (fill(65_519, Infinity) > 0) {
      // until nothing is left
    }

    for (const { stream, queued, sent, hasFinished } of senders) {
      expect(equals(concat(...sent), concat(...queued))).toBe(true)
      expect(finished.filter(id => id === stream.id)).toHaveLength(hasFinished ? 1 : 0)
      expect(finsDue.filter(({ id }) => id === stream.id).length).toBeLessThanOrEqual(hasFinished ? 0 : 1)
    }

    expect([lane.queuedBytes, lane.streamCount]).toEqual([0, 0])
  }), { numRuns: 150 })
})

test.each([true, false])('two streams that always have data are never further apart than a share and what a turn may leave over (merged: %s)', mergesMessages => {
  const batches = fc.array(fc.record({ maxBytes: fc.integer({ min: 2048, max: 140_000 }), maxFrames: batchFrames }), { minLength: 5, maxLength: 15, size: 'max' })

  fc.assert(fc.property(fc.tuple(frameBytes, loneFrameBytes), fc.tuple(messageBytes, messageBytes), batches, ([frameBytes, loneFrameBytes], sizes, batches) => {
    const lane = createDataLanes({ frameBytes, loneFrameBytes })
    const streams = sizes.map((_, i) => createStream(i, { maxWholeBytes: mergesMessages ? 0 : frameBytes }))
    const sentBytes = [0, 0]
    let largestFrameBytes = 0
    let largestDifferenceBytes = 0
    streams.forEach(stream => { stream.creditBytes += 100_000_000 })

    for (const { maxBytes, maxFrames } of batches) {
      streams.forEach((stream, i) => {
        while (stream.sendQueue.byteLength < maxBytes + frameBytes) {
          stream.sendQueue.push(streamBytes(i, 0, sizes[i]))
          lane.onQueued(stream, sizes[i])
        }
      })

      for (const { id, length } of fillBatch(batch => { lane.fill(batch, 0, 0, false, false) }, maxBytes, maxFrames)) {
        sentBytes[id] += length
        largestFrameBytes = Math.max(largestFrameBytes, length)
        largestDifferenceBytes = Math.max(largestDifferenceBytes, Math.abs(sentBytes[0] - sentBytes[1]))
      }
    }

    expect(sentBytes[0] + sentBytes[1]).toBeGreaterThan(0)
    expect(largestFrameBytes).toBeLessThanOrEqual(frameBytes)
    expect(largestDifferenceBytes).toBeLessThan(frameBytes + (mergesMessages ? MIN_CUT_BYTES : frameBytes))
  }), { numRuns: 50 })
})

test('where messages are not merged, one of at most a frame stays one frame', () => {
  fc.assert(fc.property(fc.array(fc.array(messageBytes, { maxLength: 5, size: 'max' }), { maxLength: 4 }), fc.integer({ min: 0, max: 5000 }), batchFrames, batchBytes, (messages, moreBytes, maxFrames, maxBytes) => {
    const frameBytes = 50_000
    const lane = createDataLanes({ frameBytes, loneFrameBytes: frameBytes + moreBytes })
    const streams = messages.map((queued, id) => createStream(id, { queued, maxWholeBytes: frameBytes }))
    streams.forEach(stream => { lane.enlist(stream) })
    const frames: Frame[] = []

    while (lane.streamCount > 0) {
      frames.push(...fillBatch(batch => { lane.fill(batch, 0, 0, false, false) }, maxBytes, maxFrames))
    }

    for (const [i, sizes] of messages.entries()) {
      expect(frames.filter(({ id }) => id === i).map(({ length }) => length)).toEqual(sizes)
    }
  }))
})
