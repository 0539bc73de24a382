// What a capture writes of the frames of a node: all of them, from wherever it begins, and nothing else changes.
import { StreamMessageEvent } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, test, vi } from 'vitest'
import { captureFrames } from '../../src/capture.ts'
import { yamux } from '../../src/index.ts'
import * as light from '../../src/light.ts'
import { ACK, concat, data, DATA, FIN, frame, goAway, parseFrames, pattern, ping, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { frameOf, readCapture } from '../../testing/protocol/pcapng.ts'
import { createRawPeer, nextTurn, RawTransport } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import type { CaptureFile } from '../../testing/protocol/pcapng.ts'
import type { Capture, CaptureInit } from '../../src/capture.ts'
import type { Libp2p, MessageStream, StreamMuxer } from '@libp2p/interface'

type Node = Parameters<typeof captureFrames>[0] & { open (muxer?: StreamMuxer, onListed?: () => void): void }

/** As much of a node as a capture sees. Connection 0 is with peer-0, and so on. */
function createNode (...muxers: StreamMuxer[]): Node {
  const events = new EventTarget() as unknown as Libp2p
  const connections: any[] = []
  const open = (muxer?: StreamMuxer): void => {
    const id = connections.length
    connections.push({ muxer, remotePeer: `peer-${id}`, remoteAddr: `/memory/${id}`, direction: 'outbound' })
  }
  muxers.forEach(open)

  return {
    getConnections: () => [...connections],
    addEventListener: events.addEventListener.bind(events),
    removeEventListener: events.removeEventListener.bind(events),
    open: (muxer, onListed) => {
      open(muxer)
      onListed?.()
      events.dispatchEvent(new CustomEvent('connection:open', { detail: connections.at(-1) }))
    }
  }
}

function observersOf (muxer: StreamMuxer): unknown[] {
  return (muxer as any)[Symbol.for('libp2p-coalescing-yamux.driver')].observers
}

interface Recording extends Capture {
  file (): CaptureFile
}

function record (node: Node, init: Partial<CaptureInit> = {}): Recording {
  const parts: Uint8Array[] = []
  const capture = captureFrames(node, { write: bytes => { parts.push(bytes) }, ...init })

  return { stop: () => { capture.stop() }, file: () => readCapture(concat(...parts)) }
}

/** `0 out PING 5` and so on, for frames of a test's own */
function linesOf ({ packets }: CaptureFile): string[] {
  return packets.map(packet => {
    const { type, flags, id, length } = frameOf(packet)

    return `${packet.interfaceId} ${packet.direction} ${['DATA', 'UPDATE', 'PING', 'GO_AWAY'][type]} ${id} flags ${flags} length ${length}`
  })
}

describe('a capture', () => {
  test('has each frame of both directions, in order, with its connection and time', async () => {
    const clock = new VirtualClock()
    const { muxer, deliver } = createRawPeer({ clock })
    const recording = record(createNode(muxer))
    const stream = await muxer.createStream()
    stream.send(new Uint8Array(10))
    await nextTurn()
    clock.advance(2.5)
    deliver(windowUpdate(1, 4096, ACK), data(1, new Uint8Array(7)))
    deliver(goAway(0))
    const file = recording.file()

    expect(file.program).toBe('libp2p-coalescing-yamux')
    expect(file.interfaces).toEqual([{ linkType: 147, name: 'peer-0', description: 'outbound /memory/0' }])
    expect(linesOf(file)).toEqual([
      '0 out UPDATE 1 flags 1 length 0',
      '0 out DATA 1 flags 0 length 10',
      '0 in UPDATE 1 flags 2 length 4096',
      '0 in DATA 1 flags 0 length 7',
      '0 in GO_AWAY 0 flags 0 length 0'
    ])

    const [sentMs, , receivedMs] = file.packets.map(({ unixMs }) => unixMs)
    expect(receivedMs - sentMs).toBeCloseTo(2.5, 2)
    expect(sentMs).toBeGreaterThanOrEqual(performance.timeOrigin - 1)
  })

  test('writes the frames of a chunk or a write in one call', async () => {
    const { muxer, deliver } = createRawPeer()
    const write = vi.fn()
    captureFrames(createNode(muxer), { write })
    write.mockClear()
    await Promise.all([muxer.createStream(), muxer.createStream()])
    await nextTurn()
    const writes = write.mock.calls.length
    deliver(windowUpdate(1, 0, ACK), windowUpdate(3, 0, ACK), ping(1, ACK))

    expect(write).toHaveBeenCalledTimes(writes + 1)
  })

  test('is the same however the frames are cut into chunks', () => {
    const bytes = concat(windowUpdate(2, 0, SYN), data(2, pattern(7)), data(2, pattern(0), FIN), ping(9, SYN))
    const linesOfChunks = (...chunks: Array<Uint8Array | Uint8ArrayList>): string[] => {
      const { muxer, transport } = createRawPeer()
      const recording = record(createNode(muxer), { payloadBytes: 5 })
      chunks.forEach(chunk => { transport.dispatchEvent(Object.assign(new Event('message'), { data: chunk }) as any) })

      return linesOf(recording.file()).filter(line => line.startsWith('0 in'))
    }
    const lines = linesOfChunks(bytes)
    expect(lines).toHaveLength(4)

    for (let cut = 1; cut < bytes.byteLength; cut++) {
      expect(linesOfChunks(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(lines)
      expect(linesOfChunks(new Uint8ArrayList(bytes.subarray(0, cut), bytes.subarray(cut)))).toEqual(lines)
    }

    expect(linesOfChunks(...Array.from(bytes, byte => Uint8Array.of(byte)))).toEqual(lines)
  })

  test('may begin anywhere in a connection: it has the frames whose header is not complete yet', () => {
    const frames = [windowUpdate(2, 0, SYN), data(2, pattern(7)), ping(9, SYN), data(2, pattern(3), FIN)]
    const bytes = concat(...frames)

    for (let cut = 0; cut <= bytes.byteLength; cut++) {
      const { muxer, deliver } = createRawPeer()
      deliver(bytes.subarray(0, cut))
      const recording = record(createNode(muxer), { payloadBytes: 100 })
      deliver(bytes.subarray(cut))
      let offset = 0
      const awaited = frames.filter(frame => {
        offset += frame.byteLength

        return offset - frame.byteLength + 12 > cut
      })

      expect(recording.file().packets.filter(({ direction }) => direction === 'in').map(({ bytes }) => bytes)).toEqual(awaited)
    }
  })

  test.each([0, 1, 99, 100, 101])('has up to %s bytes of each payload of 100', async payloadBytes => {
    const { muxer, transport, deliver } = createRawPeer()
    const recording = record(createNode(muxer), { payloadBytes })
    const stream = await muxer.createStream()
    stream.send(pattern(100))
    await nextTurn()
    const received = data(1, pattern(100), ACK)
    deliver(received.subarray(0, 50))
    deliver(received.subarray(50))
    const packets = recording.file().packets.filter(({ originalBytes }) => originalBytes > 12)

    expect(packets.map(({ direction, originalBytes }) => [direction, originalBytes])).toEqual([['out', 112], ['in', 112]])
    expect(packets.map(({ bytes }) => bytes)).toEqual([concat(...transport.writes.map(write => write.subarray())).subarray(12, 24 + payloadBytes), received.subarray(0, 12 + payloadBytes)])
  })

  test('has a connection that opens later from its first frame on, and none with another muxer', async () => {
    const first = createRawPeer()
    const node = createNode({} as StreamMuxer, first.muxer)
    const recording = record(node)
    const second = createRawPeer({ direction: 'inbound' })
    node.open({} as StreamMuxer)
    node.open()
    node.open(second.muxer)
    await second.muxer.createStream()
    await nextTurn()
    first.deliver(ping(5, SYN))
    const file = recording.file()

    expect(file.interfaces.map(({ name }) => name)).toEqual(['peer-1', 'peer-4'])
    expect(linesOf(file).slice(0, 2)).toEqual(['1 out UPDATE 2 flags 1 length 0', '0 in PING 0 flags 1 length 5'])
  })

  test('that begins while a connection is announced has it once', () => {
    const node = createNode()
    const { muxer, deliver } = createRawPeer()
    let recording: Recording | undefined
    node.open(muxer, () => { recording = record(node) })
    deliver(goAway(0))

    expect(recording?.file().interfaces).toHaveLength(1)
    expect(linesOf(recording!.file())).toEqual(['0 in GO_AWAY 0 flags 0 length 0'])
  })

  test('has no packet that is too long for Wireshark, and says how long the frame was', async () => {
    const { muxer, deliver } = createRawPeer({ streamOptions: { initialStreamWindowSize: 400_000 } })
    const recording = record(createNode(muxer), { payloadBytes: Infinity })
    await muxer.createStream()
    await nextTurn()
    deliver(data(1, new Uint8Array(300_000), ACK))

    expect(recording.file().packets.filter(({ direction }) => direction === 'in').map(({ bytes, originalBytes }) => [bytes.byteLength, originalBytes])).toEqual([[262_144, 300_012]])
  })

  test('has the largest length for a frame that claims to be longer than a file can say', async () => {
    const { muxer, deliver } = createRawPeer()
    const recording = record(createNode(muxer))
    await muxer.createStream()
    deliver(frame(DATA, ACK, 1, 2 ** 32 - 1))

    expect(recording.file().packets.filter(({ direction }) => direction === 'in').map(({ originalBytes }) => originalBytes)).toEqual([2 ** 32 - 1])
  })

  test('takes the light muxer too', async () => {
    const transport = new RawTransport('outbound')
    const muxer = light.yamux()().createStreamMuxer(transport as unknown as MessageStream)
    const recording = record(createNode(muxer))
    await muxer.createStream()
    await nextTurn()

    expect(linesOf(recording.file())).toContain('0 out UPDATE 1 flags 1 length 0')
    muxer.abort(new Error('The test is over'))
  })

  test('ends at bytes that are not yamux, in that direction', () => {
    const { muxer, deliver } = createRawPeer()
    const recording = record(createNode(muxer))
    deliver(ping(1, SYN), new TextEncoder().encode('GET / HTTP/1.1\r\n'))

    expect(linesOf(recording.file())).toEqual(['0 in PING 0 flags 1 length 1', '0 out PING 0 flags 2 length 1', '0 out GO_AWAY 0 flags 0 length 1'])
  })

  test('changes nothing that is written', async () => {
    const run = async (isCaptured: boolean): Promise<Uint8Array[]> => {
      const { muxer, transport, deliver } = createRawPeer()
      const recording = record(createNode(...isCaptured ? [muxer] : []), { payloadBytes: 10 })
      const stream = await muxer.createStream()
      stream.send(pattern(100_000))
      await nextTurn()
      deliver(windowUpdate(1, 1_000_000, ACK), ping(5, SYN), data(1, pattern(1000)))
      stream.send(pattern(10))
      await stream.close()
      await nextTurn()
      const writes = transport.writes.map(write => write.subarray())
      expect(recording.file().packets.filter(({ direction }) => direction === 'out')).toHaveLength(isCaptured ? parseFrames(concat(...writes)).length : 0)

      return writes
    }

    expect(await run(true)).toEqual(await run(false))
  })
})

describe('the end of a capture', () => {
  test('is at once, for all connections, and leaves another capture as it is', async () => {
    const { muxer, deliver } = createRawPeer()
    const later = createRawPeer()
    const node = createNode(muxer)
    const [stopped, other] = [record(node), record(node)]
    deliver(ping(1, SYN))
    await nextTurn()
    stopped.stop()
    stopped.stop()
    node.open(later.muxer)
    deliver(ping(2, SYN))
    await nextTurn()

    expect(linesOf(stopped.file())).toEqual(['0 in PING 0 flags 1 length 1', '0 out PING 0 flags 2 length 1'])
    expect(linesOf(other.file())).toHaveLength(4)
    expect(stopped.file().interfaces).toHaveLength(1)
    expect(other.file().interfaces).toHaveLength(2)
  })

  test('comes when the program throws, and the connection goes on', async () => {
    const { muxer, transport, deliver, takeFrames } = createRawPeer()
    const logError = vi.fn()
    Object.assign((muxer as any)[Symbol.for('libp2p-coalescing-yamux.driver')].log, { error: logError })
    const write = vi.fn()
    captureFrames(createNode(muxer), { write })
    write.mockClear().mockImplementation(() => { throw new Error('The disk is full') })
    deliver(ping(1, SYN))
    deliver(ping(2, SYN))
    await nextTurn()

    expect(write).toHaveBeenCalledOnce()
    expect(logError.mock.calls).toEqual([['the capture has ended, as its write() failed - %e', new Error('The disk is full')]])
    expect(takeFrames().map(({ length }) => length)).toEqual([1, 2])
    expect(transport.status).toBe('open')
  })
})

test('a capture whose write rejects ends as well', async () => {
  const { muxer, deliver } = createRawPeer()
  const logError = vi.fn()
  Object.assign((muxer as any)[Symbol.for('libp2p-coalescing-yamux.driver')].log, { error: logError })
  const write = vi.fn(async () => {})
  captureFrames(createNode(muxer), { write })
  write.mockClear().mockRejectedValue(new Error('The disk is full'))
  deliver(ping(1, SYN))
  await nextTurn()
  write.mockClear()
  deliver(ping(2, SYN))

  expect(write).not.toHaveBeenCalled()
  expect(logError).toHaveBeenCalledWith('the capture has ended, as its write() failed - %e', new Error('The disk is full'))
})

test('a capture that fails as it describes the first connection leaves nothing behind', () => {
  const { muxer, deliver } = createRawPeer()
  const write = vi.fn().mockImplementationOnce(() => {}).mockImplementation(() => { throw new Error('The disk is full') })
  const node = createNode(muxer)
  captureFrames(node, { write })
  node.open(createRawPeer().muxer)
  deliver(ping(1, SYN))

  expect(write).toHaveBeenCalledTimes(2)
  expect(observersOf(muxer)).toEqual([])
})

test('a capture whose write rejects at the head of the file ends', async () => {
  const { muxer, deliver } = createRawPeer()
  const write = vi.fn(async () => {}).mockRejectedValueOnce(new Error('The file is closed'))
  captureFrames(createNode(muxer), { write })
  await nextTurn()
  write.mockClear()
  deliver(ping(1, SYN))

  expect(write).not.toHaveBeenCalled()
})

test('captures that overlap leave nothing behind, in whatever order they end', () => {
  const factory = yamux({ enableKeepAlive: false })()
  const node = Object.assign(createNode(), { components: { upgrader: { getStreamMuxers: () => new Map([['/yamux/1.0.0', factory]]) } } })
  const { createStreamMuxer } = factory
  const connect = (): StreamMuxer => factory.createStreamMuxer(new RawTransport('inbound') as unknown as MessageStream)
  let last = captureFrames(node, { write () {} })

  // as a program does that begins a new file each minute
  for (let files = 0; files < 20_000; files++) {
    const next = captureFrames(node, { write () {} })
    last.stop()
    last = next
  }

  expect(observersOf(connect())).toHaveLength(1)
  last.stop()
  expect(observersOf(connect())).toEqual([])
  expect(factory.createStreamMuxer).toBe(createStreamMuxer)
})

test('a capture that ends while a connection is set up keeps none of its frames', async () => {
  const factory = yamux({ enableKeepAlive: false })()
  const node = Object.assign(createNode(), { components: { upgrader: { getStreamMuxers: () => new Map([['/yamux/1.0.0', factory]]) } } })
  const capture = captureFrames(node, { write () {} })
  const transport = new RawTransport('inbound')
  const muxer = factory.createStreamMuxer(transport as unknown as MessageStream)
  expect(observersOf(muxer)).toHaveLength(1)
  capture.stop()
  transport.dispatchEvent(new StreamMessageEvent(ping(1, SYN)))

  expect(observersOf(muxer)).toEqual([])
})

test.each([[undefined], [{}], [{ write: 'x' }], [null], [{ write () {}, payloadByte: 3 }]])('captureFrames takes no %j', init => {
  expect(() => captureFrames(createNode(), init as unknown as CaptureInit)).toThrow(expect.objectContaining({ name: 'InvalidParametersError' }))
})

test.each([-1, 1.5, NaN, '12'])('payloadBytes cannot be %s', payloadBytes => {
  const write = vi.fn()

  expect(() => captureFrames(createNode(), { write, payloadBytes: payloadBytes as number })).toThrow(expect.objectContaining({
    name: 'InvalidParametersError',
    message: expect.stringMatching(/^init\.payloadBytes is .*, it must be a whole number from 0 to Infinity$/)
  }))
  expect(write).not.toHaveBeenCalled()
})
