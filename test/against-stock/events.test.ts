// What an application is told in the life of a stream: the same events in the same order, with the same errors and
// the same statuses at each, as by stock.
import { describe, expect, test, vi } from 'vitest'
import { OWN_MUXERS } from '../../testing/muxers.ts'
import { connect, openBoth } from './fixtures/connected-pair.ts'
import type { MuxerPair } from '../../testing/muxers.ts'
import type { Stream, StreamCloseEvent } from '@libp2p/interface'

const EVENTS = ['idle', 'drain', 'remoteCloseWrite', 'end', 'close'] as const
const MESSAGE = new Uint8Array(10)

/** The machine may be busy */
async function waitFor (check: () => void): Promise<void> {
  await vi.waitFor(check, { timeout: 10_000 })
}

function closed (...streams: Stream[]): boolean {
  return streams.every(({ timeline }) => timeline.close != null)
}

/** One line for each event of the stream. Who listens for messages reads: that is left to the scenario. */
function record (stream: Stream): string[] {
  const lines: string[] = []

  for (const type of EVENTS) {
    stream.addEventListener(type, evt => {
      const { error, local } = evt as StreamCloseEvent
      const outcome = type === 'close' ? ` ${evt.constructor.name} ${error?.name} local ${local}` : ''
      const { status, readStatus, writeStatus, remoteReadStatus, remoteWriteStatus } = stream
      // what was sent is taken at once by stock, by ours when the turn is over: the statuses of then are no news
      lines.push(type === 'idle' ? type : `${type}${outcome} [${[status, readStatus, writeStatus, remoteReadStatus, remoteWriteStatus].join(' ')}]`)
    })
  }

  return lines
}

function listen (stream: Stream, lines: string[], reply?: (bytes: Uint8Array) => void): void {
  stream.addEventListener('message', ({ data }) => {
    lines.push(`message ${data.byteLength}`)
    reply?.(data.subarray())
  })
}

interface Scene {
  opened: Stream
  accepted: Stream
  lines: { opened: string[], accepted: string[] }
}

const scenarios: Record<string, (scene: Scene) => Promise<void> | void> = {
  async 'is echoed, and closed by the opener first' ({ opened, accepted, lines }) {
    listen(opened, lines.opened)
    listen(accepted, lines.accepted, bytes => { accepted.send(bytes) })
    opened.send(MESSAGE)
    await waitFor(() => { expect(lines.opened).toContain('message 10') })
    await opened.close()
    await waitFor(() => { expect(accepted.remoteWriteStatus).toBe('closed') })
    await accepted.close()
  },
  async 'is closed by the acceptor first' ({ opened, accepted }) {
    await accepted.close()
    await waitFor(() => { expect(opened.remoteWriteStatus).toBe('closed') })
    await opened.close()
  },
  'is aborted by the opener' ({ opened }) {
    opened.abort(new Error('Enough'))
  },
  'is aborted by the acceptor' ({ accepted }) {
    accepted.abort(new Error('Enough'))
  },
  async 'is aborted by the opener before the acceptor has read' ({ opened, accepted }) {
    opened.send(MESSAGE)
    await waitFor(() => { expect(accepted.readBufferLength).toBe(10) })
    opened.abort(new Error('Enough'))
  },
  async 'is not read any more by the opener' ({ opened, accepted }) {
    await opened.closeRead()
    accepted.send(MESSAGE)
    await opened.close()
    await waitFor(() => { expect(accepted.remoteWriteStatus).toBe('closed') })
    await accepted.close()
  },
  async 'is read when both have closed it' ({ opened, accepted, lines }) {
    opened.send(MESSAGE)
    await opened.close()
    await waitFor(() => { expect(accepted.remoteWriteStatus).toBe('closed') })
    await accepted.close()
    await waitFor(() => { expect(closed(opened, accepted)).toBe(true) })
    listen(accepted, lines.accepted)
    await waitFor(() => { expect(accepted.readableEnded).toBe(true) })
  }
}

/** Stock is idle within send(), ours when the turn is over: on a busy machine other events may come in between */
function idleFirst (lines: string[]): string[] {
  return [...lines.filter(line => line === 'idle'), ...lines.filter(line => line !== 'idle')]
}

async function eventsOf (muxers: MuxerPair, scenario: (scene: Scene) => Promise<void> | void): Promise<unknown> {
  const pair = await connect(muxers)

  try {
    const [opened, accepted] = await openBoth(pair)
    const lines = { opened: record(opened), accepted: record(accepted) }
    await scenario({ opened, accepted, lines })
    await waitFor(() => { expect(closed(opened, accepted)).toBe(true) })

    return { opened: idleFirst(lines.opened), accepted: idleFirst(lines.accepted) }
  } finally {
    pair.disconnect()
  }
}

describe.each(OWN_MUXERS)('with %s', muxer => {
  test.each(Object.keys(scenarios))('a stream that %s', async name => {
    const events = await eventsOf({ dialler: muxer, listener: muxer }, scenarios[name])

    expect(events).toMatchObject({ opened: expect.arrayContaining([expect.stringMatching(/^close /)]), accepted: expect.arrayContaining([expect.stringMatching(/^close /)]) })
    expect(events).toEqual(await eventsOf({ dialler: 'stock', listener: 'stock' }, scenarios[name]))
  })
})
