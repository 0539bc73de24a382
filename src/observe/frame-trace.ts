/**
 * Writes each frame as a line of libp2p's log, for `libp2p:*:yamux:trace`.
 */
import { FIRST_MARK_VALUE, FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN, TYPE_DATA, TYPE_GO_AWAY, TYPE_PING, TYPE_WINDOW_UPDATE } from '../core/wire/frame.ts'
import { FrameTap } from './frame-tap.ts'
import type { ConnectionObserver } from './frame-tap.ts'
import type { Logger } from '@libp2p/interface'

const FLAG_NAMES: Array<[flag: number, name: string]> = [[FLAG_SYN, 'SYN'], [FLAG_ACK, 'ACK'], [FLAG_FIN, 'FIN'], [FLAG_RST, 'RST']]

/** A trace of both directions if `trace` is enabled, otherwise none */
export function createFrameTraces (log: Logger): readonly ConnectionObserver[] | undefined {
  // libp2p's loggers have `enabled`, its interface does not
  const { enabled: isEnabled } = log.trace as { enabled?: boolean }

  return isEnabled === true ? [{ sent: createFrameTrace(log, '->'), received: createFrameTrace(log, '<-') }] : undefined
}

/** One direction, from its first byte. `label` begins every line. */
export function createFrameTrace (log: Logger, label: string): FrameTap {
  return new FrameTap({
    onHeader: (type, flags, streamId, length) => {
      log.trace('%s %s', label, describeFrame(type, flags, streamId, length))

      return false
    },
    onBody: () => {},
    onBodyEnd: () => {}
  })
}

/**
 * `DATA 5 ACK 100 bytes`, `WINDOW_UPDATE 5 FIN +0`, `WINDOW_UPDATE 5 RST code 7`, `PING ACK 17`, `GO_AWAY code 0`, `TYPE_9 5 SYN 0`, and
 * `PING SYN mark 3` for a ping behind data, whose pong confirms that the data has arrived
 */
export function describeFrame (type: number, flags: number, streamId: number, length: number): string {
  const names = FLAG_NAMES.filter(([flag]) => (flags & flag) !== 0).map(([, name]) => `${name} `).join('')

  switch (type) {
    case TYPE_DATA:
      return `DATA ${streamId} ${names}${length} bytes`
    case TYPE_PING:
      return `PING ${names}${length < FIRST_MARK_VALUE ? length : `mark ${length - FIRST_MARK_VALUE}`}`
    case TYPE_GO_AWAY:
      return `GO_AWAY code ${length}`
    case TYPE_WINDOW_UPDATE:
      return `WINDOW_UPDATE ${streamId} ${names}${(flags & FLAG_RST) === 0 ? '+' : 'code '}${length}`
    default:
      // an unknown type, at which the session ends the connection
      return `TYPE_${type} ${streamId} ${names}${length}`
  }
}
