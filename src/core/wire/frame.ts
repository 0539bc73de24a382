/**
 * The words of the yamux wire format: header layout, frame types, flags and go-away codes, each named once.
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

/** Frames with this id speak about the session, not about a stream */
export const SESSION_ID = 0

export const MAX_UINT32 = 0xffff_ffff

/** The longest payload that this muxer puts into one frame */
export const MAX_FRAME_BYTES = 65_536

/** What each direction of a stream may carry before any window update (spec, "Flow Control") */
export const INITIAL_WINDOW_BYTES = 262_144

/** Why a session ends, as carried by a GoAway frame (spec, "Go Away") */
export const GoAwayCode = {
  NormalTermination: 0,
  ProtocolError: 1,
  InternalError: 2
} as const

export type GoAwayCode = typeof GoAwayCode[keyof typeof GoAwayCode]
