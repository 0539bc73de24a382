/**
 * The life of a stream, from its SYN to its end: all that a stream can be, and all that moves it on.
 *
 * | life           | this side's half | the peer's half | `close`       | `finSent`     | `finReceived`  | `reset` |
 * |----------------|------------------|-----------------|---------------|---------------|----------------|---------|
 * | `open`         | writable         | writable        | `closing`     |               | `remoteClosed` | `reset` |
 * | `closing`      | closing          | writable        |               | `localClosed` | `lastClosing`  | `reset` |
 * | `localClosed`  | closed           | writable        |               |               | `closed`       | `reset` |
 * | `remoteClosed` | writable         | closed          | `lastClosing` |               |                | `reset` |
 * | `lastClosing`  | closing          | closed          |               | `closed`      |                | `reset` |
 * | `closed`       | closed           | closed          |               |               |                |         |
 * | `reset`        | closed           | closed          |               |               |                |         |
 *
 * A step that is not in the table changes nothing. The halves have libp2p's words. A program is told later, when no chunk is being decoded:
 * MuxedStream's statuses are what it was told of.
 *
 * A stream that this side opens also awaits the peer's ACK (`awaitsAck`), in all of these lives but the last two: yamux lets both sides write before it.
 */

/**
 * - `close`: the program writes no more. The FIN follows the last byte.
 * - `finSent`: the transport has taken the FIN
 * - `finReceived`: the peer has sent its FIN
 * - `reset`: either side has sent a RST, or the connection has ended
 */
export type Step = 'close' | 'finSent' | 'finReceived' | 'reset'

export interface Life {
  /** 'closing' from when a FIN is to follow the last byte until it is handed down */
  readonly writeStatus: 'writable' | 'closing' | 'closed'
  readonly remoteWriteStatus: 'writable' | 'closed'
  /** Neither side may send any more */
  readonly isOver: boolean
  /** Bytes may be missing */
  readonly isReset: boolean
  /** The life behind each step that changes anything */
  readonly next: Readonly<Partial<Record<Step, Life>>>
}

// from the end to the beginning, as no way leads back
const reset = over(true)
const closed = over(false)
const lastClosing = live('closing', 'closed', { finSent: closed })
const remoteClosed = live('writable', 'closed', { close: lastClosing })
const localClosed = live('closed', 'writable', { finReceived: closed })
const closing = live('closing', 'writable', { finSent: localClosed, finReceived: lastClosing })
export const OPEN = live('writable', 'writable', { close: closing, finReceived: remoteClosed })

function live (writeStatus: Life['writeStatus'], remoteWriteStatus: Life['remoteWriteStatus'], next: Life['next']): Life {
  return { writeStatus, remoteWriteStatus, isOver: false, isReset: false, next: { ...next, reset } }
}

function over (isReset: boolean): Life {
  return { writeStatus: 'closed', remoteWriteStatus: 'closed', isOver: true, isReset, next: {} }
}
