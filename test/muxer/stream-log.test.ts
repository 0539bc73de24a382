// What a stream's logger writes, and that streams do not have one of libp2p's each.
import { defaultLogger, disable, enable } from '@libp2p/logger'
import { afterEach, describe, expect, test } from 'vitest'
import { StreamLog } from '../../src/observe/log.ts'
import { createRawPeer } from '../../testing/protocol/raw-peer.ts'
import { createSink } from './fixtures/recording-log.ts'

describe('the logger of a stream', () => {
  test('says in each line which stream it is of, at all levels and in all scopes', () => {
    const { sink, log } = createSink()
    const streamLog = new StreamLog(() => log)
    const first = streamLog.of('outbound 1')
    const second = streamLog.of('inbound 2')

    first('sent %d bytes to %s', 5, 'somebody')
    second.trace('selecting')
    second.newScope('mss').newScope('handle').error('no %s', 'protocol')
    first.newScope('mss')('selected')

    expect(sink.lines).toEqual([
      ['yamux', 'outbound 1: sent %d bytes to %s', 5, 'somebody'],
      ['yamux:trace', 'inbound 2: selecting'],
      ['yamux:mss:handle:error', 'inbound 2: no %s', 'protocol'],
      ['yamux:mss', 'outbound 1: selected']
    ])
  })

  test('can be handed on without its logger, as for promise.catch()', () => {
    const { sink, log } = createSink()
    const { error, trace } = new StreamLog(() => log).of('outbound 1')

    error('failed')
    trace('seen')

    expect(sink.lines).toEqual([['yamux:error', 'outbound 1: failed'], ['yamux:trace', 'outbound 1: seen']])
  })

  test('takes what is no text', () => {
    const { sink, log } = createSink()
    const streamLog = new StreamLog(() => log).of('outbound 1')

    const err = new TypeError('wrong')
    streamLog({ a: 1 })
    streamLog.error(err, 'and more')

    expect(sink.lines).toEqual([['yamux', 'outbound 1: %O', { a: 1 }], ['yamux:error', 'outbound 1: %O', err, 'and more']])
  })

  test('hands nothing down while logging is off, and does once it is on', () => {
    const { sink, log } = createSink(false)
    const streamLog = new StreamLog(() => log).of('outbound 1')
    const write = (): void => {
      streamLog('one')
      streamLog.error('two')
      streamLog.trace('three')
    }

    write()
    expect(streamLog.enabled).toBe(false)
    expect(sink.lines).toEqual([])

    sink.isEnabled = true
    write()
    expect(streamLog.enabled).toBe(true)
    expect(sink.lines).toHaveLength(3)
  })

  test('writes with a logger that does not say whether it is on', () => {
    const { sink, log } = createSink()
    sink.isEnabled = undefined

    new StreamLog(() => log).of('outbound 1').error('failed')

    expect(sink.lines).toEqual([['yamux:error', 'outbound 1: failed']])
  })
})

describe('on top of libp2p\'s own logger', () => {
  const lines: string[] = []
  const createLog = (): StreamLog => {
    lines.length = 0
    const logger = defaultLogger({ onLog: (text: string) => { lines.push(text) } }).forComponent('libp2p:yamux')

    return new StreamLog(() => logger.newScope('stream'))
  }

  afterEach(disable)

  test('who turns logging on sees the lines of streams that are open, and trace of connections that come', () => {
    disable()
    const before = createLog()
    const open = before.of('outbound 1')
    open('unseen')
    enable('libp2p:*,libp2p:*:trace')
    open('seen')
    before.of('outbound 3').newScope('mss').error('also seen')
    before.of('outbound 5').trace('decided when the connection began')

    expect(lines.map(line => line.replace(/^.*libp2p:/, ''))).toEqual([
      expect.stringContaining('outbound 1: seen'), expect.stringContaining('outbound 3: also seen')
    ])

    createLog().of('outbound 1').trace('now')
    expect(lines).toEqual([expect.stringContaining('outbound 1: now')])
  })

  test('each of the three says whether it is on, and can be told', () => {
    enable('libp2p:yamux:stream')
    const log = createLog().of('outbound 1')
    const enabledOf = (write: unknown): unknown => (write as { enabled?: boolean }).enabled

    expect([log.enabled, enabledOf(log.error), enabledOf(log.trace)]).toEqual([true, false, false])

    log.enabled = false
    log('unseen')
    expect(log.enabled).toBe(false)
    expect(lines).toEqual([])
  })
})

describe('the logger below', () => {
  test('is the same for all streams of a connection, one for each scope', async () => {
    const { sink, log } = createSink()
    const { muxer } = createRawPeer({ log })

    for (let i = 0; i < 100; i++) {
      const stream = await muxer.createStream()
      stream.log.newScope('mss:select')('selected')
    }

    expect(sink.scopes).toEqual(['yamux:yamux', 'yamux:yamux:stream', 'yamux:yamux:stream:mss:select'])
    const lines = sink.lines.filter(([where]) => where !== 'yamux:yamux:trace')
    expect(lines).toHaveLength(100)
    expect(lines[99]).toEqual(['yamux:yamux:stream:mss:select', 'outbound 199: selected'])
  })

  test('is made anew for scopes whose names never end', () => {
    const { sink, log } = createSink()
    const streamLog = new StreamLog(() => log).of('outbound 1')
    const write = (): void => {
      for (let i = 0; i < 1000; i++) {
        streamLog.newScope(`request ${i}`).newScope('part')('sent')
      }
    }

    write()
    expect(sink.scopes).toHaveLength(2000)
    write()

    // a few are kept, the others hold no memory
    expect(sink.scopes.length).toBeGreaterThanOrEqual(3900)
    expect(sink.lines).toHaveLength(2000)
    expect(sink.lines[1999]).toEqual(['yamux:request 999:part', 'outbound 1: sent'])
  })
})

test('a stream can be printed as JSON, as loggers do', async () => {
  const { muxer } = createRawPeer()
  const stream = await muxer.createStream()

  expect(JSON.parse(JSON.stringify({ streams: muxer.streams }))).toEqual({
    streams: [{ id: '1', direction: 'outbound', protocol: '', status: 'open', readStatus: 'readable', writeStatus: 'writable', readBufferLength: 0, writeBufferLength: 0, timeline: stream.timeline }]
  })
})
