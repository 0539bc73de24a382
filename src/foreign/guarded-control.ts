/**
 * Guards a connection against a path control of the program. If that throws, rejects, or returns an unusable value, the connection ends
 * with an error that names the member. Until then nothing is held or withheld, so that the call in progress can finish.
 */
import { InvalidParametersError } from '@libp2p/interface'
import { NoControl } from '../core/path-control.ts'
import { NO_PEER_CONTROL } from '../core/peer-control.ts'
import { FIRST_MARK_VALUE } from '../core/wire/frame.ts'
import { PathControlError } from '../api/errors.ts'
import { toError, watch } from './values.ts'
import type { PathControl, PathInit, WritePlan } from '../core/path-control.ts'
import type { PeerControl } from '../core/peer-control.ts'

/** A smaller write would hold little but its frame header */
const LEAST_WRITE_BYTES = 1024

type Checks = Record<string, (value: any) => unknown>

/**
 * `onError` is called once for each part that fails, in a microtask, as the call that failed may be in the middle of a write. Throws
 * InvalidParametersError if a member is missing.
 */
export function guardControl (control: PathControl, init: PathInit, onError: (err: Error) => void): PathControl {
  const plan: WritePlan = { writeBytes: 0, quantumBytes: 0, extraQueueBytes: 0 }

  return guard(control, new NoControl(init), {
    peer: (peer?: PeerControl | null) => peer == null ? undefined : guard(peer, NO_PEER_CONTROL, {}, 'peer.', onError),
    fullWriteBytes: wholeBytes,
    planWrite: ({ writeBytes, quantumBytes, extraQueueBytes }: WritePlan) => {
      plan.writeBytes = wholeBytes(writeBytes)
      plan.quantumBytes = wholeBytes(quantumBytes)
      plan.extraQueueBytes = Math.floor(extraQueueBytes) || 0

      return plan
    },
    mark: value => {
      // otherwise the next write would begin with a mark again, without end
      if (control.isMarkDue || (value !== undefined && !(Number.isInteger(value) && value >= FIRST_MARK_VALUE && value < 2 * FIRST_MARK_VALUE))) {
        throw new Error(`it returned ${value}, isMarkDue is ${control.isMarkDue}`)
      }

      return value
    }
  }, '', onError)
}

/** A copy of `part` that checks what its members return, and acts as `none` once one of them has failed. `prefix` comes before their names in errors. */
function guard<Part extends object> (part: Part, none: Part, checks: Checks, prefix: string, onError: (err: Error) => void): Part {
  const [given, fallback]: any[] = [part, none]
  const guarded = {}
  let inner = given

  for (const member of [...Object.keys(fallback), ...Object.getOwnPropertyNames(NoControl.prototype)].filter(name => name in fallback && name !== 'constructor')) {
    const isMethod = typeof fallback[member] === 'function'

    if (!(member in part)) {
      throw new InvalidParametersError(`What pathControl returns has no ${prefix}${member}, it must be a PathControl`)
    }

    const fail = (thrown: unknown): void => {
      if (inner !== fallback) {
        inner = fallback
        queueMicrotask(() => { onError(new PathControlError(prefix + member, toError(thrown, 'It threw'))) })
      }
    }
    const read = (args?: unknown[]): unknown => {
      try {
        const value = isMethod ? inner[member](...args ?? []) : inner[member]
        watch(value, fail)

        return inner === given && member in checks ? checks[member](value) : value
      } catch (err) {
        fail(err)

        return isMethod ? fallback[member](...args ?? []) : fallback[member]
      }
    }

    Object.defineProperty(guarded, member, isMethod ? { value: (...args: unknown[]) => read(args) } : { get: () => read() })
  }

  return guarded as Part
}

/** Fractions would lose bytes, Infinity would make positions NaN, and after a tiny write another would follow, without end */
function wholeBytes (value: number): number {
  return value >= LEAST_WRITE_BYTES ? Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER) : LEAST_WRITE_BYTES
}
