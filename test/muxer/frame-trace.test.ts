// Frames as lines of a log, and that they are made only for somebody who reads them.
import { format, stripVTControlCharacters } from 'node:util'
import { disable, enable } from '@libp2p/logger'
import { Uint8ArrayList } from 'uint8arraylist'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FrameTap } from '../../src/observe/frame-tap.ts'
import { createFrameTrace, createFrameTraces } from '../../src/observe/frame-trace.ts'
import { ACK, data, FIN, frame, GO_AWAY, goAway, pattern, PING, ping, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import { createServingNode } from '../../testing/libp2p/serving-node.ts'
import { echo } from '../../testing/libp2p/echo.ts'
import type { Logger } from '@libp2p/interface'

/** A logger of which only `trace` is used, and what it was given */
function createTraceLog (enabled?: boolean): { log: Logger, lines: string[] } {
  const lines: string[] = []
  const trace = Object.assign((...args: unknown[]) => { lines.push(format(...args)) }, { enabled })

  return { log: { trace } as unknown as Logger, lines }
}

function linesOf (...chunks: Array<Uint8Array | Uint8ArrayList>): string[] {
  const { log, lines } = createTraceLog()
  const trace = createFrameTrace(log, '<-')
  chunks.forEach(chunk => { trace.push(chunk) })

  return lines
}

describe('the line of a frame', () => {
  test.each<[string, Uint8Array]>([
    ['DATA 5 100 bytes', data(5, pattern(100))],
    ['DATA 5 SYN 0 bytes', data(5, pattern(0), SYN)],
    ['DATA 4294967295 ACK FIN 1 bytes', data(4294967295, pattern(1), ACK | FIN)],
    ['WINDOW_UPDATE 5 SYN +0', windowUpdate(5, 0, SYN)],
    ['WINDOW_UPDATE 5 +4294967295', windowUpdate(5, 4294967295)],
    ['WINDOW_UPDATE 5 FIN +0', windowUpdate(5, 0, FIN)],
    ['WINDOW_UPDATE 5 RST code 0', windowUpdate(5, 0, RST)],
    ['WINDOW_UPDATE 5 RST code 4097', windowUpdate(5, 4097, RST)],
    ['PING SYN 17', ping(17, SYN)],
    ['PING ACK 17', ping(17, ACK)],
    ['PING SYN mark 3', ping(2 ** 31 + 3, SYN)],
    ['GO_AWAY code 0', goAway(0)],
    ['GO_AWAY code 2', goAway(2)],
    ['TYPE_9 5 SYN ACK FIN RST 3', frame(9, SYN | ACK | FIN | RST, 5, 3)]
  ])('is %s', (line, bytes) => {
    expect(linesOf(bytes)).toEqual([`<- ${line}`])
  })
})

describe('a trace', () => {
  test('stops at bytes that are not yamux, for good and without a word', () => {
    expect(linesOf(ping(1, SYN), new TextEncoder().encode('GET / HTTP/1.1\r\n'), ping(2, SYN))).toEqual(['<- PING SYN 1'])
    expect(linesOf(new Uint8ArrayList(ping(1, SYN), pattern(12, 1), ping(2, SYN)), ping(3, SYN))).toEqual(['<- PING SYN 1'])
  })

  test('tells the directions apart; each has its own frames in flight', () => {
    const { log, lines } = createTraceLog(true)
    const [traces] = createFrameTraces(log) ?? []
    const bytes = data(3, pattern(5))
    traces.sent.push(bytes.subarray(0, 14))
    traces.received.push(ping(1, SYN))
    traces.sent.push(bytes.subarray(14))
    traces.sent.push(ping(1, ACK))

    expect(lines).toEqual(['-> DATA 3 5 bytes', '<- PING SYN 1', '-> PING ACK 1'])
  })

  test.each([false, undefined])('is not made for a logger whose trace is enabled: %s', enabled => {
    expect(createFrameTraces(createTraceLog(enabled).log)).toBeUndefined()
  })
})

describe('with @libp2p/logger', () => {
  let written: string[]

  beforeEach(() => {
    written = []
    vi.spyOn(process.stderr, 'write').mockImplementation(text => {
      written.push(stripVTControlCharacters(String(text)))

      return true
    })
  })

  afterEach(() => {
    disable()
    vi.restoreAllMocks()
  })

  /** Of the muxers alone: name of the log and frame */
  function traced (): string[] {
    return written.flatMap(text => /(\S+:yamux):trace +((?:->|<-) .*?)(?: \+\d+m?s)?$/m.exec(text)?.slice(1).join(' ') ?? [])
  }

  test.each([['off', ''], ['on for all but traces', 'libp2p:*,*:error']])('a muxer makes no traces while logging is %s', async (_, pattern) => {
    const push = vi.spyOn(FrameTap.prototype, 'push')
    enable(pattern)
    const { muxer, deliver, takeFrames } = createRawPeer()
    await muxer.createStream()
    await nextTurn()
    deliver(windowUpdate(1, 0, ACK))

    expect(takeFrames()).toHaveLength(1)
    expect(push).not.toHaveBeenCalled()
    expect(traced()).toEqual([])
  })

  test('a muxer writes each frame that it sends and receives', async () => {
    enable('libp2p:*:yamux:trace')
    const { muxer, deliver } = createRawPeer()
    const stream = await muxer.createStream()
    stream.send(new Uint8Array(10))
    await nextTurn()
    deliver(windowUpdate(1, 4096, ACK))
    stream.abort(Object.assign(new Error('over'), { errorCode: 7 }))
    await nextTurn()
    deliver(goAway(0))

    expect(traced()).toEqual([
      'libp2p:test:yamux -> WINDOW_UPDATE 1 SYN +0',
      'libp2p:test:yamux -> DATA 1 10 bytes',
      'libp2p:test:yamux <- WINDOW_UPDATE 1 ACK +4096',
      'libp2p:test:yamux -> WINDOW_UPDATE 1 RST code 7',
      'libp2p:test:yamux <- GO_AWAY code 0'
    ])
  })

  test('bytes that are not yamux end the connection, traced or not', async () => {
    enable('libp2p:*:yamux:trace')
    const { muxer, deliver, takeFrames } = createRawPeer()
    deliver(ping(1, SYN), new TextEncoder().encode('GET / HTTP/1.1\r\n'))
    await nextTurn()

    expect(muxer.status).toBe('closed')
    expect(takeFrames()).toMatchObject([{ type: PING, flags: ACK }, { type: GO_AWAY }])
    expect(traced()).toEqual([
      'libp2p:test:yamux <- PING SYN 1',
      'libp2p:test:yamux -> PING ACK 1',
      'libp2p:test:yamux -> GO_AWAY code 1'
    ])
  })

  test('libp2p:*:yamux*:trace shows the frames of real connections', async () => {
    enable('libp2p:*:yamux*:trace')
    const nodes = await Promise.all([createServingNode('ours'), createServingNode('ours')])
    await nodes[0].libp2p.dial(nodes[1].libp2p.getMultiaddrs())
    await echo(nodes[0], { streamCount: 1, byteLength: 1000 })
    await Promise.all(nodes.map(async ({ libp2p }) => { await libp2p.stop() }))

    for (const direction of ['outbound', 'inbound']) {
      const prefix = new RegExp(`^libp2p:tcp:connection:${direction}:\\w+:yamux (.*)$`)
      const lines = traced().flatMap(line => prefix.exec(line)?.slice(1) ?? [])
      expect(lines).toContain('-> PING SYN 0')
      expect(lines).toContain('<- PING ACK 0')
      expect(lines.filter(line => line.includes('DATA 1 '))).not.toEqual([])
    }
  })
})
