// A process that is busy for longer than a timeout, while what the timeout waits for lies in its sockets: nothing is to blame on the peer. Over real sockets and in real time, so Node alone.
import { createConnection, createServer } from 'node:net'
import { StreamCloseEvent, StreamMessageEvent, TypedEventEmitter } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { fullControl } from '../../src/path-control.ts'
import { createConfig } from '../../src/options/config.ts'
import { Muxer } from '../../src/muxer/muxer.ts'
import { ACK, concat, data, FIN, pattern, PING, ping, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { endings } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'
import type { MessageStream, MessageStreamDirection, MessageStreamEvents, MessageStreamStatus, StreamCloseEvent as CloseEvent } from '@libp2p/interface'
import type { AddressInfo, Socket } from 'node:net'
import type { Uint8ArrayList } from 'uint8arraylist'

forbidIncidents()

const TIMEOUT_MS = 1000
const STALL_MS = 1300

/** A socket as libp2p's TCP transport shows it */
class SocketTransport extends TypedEventEmitter<MessageStreamEvents> {
  readonly direction: MessageStreamDirection = 'outbound'
  readonly log = defaultLogger().forComponent('libp2p:test')
  status: MessageStreamStatus = 'open'
  readonly #socket: Socket

  constructor (socket: Socket) {
    super()
    this.#socket = socket
    socket.on('data', bytes => { this.dispatchEvent(new StreamMessageEvent(bytes)) })
    socket.on('drain', () => { this.safeDispatchEvent('drain') })
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.status === 'open') {
        this.status = 'closed'
        this.dispatchEvent(new StreamCloseEvent())
      }
    })
  }

  send (bytes: Uint8Array | Uint8ArrayList): boolean {
    return this.#socket.write(bytes.subarray())
  }

  async close (): Promise<void> { this.#socket.destroy() }
  abort (): void { this.#socket.destroy() }
}

const sockets: Socket[] = []

afterEach(() => {
  sockets.splice(0).forEach(socket => { socket.destroy() })
})

async function connectSockets (): Promise<[own: Socket, peers: Socket]> {
  const server = createServer()
  const accepted = new Promise<Socket>(resolve => { server.once('connection', resolve) })
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  const own = createConnection((server.address() as AddressInfo).port, '127.0.0.1')
  const pair: [Socket, Socket] = [own, await accepted]
  server.close()
  pair.forEach(socket => {
    socket.setNoDelay(true)
    socket.on('error', () => {})
    sockets.push(socket)
  })

  return pair
}

interface Wait {
  events: CloseEvent[]
  muxer: Muxer
  /** What the peer is waited for; it lies in the socket when the call returns. Nothing of the kind has come by then. */
  answer (): void
}

async function connect (init: YamuxMuxerInit): Promise<{ muxer: Muxer, peer: Socket }> {
  const [own, peer] = await connectSockets()
  const transport = new SocketTransport(own)
  const muxer = new Muxer(transport as unknown as MessageStream, createConfig({ enableKeepAlive: false, ...init }), systemClock, { createPathControl: fullControl() })
  peer.resume()

  return { muxer, peer }
}

async function sleep (ms: number): Promise<void> {
  await new Promise(resolve => { setTimeout(resolve, ms) })
}

/** The process has other things to do: no timer, no socket and no promise has its turn */
function stall (): void {
  const endMs = performance.now() + STALL_MS

  while (performance.now() < endMs) {
    // busy
  }
}

/** For an ACK of a stream that was just opened */
async function openWait (): Promise<Wait> {
  const { muxer, peer } = await connect({ limits: { openTimeoutMs: TIMEOUT_MS } })
  const events = endings(await muxer.createStream())

  return { events, muxer, answer: () => { peer.write(windowUpdate(1, 0, ACK)) } }
}

/** For data on a stream that was just used */
async function inactivityWait (): Promise<Wait> {
  const { muxer, peer } = await connect({ streamOptions: { inactivityTimeout: TIMEOUT_MS } })
  const stream = await muxer.createStream()
  stream.addEventListener('message', () => {})
  stream.send(pattern(10))
  peer.write(windowUpdate(1, 0, ACK))

  return { events: endings(stream), muxer, answer: () => { peer.write(data(1, pattern(10))) } }
}

/** For the end of a stream that this side has just closed */
async function closeWait (): Promise<Wait> {
  const { muxer, peer } = await connect({ limits: { closeTimeoutMs: TIMEOUT_MS } })
  const stream = await muxer.createStream()
  stream.addEventListener('message', () => {})
  peer.write(windowUpdate(1, 0, ACK))
  await stream.close()

  return { events: endings(stream), muxer, answer: () => { peer.write(concat(data(1, pattern(10)), windowUpdate(1, 0, FIN))) } }
}

/** For any sign of life of a peer that was silent for as long as it may */
async function keepAliveWait (): Promise<Wait & { pings: number[] }> {
  const { muxer, peer } = await connect({ enableKeepAlive: true, keepAliveInterval: TIMEOUT_MS })
  const pings: number[] = []
  peer.on('data', bytes => {
    for (let at = 0; at + 12 <= bytes.byteLength; at += 12) {
      if (bytes[at + 1] === PING && bytes[at + 3] === SYN) {
        pings.push(bytes.readUInt32BE(at + 8))
      }
    }
  })
  const events = endings(await muxer.createStream())

  return { events, muxer, pings, answer: () => { peer.write(concat(windowUpdate(1, 0, ACK), ...pings.map(value => ping(value, ACK)))) } }
}

/** For room in a socket that has just become full */
async function writeWait (): Promise<Wait & { peer: Socket }> {
  const { muxer, peer } = await connect({ limits: { writeTimeoutMs: TIMEOUT_MS }, coalesce: { maxQueueDelayMs: Infinity } })
  const stream = await muxer.createStream()
  peer.write(windowUpdate(1, 2 ** 30, ACK))
  await sleep(20)
  peer.pause()
  await sleep(20)

  // until the kernel takes no more of it
  for (let before = -1; before !== stream.writeBufferLength || before === 0;) {
    before = stream.writeBufferLength
    stream.send(new Uint8Array(1_000_000))
    await sleep(10)
    before = before === stream.writeBufferLength - 1_000_000 ? stream.writeBufferLength : -1
  }

  return { events: endings(stream), muxer, peer, answer: () => {} }
}

// again where the machine itself has stood still before the stall: what is wrong here is wrong each time
test('fires no timeout for what has come by then', { retry: 2 }, async () => {
  const keepAlive = await keepAliveWait()
  // Two keep-alive intervals may pass in silence, and the first ends with a ping. The stall begins behind the second, and the third ends in it.
  await vi.waitUntil(() => keepAlive.pings.length > 0, { timeout: 10 * TIMEOUT_MS })
  await sleep(TIMEOUT_MS)
  const write = await writeWait()
  const waits: Record<string, Wait> = { open: await openWait(), inactivity: await inactivityWait(), close: await closeWait(), keepAlive, write }
  await sleep(50)
  Object.values(waits).forEach(({ events }) => { expect(events).toEqual([]) })
  let readBytes = 0

  // inside of the read that makes room for more: that is only seen when the loop comes round
  await new Promise<void>(resolve => {
    const onData = (bytes: Uint8Array): void => {
      readBytes += bytes.byteLength

      if (readBytes >= 1_500_000) {
        write.peer.off('data', onData)
        Object.values(waits).forEach(({ answer }) => { answer() })
        stall()
        resolve()
      }
    }
    write.peer.on('data', onData)
    write.peer.resume()
  })
  // and read on, as a peer does
  write.peer.resume()
  await sleep(200)

  const ended = Object.fromEntries(Object.entries(waits).map(([name, { events }]) => [name, events.map(({ error }) => error?.name)]))
  expect(ended).toEqual({ open: [], inactivity: [], close: [undefined], keepAlive: [], write: [] })
  expect(Object.values(waits).map(({ muxer }) => muxer.status)).toEqual(Object.keys(waits).map(() => 'open'))
})

test('fires each when nothing has come, and not much later', async () => {
  const keepAlive = await keepAliveWait()
  const waits: Record<string, Wait> = { open: await openWait(), inactivity: await inactivityWait(), close: await closeWait(), keepAlive, write: await writeWait() }
  await sleep(50)
  stall()

  for (let i = 0; i < 100 && Object.values(waits).some(({ events }) => events.length === 0); i++) {
    await sleep(50)
  }

  const ended = Object.fromEntries(Object.entries(waits).map(([name, { events }]) => [name, events.map(({ error }) => error?.name)]))
  expect(ended).toEqual({
    open: ['OpenTimeoutError'],
    inactivity: ['InactivityTimeoutError'],
    close: ['CloseTimeoutError'],
    keepAlive: ['KeepAliveTimeoutError'],
    write: ['WriteTimeoutError']
  })
})
