// The list of a muxer's open streams, which programs keep: stock has one that changes as streams come and go, and so has ours.
import { describe, expect, test } from 'vitest'
import { ALL_PAIRS, OWN_MUXERS } from '../../testing/muxers.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { connect, handle, openBoth } from './fixtures/connected-pair.ts'
import type { ConnectedPair } from './fixtures/connected-pair.ts'
import type { Stream } from '@libp2p/interface'

const REASON = new Error('Enough')

async function openMany (pair: ConnectedPair, count: number): Promise<Stream[]> {
  handle(pair.listener, () => {})

  return Promise.all(Array.from({ length: count }, async () => pair.dialler.createStream()))
}

describe.each(ALL_PAIRS)('the list of streams that is kept, with $dialler that dials $listener,', names => {
  test('has each stream from when it opens until it ends, on both sides', async () => {
    const pair = await connect(names)
    const [ofDialler, ofListener] = [pair.dialler.streams, pair.listener.streams]
    const [opened, accepted] = await openBoth(pair)
    expect([ofDialler, ofListener]).toEqual([[opened], [accepted]])

    await opened.close()
    await accepted.close()

    while (ofDialler.length + ofListener.length > 0) {
      await nextTurn()
    }

    expect([pair.dialler.streams, pair.listener.streams]).toEqual([[], []])
    pair.disconnect()
  })

  test('is the same always, in the order in which they were opened', async () => {
    const pair = await connect(names)
    const { streams } = pair.dialler
    const opened = await openMany(pair, 30)
    opened[7].abort(REASON)
    await nextTurn()
    expect(streams.map(({ id }) => id)).toEqual(opened.filter((_, i) => i !== 7).map(({ id }) => id))

    opened.slice(10, 25).forEach(stream => { stream.abort(REASON) })
    await nextTurn()
    expect(streams.map(({ id }) => id)).toEqual(opened.filter((_, i) => i !== 7 && (i < 10 || i >= 25)).map(({ id }) => id))
    expect(pair.dialler.streams).toBe(streams)

    pair.disconnect()
    await nextTurn()
    expect(streams).toEqual([])
  })

  test('has one less right behind an abort when the muxer is asked', async () => {
    const pair = await connect(names)
    const [first] = await openMany(pair, 3)
    let atClose = 0
    first.addEventListener('close', () => { atClose = pair.dialler.streams.length })
    first.abort(REASON)

    expect([atClose, pair.dialler.streams.length]).toEqual([2, 2])
    pair.disconnect()
  })

  test.each([
    ['the first', (streams: Stream[]) => streams[0]],
    ['the last', (streams: Stream[]) => streams[streams.length - 1]],
    ['what it takes out, the first,', (streams: Stream[]) => streams.shift()],
    ['what it takes out, the last,', (streams: Stream[]) => streams.pop()]
  ])('is empty at the end of a loop that aborts %s until it is', async (_, pick) => {
    const pair = await connect(names)
    const { streams } = pair.dialler
    await openMany(pair, 20)

    while (streams.length > 0) {
      pick(streams)?.abort(REASON)
    }

    expect(pair.dialler.streams).toEqual([])
    pair.disconnect()
  })
})

// stock's loop leaves out every other one
test.each(OWN_MUXERS.flatMap(muxer => ['for of', 'forEach'].map(way => [way, muxer] as const)))('%s over the list that aborts each stream comes to all of them, with %s', async (way, muxer) => {
  const pair = await connect({ dialler: muxer, listener: muxer })
  const opened = await openMany(pair, 20)

  if (way === 'forEach') {
    pair.dialler.streams.forEach(stream => { stream.abort(REASON) })
  } else {
    for (const stream of pair.dialler.streams) {
      stream.abort(REASON)
    }
  }

  expect(opened.map(({ status }) => status)).toEqual(Array(20).fill('aborted'))
  pair.disconnect()
})
