/**
 * Reads the pcapng file of a frame capture: pieces of any length in, connections and yamux frames out.
 *
 * @see https://ietf-opsawg-wg.github.io/draft-ietf-opsawg-pcap/draft-ietf-opsawg-pcapng.html
 */
import { HEADER_BYTES, PROTOCOL_VERSION } from '../../src/core/wire/frame.ts'

export interface CapturedFrame {
  /** Since 1970 */
  atUs: number
  /** By the side that captured it, not by its peer */
  isSent: boolean
  type: number
  flags: number
  streamId: number
  /** The header's field: bytes of payload, credit, a ping's value or a code */
  length: number
  /** What was captured of it */
  payload: Uint8Array
}

export interface CaptureSink {
  /** `direction` is "outbound" or "inbound", and the address */
  onConnection (peer: string, direction: string): void
  /** The first connection is 0 */
  onFrame (connection: number, frame: CapturedFrame): void
}

/** The file is not one that this page can show; the message says what to do */
export class CaptureError extends Error {
  override readonly name = 'CaptureError'
}

interface Interface {
  connection: number
  usPerTick: number
}

const SECTION_HEADER = 0x0a0d0d0a
const INTERFACE_DESCRIPTION = 1
const ENHANCED_PACKET = 6

const BYTE_ORDER = 0x1a2b3c4d
const BYTE_ORDER_SWAPPED = 0x4d3c2b1a

const OPTION_END = 0
const IF_NAME = 2
const IF_DESCRIPTION = 3
const IF_TSRESOL = 9
const EPB_FLAGS = 2

const LINKTYPE_USER0 = 147

/** The type and the two lengths around a block's body */
const LENGTHS_BYTES = 12
const BODY_OFFSET = 8
/** Of an enhanced packet block, before its packet */
const PACKET_OFFSET = BODY_OFFSET + 20
/** Of an interface description block, before its options */
const INTERFACE_OPTIONS_OFFSET = BODY_OFFSET + 8
/** Longer than any frame that a peer of this muxer can send; a damaged length would be waited for until memory is full */
const MAX_BLOCK_BYTES = 2 ** 28

/** Of a packet, in the lowest bits of its flags */
const DIRECTION = 3
const INBOUND = 1
const OUTBOUND = 2

const HOW_TO_CAPTURE = 'Capture frames in the node itself, with captureFrames of libp2p-coalescing-yamux/capture.'
const text = new TextDecoder()

export class PcapngReader {
  readonly #sink: CaptureSink
  /** A block that has not come to its end */
  #rest = new Uint8Array(0)
  #offsetBytes = 0
  #isLittleEndian?: boolean
  #interfaces: Interface[] = []
  #connections = 0

  constructor (sink: CaptureSink) {
    this.#sink = sink
  }

  /** A block that is cut off at the end of the file is left out. Throws a `CaptureError`, after which the reader is not to be used. */
  push (piece: Uint8Array): void {
    let bytes = piece

    if (this.#rest.byteLength > 0) {
      bytes = new Uint8Array(this.#rest.byteLength + piece.byteLength)
      bytes.set(this.#rest)
      bytes.set(piece, this.#rest.byteLength)
    }

    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let offset = 0

    while (offset + LENGTHS_BYTES <= bytes.byteLength) {
      this.#readByteOrder(view, offset)
      const blockBytes = view.getUint32(offset + 4, this.#isLittleEndian)

      if (blockBytes < LENGTHS_BYTES || blockBytes % 4 !== 0 || blockBytes > MAX_BLOCK_BYTES) {
        throw new CaptureError(`The file is damaged: a block of ${blockBytes} bytes at offset ${this.#offsetBytes}. The frames before it are shown.`)
      }

      if (offset + blockBytes > bytes.byteLength) {
        break
      }

      this.#readBlock(new DataView(bytes.buffer, bytes.byteOffset + offset, blockBytes))
      offset += blockBytes
      this.#offsetBytes += blockBytes
    }

    // a copy, as the piece may be a view of much more
    this.#rest = bytes.slice(offset)
  }

  /** Each section of a file has an order of its own */
  #readByteOrder (view: DataView, offset: number): void {
    if (view.getUint32(offset) === SECTION_HEADER) {
      const order = view.getUint32(offset + BODY_OFFSET, true)

      if (order === BYTE_ORDER || order === BYTE_ORDER_SWAPPED) {
        this.#isLittleEndian = order === BYTE_ORDER
      }
    }

    if (this.#isLittleEndian == null) {
      throw new CaptureError(`This is not a pcapng file. ${HOW_TO_CAPTURE}`)
    }
  }

  #readBlock (block: DataView): void {
    try {
      switch (block.getUint32(0, this.#isLittleEndian)) {
        case SECTION_HEADER:
          this.#interfaces = []
          break
        case INTERFACE_DESCRIPTION:
          this.#readInterface(block)
          break
        case ENHANCED_PACKET:
          this.#readPacket(block)
      }
    } catch (err) {
      throw err instanceof RangeError ? new CaptureError(`The file is damaged: the block at offset ${this.#offsetBytes} is too short. The frames before it are shown.`) : err
    }
  }

  #readInterface (block: DataView): void {
    const linkType = block.getUint16(BODY_OFFSET, this.#isLittleEndian)

    if (linkType !== LINKTYPE_USER0) {
      throw new CaptureError(`This capture has link type ${linkType}, not ${LINKTYPE_USER0}: it is of a network, where encryption hides the frames. ${HOW_TO_CAPTURE}`)
    }

    const options = this.#readOptions(block, INTERFACE_OPTIONS_OFFSET)
    const resolution = options.get(IF_TSRESOL)?.getUint8(0) ?? 6
    const ticksPerS = resolution < 128 ? 10 ** resolution : 2 ** (resolution - 128)
    this.#interfaces.push({ connection: this.#connections++, usPerTick: 1e6 / ticksPerS })
    this.#sink.onConnection(text.decode(options.get(IF_NAME)), text.decode(options.get(IF_DESCRIPTION)))
  }

  #readPacket (block: DataView): void {
    const isLittleEndian = this.#isLittleEndian
    const from = this.#interfaces.at(block.getUint32(BODY_OFFSET, isLittleEndian))
    const ticks = block.getUint32(BODY_OFFSET + 4, isLittleEndian) * 2 ** 32 + block.getUint32(BODY_OFFSET + 8, isLittleEndian)
    const packetBytes = block.getUint32(BODY_OFFSET + 12, isLittleEndian)
    const flags = this.#readOptions(block, PACKET_OFFSET + padded(packetBytes)).get(EPB_FLAGS)?.getUint32(0, isLittleEndian) ?? 0
    const direction = flags & DIRECTION
    const packet = part(block, PACKET_OFFSET, packetBytes)

    if (from == null || packet.getUint8(0) !== PROTOCOL_VERSION || (direction !== INBOUND && direction !== OUTBOUND)) {
      throw new CaptureError(`The packet at offset ${this.#offsetBytes} is not a yamux frame of a known connection and direction. ${HOW_TO_CAPTURE}`)
    }

    this.#sink.onFrame(from.connection, {
      atUs: ticks * from.usPerTick,
      isSent: direction === OUTBOUND,
      type: packet.getUint8(1),
      flags: packet.getUint16(2),
      streamId: packet.getUint32(4),
      length: packet.getUint32(8),
      payload: new Uint8Array(packet.buffer, packet.byteOffset + HEADER_BYTES, packetBytes - HEADER_BYTES)
    })
  }

  /** By their codes; of several with one code the last */
  #readOptions (block: DataView, start: number): Map<number, DataView> {
    const options = new Map<number, DataView>()
    const end = block.byteLength - 4

    for (let offset = start; offset + 4 <= end;) {
      const code = block.getUint16(offset, this.#isLittleEndian)
      const valueBytes = block.getUint16(offset + 2, this.#isLittleEndian)

      if (code === OPTION_END) {
        break
      }

      options.set(code, part(block, offset + 4, valueBytes))
      offset += 4 + padded(valueBytes)
    }

    return options
  }
}

/** Throws a `RangeError` if the block ends before it */
function part (block: DataView, offset: number, byteLength: number): DataView {
  if (offset + byteLength > block.byteLength) {
    throw new RangeError('Beyond the block')
  }

  return new DataView(block.buffer, block.byteOffset + offset, byteLength)
}

function padded (byteLength: number): number {
  return Math.ceil(byteLength / 4) * 4
}
