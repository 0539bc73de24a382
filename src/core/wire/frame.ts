/**
 * The yamux wire format: header layout, frame types, flags, GoAway codes, and the encoding of a header.
 *
 * @see https://github.com/hashicorp/yamux/blob/master/spec.md
 */

/** version u8, type u8, flags u16, stream id u32, length u32; all big endian */
export const HEADER_BYTES = 12
export const PROTOCOL_VERSION = 0

export const TYPE_DATA = 0
export const TYPE_WINDOW_UPDATE = 1
export const TYPE_PING = 2
export const TYPE_GO_AWAY = 3

export const FLAG_SYN = 1
export const FLAG_ACK = 2
export const FLAG_FIN = 4
export const FLAG_RST = 8

/** The stream id of frames about the session */
export const SESSION_ID = 0

export const MAX_UINT32 = 0xffff_ffff

/** The values of marks begin here; those of other pings are below */
export const FIRST_MARK_VALUE = 2 ** 31

/** The longest payload of a frame, except on fast paths. A peer may wait until it has credit for this much. */
export const MAX_FRAME_BYTES = 65_536

/** The window of each direction of a stream before any update (spec, "Flow Control") */
export const INITIAL_WINDOW_BYTES = 262_144

/** The reason for the end of a session, in a GoAway frame (spec, "Go Away") */
export const GoAwayCode = {
  NormalTermination: 0,
  ProtocolError: 1,
  InternalError: 2
} as const

export type GoAwayCode = typeof GoAwayCode[keyof typeof GoAwayCode]

/** Writes a header at `offset` and returns the offset behind it */
export function encodeHeader (target: Uint8Array, offset: number, type: number, flags: number, streamId: number, length: number): number {
  target[offset] = PROTOCOL_VERSION
  target[offset + 1] = type
  target[offset + 2] = flags >>> 8
  target[offset + 3] = flags
  target[offset + 4] = streamId >>> 24
  target[offset + 5] = streamId >>> 16
  target[offset + 6] = streamId >>> 8
  target[offset + 7] = streamId
  target[offset + 8] = length >>> 24
  target[offset + 9] = length >>> 16
  target[offset + 10] = length >>> 8
  target[offset + 11] = length

  return offset + HEADER_BYTES
}
