// Frames as people read them.
import { ACK, DATA, FIN, GO_AWAY, PING, RST, SYN, WINDOW_UPDATE } from '../testing/protocol/frames.ts'
import type { FrameHeader } from '../testing/protocol/header-reader.ts'

const HEADER_BYTES = 12
const SHOWN_BYTES = 16
const TYPES: Record<number, string> = { [DATA]: 'DATA', [WINDOW_UPDATE]: 'WINDOW_UPDATE', [PING]: 'PING', [GO_AWAY]: 'GO_AWAY' }
const FLAGS = { SYN, ACK, FIN, RST }
const KNOWN_FLAGS = SYN | ACK | FIN | RST

function flagsText (flags: number): string {
  const names = Object.entries(FLAGS).filter(([, flag]) => (flags & flag) !== 0).map(([name]) => name)
  const unknown = flags & ~KNOWN_FLAGS

  return [...names, ...(unknown === 0 ? [] : [`0x${unknown.toString(16)}`])].join('|')
}

function lengthText ({ type, flags, length }: FrameHeader): string {
  switch (type) {
    case DATA: return `${length} bytes`
    case WINDOW_UPDATE: return (flags & RST) !== 0 && length > 0 ? `code ${length}` : `+${length}`
    case PING: return `value 0x${length.toString(16).padStart(8, '0')}`
    case GO_AWAY: return `code ${length}`
    default: return `length ${length}`
  }
}

export function frameText (header: FrameHeader, version = 0): string {
  const { type, flags, id } = header
  const stream = id === 0 && (type === PING || type === GO_AWAY) ? '' : `stream ${id},`

  return [TYPES[type] ?? `type ${type}`, flagsText(flags), stream, lengthText(header), version === 0 ? '' : `(version ${version})`].filter(Boolean).join(' ')
}

/** Of a part that was sent: as a frame if it is one whole frame, or a header whose body is left out, else as bytes */
export function partText (part: Uint8Array): string {
  if (part.byteLength >= HEADER_BYTES) {
    const view = new DataView(part.buffer, part.byteOffset, part.byteLength)
    const header = { type: part[1], flags: view.getUint16(2), id: view.getUint32(4), length: view.getUint32(8) }
    const bodyBytes = part.byteLength - HEADER_BYTES

    if (bodyBytes === (header.type === DATA ? header.length : 0)) {
      return frameText(header, part[0])
    }

    if (header.type === DATA && bodyBytes < header.length && part[0] === 0) {
      return `${frameText(header)} (of these ${bodyBytes} sent)`
    }
  }

  const shown = [...part.subarray(0, SHOWN_BYTES)].map(byte => byte.toString(16).padStart(2, '0')).join(' ')

  return `${part.byteLength} bytes: ${shown}${part.byteLength > SHOWN_BYTES ? ' ...' : ''}`
}
