/**
 * The blocks of a pcapng file, as draft-ietf-opsawg-pcapng has them: a section, its interfaces, and packets. Little-endian.
 */

/** LINKTYPE_USER0: the file does not say what its packets are */
const LINK_TYPE = 147

const SECTION_HEADER = 0x0a0d0d0a
const BYTE_ORDER_MAGIC = 0x1a2b3c4d
const INTERFACE_DESCRIPTION = 1
const ENHANCED_PACKET = 6

const OPTION_SECTION_PROGRAM = 4
const OPTION_INTERFACE_NAME = 2
const OPTION_INTERFACE_DESCRIPTION = 3
const OPTION_PACKET_FLAGS = 2

const TWO_32 = 2 ** 32
const MAX_UINT32 = TWO_32 - 1

type Option = readonly [code: number, value: Uint8Array]

export const INBOUND = 1
export const OUTBOUND = 2

/** Begins the file. `program` is what has written it. */
export function sectionHeader (program: string): Uint8Array {
  const body = new DataView(new ArrayBuffer(16))
  body.setUint32(0, BYTE_ORDER_MAGIC, true)
  body.setUint16(4, 1, true)
  // the length of the section is not known
  body.setBigInt64(8, -1n, true)

  return block(SECTION_HEADER, body, [[OPTION_SECTION_PROGRAM, utf8(program)]])
}

/** The interfaces of a section are numbered from 0, in the order of their blocks. Their times are microseconds. */
export function interfaceDescription (name: string, description: string): Uint8Array {
  const body = new DataView(new ArrayBuffer(8))
  body.setUint16(0, LINK_TYPE, true)

  return block(INTERFACE_DESCRIPTION, body, [[OPTION_INTERFACE_NAME, utf8(name)], [OPTION_INTERFACE_DESCRIPTION, utf8(description)]])
}

export interface Packet {
  readonly direction: typeof INBOUND | typeof OUTBOUND
  /** Milliseconds since 1970, with fractions */
  readonly unixMs: number
  /** The beginning of the packet */
  readonly captured: Uint8Array
  readonly originalBytes: number
}

export function enhancedPacket (interfaceId: number, { direction, unixMs, captured, originalBytes }: Packet): Uint8Array {
  const unixUs = Math.round(unixMs * 1000)
  const body = new DataView(new ArrayBuffer(20 + padded(captured.byteLength)))
  body.setUint32(0, interfaceId, true)
  body.setUint32(4, Math.floor(unixUs / TWO_32), true)
  body.setUint32(8, unixUs % TWO_32, true)
  body.setUint32(12, captured.byteLength, true)
  body.setUint32(16, Math.min(originalBytes, MAX_UINT32), true)
  new Uint8Array(body.buffer).set(captured, 20)

  return block(ENHANCED_PACKET, body, [[OPTION_PACKET_FLAGS, Uint8Array.of(direction, 0, 0, 0)]])
}

/** The option that ends them is 0 */
function block (type: number, body: DataView<ArrayBuffer>, options: readonly Option[]): Uint8Array {
  const optionsBytes = options.reduce((sum, [, value]) => sum + 4 + padded(value.byteLength), 4)
  const byteLength = 12 + body.byteLength + optionsBytes
  const bytes = new Uint8Array(byteLength)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, type, true)
  view.setUint32(4, byteLength, true)
  bytes.set(new Uint8Array(body.buffer), 8)
  let offset = 8 + body.byteLength

  for (const [code, value] of options) {
    view.setUint16(offset, code, true)
    view.setUint16(offset + 2, value.byteLength, true)
    bytes.set(value, offset + 4)
    offset += 4 + padded(value.byteLength)
  }

  view.setUint32(byteLength - 4, byteLength, true)

  return bytes
}

function utf8 (text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function padded (byteLength: number): number {
  return Math.ceil(byteLength / 4) * 4
}
