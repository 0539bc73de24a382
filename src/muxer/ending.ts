/**
 * How a session ends when it is not closed in good order: the transport is gone, the peer has broken a
 * rule or says that it goes away, or somebody aborts. Every stream learns why, nothing stays behind.
 */
import { MuxerClosedError } from '@libp2p/interface'
import { GoAwayCode } from '../core/frame/frame.ts'
import { ProtocolError } from '../core/protocol-error.ts'
import { RemoteGoAwayError, TransportClosedError } from '../errors.ts'
import { logDebug, logError, reasonOf, toError } from '../thrown.ts'
import { abortBehindLastWords, abortTransport, closeTransport, cutTransport } from './goodbye.ts'
import type { Clock } from '../clock.ts'
import type { Goodbye } from './goodbye.ts'
import type { Housekeeping } from './housekeeping.ts'
import type { Pinger } from './pinger.ts'
import type { SessionDriver } from './session-driver.ts'
import type { StreamOpener } from './stream-opener.ts'
import type { Session } from '../core/session.ts'
import type { ConnectionMetrics } from '../metrics.ts'
import type { YamuxStream } from '../stream/stream.ts'
import type { Logger, MessageStream } from '@libp2p/interface'

export interface EndingInit {
  maConn: MessageStream
  clock: Clock
  log: Logger
  session: Session<YamuxStream>
  driver: SessionDriver
  opener: StreamOpener
  pinger: Pinger
  goodbye: Goodbye
  housekeeping: Housekeeping
  metrics: ConnectionMetrics | undefined
  /** Runs once, before the streams are told */
  onEnded (): void
  /** The list of streams is another */
  onStreamsChanged (): void
}

export class Ending {
  hasEnded = false
  /** Streams are being told, and what they do of it must not begin anew */
  #isResetting = false
  readonly #init: EndingInit

  constructor (init: EndingInit) {
    this.#init = init
  }

  /** The peer ends the session for a reason */
  onRemoteGoAway (code: number): void {
    if (!this.hasEnded) {
      const err = new RemoteGoAwayError(code)
      logError(this.#init, '%e', err)
      this.#end(stream => { stream.onEnded(err) })
      // behind the call that brought it: the transport may be in the middle of a write
      queueMicrotask(() => { cutTransport(this.#init.maConn, err) })
    }
  }

  /**
   * The peer has gone away in good order, and no stream is left: the connection is of no use to anybody. Nothing is written
   * any more: the peer may be closing its end, and then that fails.
   */
  onRemoteLeft (): void {
    closeTransport(this.#init.maConn, new RemoteGoAwayError(GoAwayCode.NormalTermination))
  }

  /** Nothing can be sent or received any more; `wasClosedHere`: that was to be expected */
  onTransportClosed (wasClosedHere: boolean, cause?: Error): void {
    if (this.hasEnded) {
      return
    }

    this.logClosed('the transport', undefined, cause)
    const hasPeerLeft = this.#init.session.remoteGoAwayCode === GoAwayCode.NormalTermination

    this.#end((stream, hasUnsent) => {
      const isComplete = stream.remoteWriteStatus === 'closed' && !hasUnsent

      if (isComplete && hasPeerLeft) {
        // it has no use for the FIN any more, however its transport ends
        stream.onFinHandedDown()
      } else if (cause == null && (wasClosedHere || isComplete)) {
        stream.onClosed()
      } else {
        stream.onEnded(new TransportClosedError({ cause }))
      }
    })
  }

  /** The transport refuses to send */
  onSendFailed (wasClosedHere: boolean, err: Error): void {
    const { maConn } = this.#init
    this.onTransportClosed(wasClosedHere, err)

    // whoever holds the connection learns that it is of no use; one that is being closed is theirs
    if (maConn.status === 'open') {
      abortTransport(maConn, err)
    }
  }

  /** The peer has broken a rule, or cannot be served: tells it why, and ends the connection */
  fail (err: Error & { code?: string }): void {
    if (this.isRunning) {
      this.#init.metrics?.onViolation(err.code ?? err.name)
      this.#resetAll(err, 'connection ended - %e')
      abortBehindLastWords(this.#init.maConn, this.#init.clock, err)
    }
  }

  /** What is no error becomes one */
  abort (reason: Error): void {
    if (this.isRunning) {
      this.#resetAll(toError(reason, 'The connection was aborted with'), 'aborted - %e')
    }
  }

  /** Nothing has begun to end the session */
  get isRunning (): boolean {
    return !this.hasEnded && !this.#isResetting
  }

  /** By whom, with which GoAway, and why */
  logClosed (who: string, code?: number, err?: Error): void {
    const { log, session } = this.#init
    logDebug(log, () => `closed by ${who} with ${session.registry.size} open streams${code === undefined ? '' : `, GoAway code ${code}`}${reasonOf(err)}`)
  }

  #resetAll (err: Error, message: string): void {
    const { session, driver } = this.#init
    this.#isResetting = true
    logError(this.#init, message, err)
    const code = err instanceof ProtocolError ? err.goAwayCode : GoAwayCode.InternalError
    this.logClosed('this side', code, err)

    for (const { owner } of [...session.registry.values()]) {
      owner?.abort(err)
    }

    session.goAway(code)
    driver.flushRegardless()
    this.#end(stream => { stream.abort(err) })
  }

  /** All that waits is settled */
  #end (endStream: (stream: YamuxStream, hasUnsent: boolean) => void): void {
    const { session, driver, opener, pinger, goodbye, housekeeping, metrics, onEnded, onStreamsChanged } = this.#init
    this.hasEnded = true
    onEnded()
    driver.stop()
    housekeeping.stop()
    opener.close(new MuxerClosedError())
    pinger.reject(new MuxerClosedError())
    goodbye.end()

    for (const state of [...session.registry.values()]) {
      const hasUnsent = state.sendQueue.byteLength > 0
      session.forget(state)
      onStreamsChanged()

      if (state.owner != null) {
        endStream(state.owner, hasUnsent)
      }
    }

    metrics?.end()
  }
}
