/**
 * @packageDocumentation
 *
 * Writes the frames of a running node's connections as a pcapng file, for Wireshark. docs/operating.md says how to read it.
 *
 * @example
 *
 * ```typescript
 * import { createWriteStream } from 'node:fs'
 * import { captureFrames } from 'libp2p-coalescing-yamux/capture'
 *
 * const file = createWriteStream('frames.pcapng')
 * const capture = captureFrames(node, { write: bytes => file.write(bytes) })
 *
 * // later
 * capture.stop()
 * file.end()
 * ```
 */
import { concat } from 'uint8arrays/concat'
import { attempt, toError, watch } from './foreign/values.ts'
import { driverOf } from './muxer/driver-key.ts'
import { FrameCapture } from './observe/frame-capture.ts'
import { logError } from './observe/log.ts'
import { enhancedPacket, INBOUND, interfaceDescription, OUTBOUND, sectionHeader } from './observe/pcapng.ts'
import { check, integer, section } from './options/rules.ts'
import type { FrameCaptureInit } from './observe/frame-capture.ts'
import type { ConnectionObserver } from './observe/frame-tap.ts'
import type { Packet } from './observe/pcapng.ts'
import type { Connection, Libp2p, StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'

export interface CaptureInit {
  /**
   * Takes the next bytes of the file: whole blocks of pcapng, at most one call for each write and each chunk of a connection. It is called
   * while the muxer works, so it should only store them. If it throws or rejects, the capture ends, and an error is logged. If
   * it throws at the head of the file, `captureFrames` does too.
   */
  write: (bytes: Uint8Array) => unknown

  /**
   * How much of each frame's payload is captured. It is what applications send: think of who reads the file.
   *
   * @unit bytes
   * @default 0
   */
  payloadBytes?: number
}

export interface Capture {
  /** Nothing is written from now on */
  stop (): void
}

/**
 * Captures the frames of a node's connections until `stop` is called: of connections that are open now the frames from here on, of later ones
 * all. Connections with another muxer are left out.
 *
 * Each frame costs a microsecond or two, and 56 bytes of the file in addition to the payload that is captured. Without a capture nothing is paid.
 *
 * Throws InvalidParametersError if `write` is not a function, if `payloadBytes` is not a whole number from 0 on, and for an unknown option.
 */
export function captureFrames (node: Pick<Libp2p, 'getConnections' | 'addEventListener' | 'removeEventListener'>, init: CaptureInit): Capture {
  const { write, payloadBytes } = CAPTURE(init, 'init')

  return new NodeCapture(node, write, payloadBytes)
}

const CAPTURE = section({
  write: (write: CaptureInit['write'], name: string) => {
    check(typeof write === 'function', name, write, 'a function')

    return write
  },
  payloadBytes: integer(0)
})

type Node = Parameters<typeof captureFrames>[0]
type Driver = NonNullable<ReturnType<typeof driverOf>>

class NodeCapture implements Capture {
  readonly #node: Node
  readonly #write: CaptureInit['write']
  readonly #payloadBytes: number
  readonly #connections = new WeakMap<Driver, ConnectionCapture>()
  #interfaceCount = 0
  isStopped = false

  constructor (node: Node, write: CaptureInit['write'], payloadBytes: number) {
    this.#node = node
    this.#write = write
    this.#payloadBytes = payloadBytes
    // if it throws, nothing is watched yet
    watch(write(sectionHeader('libp2p-coalescing-yamux')), thrown => { this.#fail(thrown, node.getConnections().map(driverOfConnection).find(driver => driver !== undefined)) })
    node.addEventListener('connection:open', this.#onOpen)
    factoriesOf(node).forEach(factory => { tapOf(factory).captures.add(this) })
    node.getConnections().forEach(this.#describe)
  }

  stop (): void {
    this.isStopped = true
    this.#node.removeEventListener('connection:open', this.#onOpen)
    factoriesOf(this.#node).forEach(factory => { taps.get(factory)?.end(this) })
    this.#node.getConnections().forEach(connection => { this.#connections.get(driverOfConnection(connection) as Driver)?.leave() })
  }

  /** What the program throws must not end the connection */
  write (blocks: readonly Uint8Array[], driver: Driver): void {
    const fail = (thrown: unknown): void => { this.#fail(thrown, driver) }

    if (!this.isStopped) {
      attempt(() => { watch(this.#write(concat([...blocks])), fail) }, fail)
    }
  }

  #fail (thrown: unknown, driver?: Driver): void {
    this.stop()

    if (driver !== undefined) {
      logError(driver, 'the capture has ended, as its write() failed - %e', toError(thrown, 'write() threw'))
    }
  }

  readonly #onOpen = ({ detail }: CustomEvent<Connection>): void => { this.#describe(detail) }

  readonly #describe = (connection: Connection): void => {
    const driver = driverOfConnection(connection)

    if (driver !== undefined) {
      const observed = this.observe(driver)

      // it is already, if the capture began while libp2p announces this connection
      if (!observed.isDescribed) {
        observed.describe(this.#interfaceCount++, connection)
      }
    }
  }

  /** libp2p reads the first frames of a connection that a peer has dialled before it announces it */
  observe (driver: Driver): ConnectionCapture {
    const known = this.#connections.get(driver)

    if (known !== undefined) {
      return known
    }

    const connection = new ConnectionCapture(this, driver, this.#payloadBytes)
    this.#connections.set(driver, connection)
    driver.observers = [...driver.observers, connection]

    return connection
  }
}

/** A connection, which is an interface of the file once its peer is known */
class ConnectionCapture implements ConnectionObserver {
  readonly sent: FrameCapture
  readonly received: FrameCapture
  readonly #node: NodeCapture
  readonly #driver: Driver
  #interfaceId: number | undefined
  #early: Packet[] = []

  constructor (node: NodeCapture, driver: Driver, payloadBytes: number) {
    this.#node = node
    this.#driver = driver
    const init: FrameCaptureInit = { payloadBytes, unixMs: () => performance.timeOrigin + driver.clock.nowMs(), write: packets => { this.#write(packets) } }
    this.sent = new FrameCapture(init, OUTBOUND)
    this.received = new FrameCapture(init, INBOUND, driver.session.receiver.decoder.unfinished)
  }

  get isDescribed (): boolean {
    return this.#interfaceId !== undefined
  }

  describe (interfaceId: number, { remotePeer, remoteAddr, direction }: Connection): void {
    this.#interfaceId = interfaceId
    this.#node.write([interfaceDescription(remotePeer.toString(), `${direction} ${remoteAddr.toString()}`)], this.#driver)
    this.#write(this.#early.splice(0))
  }

  leave (): void {
    this.#driver.observers = this.#driver.observers.filter(observer => observer !== this)
  }

  #write (packets: readonly Packet[]): void {
    const id = this.#interfaceId

    if (this.#node.isStopped) {
      // it was being set up, and not among the node's connections yet
      this.leave()
    } else if (id === undefined) {
      this.#early.push(...packets)
    } else if (packets.length > 0) {
      this.#node.write(packets.map(packet => enhancedPacket(id, packet)), this.#driver)
    }
  }
}

/** libp2p's class has its muxer, and its interface does not */
function driverOfConnection (connection: Connection): Driver | undefined {
  return driverOf((connection as { muxer?: StreamMuxer }).muxer)
}

/** Shows the muxers that a factory makes to the captures of its node, which may end in any order */
interface FactoryTap {
  readonly captures: Set<NodeCapture>
  end (capture: NodeCapture): void
}

const taps = new WeakMap<StreamMuxerFactory, FactoryTap>()

function tapOf (factory: StreamMuxerFactory): FactoryTap {
  const known = taps.get(factory)

  if (known !== undefined) {
    return known
  }

  const { createStreamMuxer } = factory
  const captures = new Set<NodeCapture>()
  const createObserved: typeof createStreamMuxer = transport => {
    const muxer = createStreamMuxer(transport)
    const driver = driverOf(muxer)

    if (driver !== undefined) {
      captures.forEach(capture => { capture.observe(driver) })
    }

    return muxer
  }
  const tap: FactoryTap = {
    captures,
    end (capture) {
      captures.delete(capture)

      // if other code has wrapped the factory since, this stays and the next capture uses it
      if (captures.size === 0 && factory.createStreamMuxer === createObserved) {
        factory.createStreamMuxer = createStreamMuxer
        taps.delete(factory)
      }
    }
  }
  factory.createStreamMuxer = createObserved
  taps.set(factory, tap)

  return tap
}

/** Those of this package. libp2p's class has its components, and its interface does not. */
function factoriesOf (node: Node): StreamMuxerFactory[] {
  const { components } = node as { components?: { upgrader?: { getStreamMuxers? (): Map<string, StreamMuxerFactory> } } }

  return [...components?.upgrader?.getStreamMuxers?.().values() ?? []].filter(factory => (factory as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] === 'libp2p-coalescing-yamux')
}
