/**
 * Guards a connection against a path control of the program. If that throws, or returns a value that no write can have, the connection ends
 * with an error that names the member. Until then nothing is held, so that the call in progress can finish.
 */
import { InvalidParametersError } from '@libp2p/interface'
import { NoControl } from '../core/path-control.ts'
import { FIRST_MARK_VALUE } from '../core/wire/frame.ts'
import { toError } from './values.ts'
import type { PathControl, PathInit, WritePlan } from '../core/path-control.ts'

/** A smaller write would hold little but its frame header */
const LEAST_WRITE_BYTES = 1024

/**
 * `onError` is called once, in a microtask, as the call that failed may be in the middle of a write. Throws InvalidParametersError if a
 * member is missing.
 */
export function guardControl (control: PathControl, init: PathInit, onError: (err: Error) => void): PathControl {
  const none: any = new NoControl(init)
  const guarded = {}
  const plan: WritePlan = { writeBytes: 0, quantumBytes: 0, extraQueueBytes: 0 }
  let inner: any = control

  const checks: Record<string, (value: any) => unknown> = {
    fullWriteBytes: wholeBytes,
    planWrite: ({ writeBytes, quantumBytes, extraQueueBytes }: WritePlan) => {
      plan.writeBytes = wholeBytes(writeBytes)
      plan.quantumBytes = wholeBytes(quantumBytes)
      plan.extraQueueBytes = Math.floor(extraQueueBytes) || 0

      return plan
    },
    mark: value => {
      // otherwise the next write would begin with a mark again, without end
      if (inner.isMarkDue || (value !== undefined && !(value >= FIRST_MARK_VALUE && value < 2 * FIRST_MARK_VALUE))) {
        throw new Error(`it returned ${value}, isMarkDue is ${inner.isMarkDue}`)
      }

      return value
    }
  }

  for (const member of [...Object.keys(none), ...Object.getOwnPropertyNames(NoControl.prototype)]) {
    const isMethod = typeof none[member] === 'function'

    if (!(member in control)) {
      throw new InvalidParametersError(`What pathControl returns has no ${member}, it must be a PathControl`)
    }

    const read = (args?: unknown[]): unknown => {
      try {
        const value = isMethod ? inner[member](...args ?? []) : inner[member]

        return inner === control && member in checks ? checks[member](value) : value
      } catch (err) {
        if (inner !== none) {
          inner = none
          queueMicrotask(() => { onError(Object.assign(new Error(`${member} of the pathControl failed: ${toError(err, 'It threw').message}`), { cause: err })) })
        }

        return isMethod ? none[member](...args ?? []) : none[member]
      }
    }

    Object.defineProperty(guarded, member, isMethod ? { value: (...args: unknown[]) => read(args) } : { get: () => read() })
  }

  return guarded as PathControl
}

/** Fractions of bytes would be lost, and a write of next to nothing would be followed by another without end */
function wholeBytes (value: number): number {
  return value >= LEAST_WRITE_BYTES ? Math.floor(value) : LEAST_WRITE_BYTES
}
