/**
 * Reads a pcapng file, and throws for whatever a strict reader refuses: lengths that differ, padding that is not 0, packets of no interface.
 */
import { parseFrames } from './frames.ts'
import type { Frame } from './frames.ts'

export interface CapturedPacket {
  interfaceId: number
  direction: 'in' | 'out'
  unixMs: number
  bytes: Uint8Array
  originalBytes: number
}

export interface CaptureFile {
  program: string
  interfaces: Array<{ linkType: number, name: string, description: string }>
  packets: CapturedPacket[]
}

const DIRECTIONS: Record<number, CapturedPacket['direction']> = { 1: 'in', 2: 'out' }

export function readCapture (bytes: Uint8Array): CaptureFile {
  const file: CaptureFile = { program: '', interfaces: [], packets: [] }
  let offset = 0

  while (offset < bytes.byteLength) {
    const view = new DataView(bytes.buffer, bytes.byteOffset + offset, bytes.byteLength - offset)
    const byteLength = view.getUint32(4, true)
    check(byteLength >= 12 && byteLength % 4 === 0 && byteLength <= view.byteLength, `a block of ${byteLength} bytes`)
    check(view.getUint32(byteLength - 4, true) === byteLength, 'a block with two lengths')
    readBlock(file, view.getUint32(0, true), bytes.subarray(offset + 8, offset + byteLength - 4))
    offset += byteLength
  }

  return file
}

function readBlock (file: CaptureFile, type: number, body: Uint8Array): void {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)

  if (type === 0x0a0d0d0a) {
    check(view.getUint32(0, true) === 0x1a2b3c4d && view.getUint16(4, true) === 1 && view.getUint16(6, true) === 0, 'a section of another version')
    check(view.getBigInt64(8, true) === -1n, 'a section with a length')
    file.program = textOf(readOptions(body.subarray(16)), 4)
  } else if (type === 1) {
    const options = readOptions(body.subarray(8))
    check(view.getUint32(4, true) === 0, 'a limit of packets')
    file.interfaces.push({ linkType: view.getUint16(0, true), name: textOf(options, 2), description: textOf(options, 3) })
  } else {
    check(type === 6, `a block of type ${type}`)
    const interfaceId = view.getUint32(0, true)
    const capturedBytes = view.getUint32(12, true)
    const end = 20 + capturedBytes
    const flags = readOptions(body.subarray(pad(end, body))).get(2)
    check(interfaceId < file.interfaces.length, `interface ${interfaceId}`)
    check(flags?.byteLength === 4, 'a packet without flags')
    file.packets.push({
      interfaceId,
      direction: DIRECTIONS[flags?.[0] ?? 0],
      unixMs: (view.getUint32(4, true) * 2 ** 32 + view.getUint32(8, true)) / 1000,
      bytes: body.slice(20, end),
      originalBytes: view.getUint32(16, true)
    })
  }
}

function readOptions (bytes: Uint8Array): Map<number, Uint8Array> {
  const options = new Map<number, Uint8Array>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let offset = 0

  while (view.getUint16(offset, true) !== 0) {
    const end = offset + 4 + view.getUint16(offset + 2, true)
    options.set(view.getUint16(offset, true), bytes.subarray(offset + 4, end))
    offset = pad(end, bytes)
  }

  check(view.getUint16(offset + 2, true) === 0 && offset + 4 === bytes.byteLength, 'options that do not end')

  return options
}

function textOf (options: Map<number, Uint8Array>, code: number): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(options.get(code))
}

/** The next multiple of four from `offset` on */
function pad (offset: number, bytes: Uint8Array): number {
  const end = Math.ceil(offset / 4) * 4
  check(bytes.subarray(offset, end).every(byte => byte === 0), 'padding that is not 0')

  return end
}

/** The frame of a packet, whose payload may be missing */
export function frameOf ({ bytes, originalBytes }: CapturedPacket): Frame {
  const whole = new Uint8Array(originalBytes)
  whole.set(bytes)

  return { ...parseFrames(whole)[0], payload: bytes.slice(12) }
}

function check (isSo: boolean, what: string): void {
  if (!isSo) {
    throw new Error(`The capture has ${what}`)
  }
}
