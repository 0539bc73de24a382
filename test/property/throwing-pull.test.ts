// Law: whatever throws while a write is put together, it is this connection's own affair. Another one carries its own bytes and no others.
import fc from 'fast-check'
import { Uint8ArrayList } from 'uint8arraylist'
import { afterEach, expect, test } from 'vitest'
import { PieceQueue } from '../../src/core/buffers/piece-queue.ts'
import { ReceiveWindow } from '../../src/core/window/receive-window.ts'
import { Batch } from '../../src/core/scheduler/batch.ts'
import { RoundTrip } from '../../src/core/window/round-trip.ts'
import { ControlLane } from '../../src/core/scheduler/control.ts'
import { DataLanes } from '../../src/core/scheduler/lanes.ts'
import { Session } from '../../src/core/session.ts'
import { StreamTable } from '../../src/core/stream-table.ts'
import { ACK, concat, data, DATA, pattern, ping, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import type { Frame } from '../../testing/protocol/frames.ts'
import type { RawPeer } from '../../testing/protocol/raw-peer.ts'
import type { YamuxStream } from '../../src/index.ts'

/** All that `pull` calls, as far as it can be reached from outside */
const CALLED_BY_PULL: object[] = [Batch, PieceQueue, DataLanes, ControlLane, ReceiveWindow, RoundTrip, Session, StreamTable, Uint8ArrayList].map(({ prototype }) => prototype)

class Fault extends Error {}

const restores: Array<() => void> = []

/** From now on the `nth` call within a pull of a session throws; says how many there were */
function failCall (nth: number): { calls: number } {
  const state = { calls: 0 }
  let isPulling = false

  const replace = (target: any, name: string, wrap: (method: (...args: unknown[]) => unknown) => unknown): void => {
    const descriptor = Object.getOwnPropertyDescriptor(target, name)

    if (typeof descriptor?.value === 'function') {
      Object.defineProperty(target, name, { ...descriptor, value: wrap(descriptor.value) })
      restores.push(() => { Object.defineProperty(target, name, descriptor) })
    }
  }

  const count = (method: (...args: unknown[]) => unknown) => function (this: unknown, ...args: unknown[]): unknown {
    if (isPulling && ++state.calls === nth) {
      throw new Fault()
    }

    return method.apply(this, args)
  }

  for (const target of CALLED_BY_PULL) {
    for (const name of Object.getOwnPropertyNames(target).filter(name => name !== 'constructor')) {
      replace(target, name, count)
    }
  }

  for (const name of ['set', 'subarray']) {
    replace(Object.getPrototypeOf(Uint8Array.prototype), name, count)
  }

  replace(Session.prototype, 'pull', pull => function (this: unknown, ...args: unknown[]): unknown {
    isPulling = true

    try {
      return pull.apply(this, args)
    } finally {
      isPulling = false
    }
  })

  return state
}

function restoreCalls (): void {
  restores.splice(0).reverse().forEach(restore => { restore() })
}

afterEach(restoreCalls)

interface Plan {
  strategy: 'turn' | 'off'
  mergeMessages: 'backlog' | boolean
  /** A stream for each, with messages of these sizes, closed behind them or not */
  streams: Array<{ sizes: number[], closes: boolean }>
  pings: number
}

const plans = fc.record<Plan>({
  strategy: fc.constantFrom('turn', 'off'),
  mergeMessages: fc.constantFrom<Plan['mergeMessages']>('backlog', true, false),
  streams: fc.array(fc.record({ sizes: fc.array(fc.constantFrom(1, 300, 9000, 70_000), { minLength: 1, maxLength: 3 }), closes: fc.boolean() }), { minLength: 1, maxLength: 3 }),
  pings: fc.nat(2)
})

interface Sender {
  stream: YamuxStream
  bytes: Uint8Array[]
  endings: unknown[]
}

/** A connection with something of every kind to say: data, updates, an ACK, pongs, a ping, ends of streams */
async function speak ({ strategy, mergeMessages, streams, pings }: Plan): Promise<{ peer: RawPeer, senders: Sender[] }> {
  const peer = createRawPeer({ coalesce: { strategy, mergeMessages } })
  const senders: Sender[] = []

  for (const [i, { sizes, closes }] of streams.entries()) {
    if (peer.muxer.status !== 'open') {
      break
    }

    const stream = await peer.muxer.createStream()
    const id = Number(stream.id)
    const endings: unknown[] = []
    stream.addEventListener('message', () => {})
    stream.addEventListener('close', ({ error }) => { endings.push(error) })
    peer.deliver(windowUpdate(id, 1_000_000, ACK), data(id, pattern(200_000)))
    const bytes = sizes.map((size, j) => pattern(size, 16 * i + j))
    bytes.forEach(piece => { stream.writeStatus === 'writable' && stream.send(piece) })
    senders.push({ stream, bytes, endings })

    if (closes) {
      stream.close().catch(() => {})
    }
  }

  peer.muxer.ping().catch(() => {})
  peer.deliver(data(2, pattern(1), SYN), ...Array.from({ length: pings }, (_, i) => ping(i, SYN)))
  await nextTurn()

  return { peer, senders }
}

function payloadOf (frames: Frame[], id: string): Uint8Array {
  return concat(...frames.filter(frame => frame.type === DATA && frame.id === Number(id)).map(({ payload }) => payload))
}

test('where a pull throws, its connection ends with an error, or one stream does; no other connection writes a byte of it', async () => {
  await fc.assert(fc.asyncProperty(plans, fc.nat(400), async (plan, nth) => {
    const bystander = createRawPeer()
    const stream = await bystander.muxer.createStream()
    await nextTurn()
    bystander.takeFrames()

    const state = failCall(1 + nth)
    const { peer, senders } = await speak(plan).finally(restoreCalls)
    stream.send(pattern(5000, 77))
    await nextTurn()

    expect(bystander.takeFrames().map(({ type, id, payload }) => [type, id, [...payload]])).toEqual([[DATA, 1, [...pattern(5000, 77)]]])
    const frames = peer.takeFrames()
    const failed = senders.filter(({ endings }) => endings[0] != null)

    if (state.calls > nth && peer.transport.status === 'open') {
      // only where the bytes of one stream are taken
      expect(failed.length).toBeLessThanOrEqual(1)
    }

    if (peer.transport.status !== 'open') {
      expect(peer.muxer.status).toBe('closed')
      // one that ended within the call that opened it had no listener yet
      expect(senders.map(({ stream, endings }) => stream.status !== 'open' && endings.length <= 1)).toEqual(senders.map(() => true))
    } else {
      for (const { stream, bytes } of senders.filter(sender => !failed.includes(sender))) {
        expect(Buffer.compare(payloadOf(frames, stream.id), concat(...bytes))).toBe(0)
      }
    }
  }), { numRuns: 200 })
})
