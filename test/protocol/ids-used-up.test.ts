// The rule for the end of the ids. Only in Node: browsers do not load a module twice.
import { StreamMessageEvent } from '@libp2p/interface'
import { describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { fullControl } from '../../src/path-control.ts'
import { createConfig } from '../../src/options/config.ts'
import { ACK, concat, parseFrames, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn, RawTransport } from '../../testing/protocol/raw-peer.ts'
import { headers } from '../../testing/protocol/conversation.ts'
import type { MAX_UINT32 } from '../../src/core/wire/frame.ts'
import type { Muxer } from '../../src/muxer/muxer.ts'
import type { MessageStream, MessageStreamDirection } from '@libp2p/interface'

const BACKLOG = 256

describe('when the ids are used up', () => {
  // 2^31 opens take too long for a test: the ids of these muxers end earlier
  const withIdsUpTo = async (lastId: number, direction: MessageStreamDirection): Promise<{ transport: RawTransport, muxer: Muxer }> => {
    vi.resetModules()
    vi.doMock(import('../../src/core/wire/frame.ts'), async importOriginal => ({ ...await importOriginal(), MAX_UINT32: lastId as typeof MAX_UINT32 }))
    const shell: { Muxer: typeof Muxer } = await import('../../src/muxer/muxer.ts')
    vi.doUnmock('../../src/core/wire/frame.ts')
    const transport = new RawTransport(direction)

    return { transport, muxer: new shell.Muxer(transport as unknown as MessageStream, createConfig({ enableKeepAlive: false }), systemClock, { createPathControl: fullControl() }) }
  }

  const exhausted = expect.objectContaining({ code: 'ERR_STREAM_IDS_EXHAUSTED' })

  test.each([
    { direction: 'outbound' as const, ids: ['1', '3', '5', '7', '9'] },
    { direction: 'inbound' as const, ids: ['2', '4', '6', '8'] }
  ])('D: ids run out: an error, never a wrap: $direction', async ({ direction, ids }) => {
    const { muxer } = await withIdsUpTo(9, direction)

    for (const id of ids) {
      expect((await muxer.createStream()).id).toBe(id)
    }

    muxer.streams[0].abort(new Error('Enough'))
    await nextTurn()
    await expect(muxer.createStream()).rejects.toThrow(exhausted)
    await expect(muxer.createStream()).rejects.toThrow(exhausted)
    expect(muxer.streams.map(({ id }) => id)).toEqual(ids.slice(1))
    expect(muxer.status).toBe('open')
  })

  test('D: ids run out: an error, never a wrap, for those who waited for an ACK too', async () => {
    const lastId = 2 * BACKLOG + 1
    const { muxer, transport } = await withIdsUpTo(lastId, 'outbound')
    const opens = Promise.allSettled(Array.from({ length: BACKLOG + 3 }, async () => muxer.createStream()))
    await nextTurn()
    transport.dispatchEvent(new StreamMessageEvent(concat(...[1, 3, 5].map(id => windowUpdate(id, 0, ACK)))))
    const [admitted, ...refused] = (await opens).slice(BACKLOG)
    await nextTurn()

    expect(admitted).toMatchObject({ value: { id: String(lastId) } })
    expect(refused).toEqual([{ status: 'rejected', reason: exhausted }, { status: 'rejected', reason: exhausted }])
    expect(headers(parseFrames(concat(...transport.writes.map(write => write.subarray())))).map(([, , id]) => id).filter(id => id !== 0)).toEqual(Array.from({ length: BACKLOG + 1 }, (_, i) => 1 + 2 * i))
  })
})
