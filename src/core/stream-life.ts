/**
 * The life of a stream, from its SYN to its end: every state, and the steps between them.
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
 * A step that is not in the table changes nothing. The halves are named as in libp2p. The program is told later, when no chunk is being
 * decoded: the statuses of MuxedStream are those it was told of.
 *
 * A stream that this side opened may also await the peer's ACK (`awaitsAck`), in every life but the last two. Both sides may write before
 * the ACK.
 */

/**
 * - `close`: the program has ended writing. The FIN follows the last byte.
 * - `finSent`: the transport has taken the FIN
 * - `finReceived`: the peer has sent its FIN
 * - `reset`: either side has sent a RST, or the connection has ended: nothing more comes, or goes
 */
export type Step = 'close' | 'finSent' | 'finReceived' | 'reset'

export interface Life {
  /** 'closing': a FIN is to follow the last byte, and the transport has not taken it yet */
  readonly writeStatus: 'writable' | 'closing' | 'closed'
  readonly remoteWriteStatus: 'writable' | 'closed'
  /** Neither side may send */
  readonly isOver: boolean
  /** Bytes may be missing */
  readonly isReset: boolean
  /** The life after each step that changes it */
  readonly next: Readonly<Partial<Record<Step, Life>>>
}

// from the last to the first: no step leads back
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
