// Ends whose reason is no error, while libp2p's own logger writes errors: it looks at all of them, and may throw. Node alone has its standard error.
import { disable, enable } from '@libp2p/logger'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { data, GO_AWAY, pattern, RST, WINDOW_UPDATE } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { endings } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { expectOneError, expectUndisturbed, neighbours } from './fixtures/neighbours.ts'
import { FAILURES, NO_ERRORS } from './fixtures/no-errors.ts'

forbidIncidents()

let written: string[]
/** Runs within the next line that is written */
let onWritten: (() => void) | undefined

beforeEach(() => {
  written = []
  vi.spyOn(process.stderr, 'write').mockImplementation(text => {
    written.push(String(text))
    const act = onWritten
    onWritten = undefined
    act?.()

    return true
  })
  enable('libp2p:*:error')
})

afterEach(() => {
  disable()
  vi.restoreAllMocks()
})

test('an error that is one is written', async () => {
  const { stream } = await neighbours()
  stream.abort(new Error('Enough of this'))

  expect(written.join('')).toContain('Enough of this')
})

describe.each(NO_ERRORS)('%s', (_, make) => {
  test('aborts a stream as an error does', async () => {
    const both = await neighbours()
    const { peer, stream, events } = both
    const closing = stream.onDrain().then(() => 'settled', () => 'settled')
    stream.abort(make() as Error)

    expect(stream.status).toBe('aborted')
    expectOneError(events)
    expect(await closing).toBe('settled')
    expect(peer.muxer.streams.length).toBe(1)
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, 1, 0]])
    await expectUndisturbed(both)
  })

  test('aborts the muxer as an error does', async () => {
    const { peer, events, bystander } = await neighbours()
    const bystanderEvents = endings(bystander)
    peer.muxer.abort(make() as Error)

    expect(peer.muxer.status).toBe('closed')
    expectOneError(events)
    expectOneError(bystanderEvents)
    expect(peer.muxer.streams.length).toBe(0)
    expect((await peer.written()).at(-1)).toEqual([GO_AWAY, 0, 0, 2])
  })
})

describe.each(FAILURES)('a listener that %s', (_, fail) => {
  test.each(NO_ERRORS)('%s ends its stream and nothing else', async (_, make) => {
    const both = await neighbours()
    const { peer, stream, events } = both
    stream.addEventListener('message', () => fail(make()) as undefined)
    peer.deliver(data(1, pattern(10)))
    await nextTurn()

    expectOneError(events)
    expect(stream.status).toBe('aborted')
    expect(await peer.written()).toContainEqual([WINDOW_UPDATE, RST, 1, 0])
    await expectUndisturbed(both)
  })
})

describe('a log that aborts what is being aborted', () => {
  test('a stream: it ends once', async () => {
    const { stream, events } = await neighbours()
    onWritten = () => { stream.abort(new Error('Within')) }
    stream.abort(new Error('Without'))

    expect(events.map(({ error }) => error?.message)).toEqual(['Without'])
  })

  test('a muxer: it ends once, and so does each stream', async () => {
    const { peer, events } = await neighbours()
    onWritten = () => { peer.muxer.abort(new Error('Within')) }
    peer.muxer.abort(new Error('Without'))

    expect(events.map(({ error }) => error?.message)).toEqual(['Without'])
    expect((await peer.written()).filter(([type]) => type === GO_AWAY)).toEqual([[GO_AWAY, 0, 0, 2]])
  })
})
