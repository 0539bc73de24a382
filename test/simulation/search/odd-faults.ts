// What applications throw that is no error, or cannot be printed, and the ways in which a listener may fail.
import { foreignRejected } from './foreign.ts'
import { ApplicationFault } from './run.ts'
import type { Run } from './run.ts'
import type { Side } from './side.ts'
import type { Random } from '../../../testing/simulation/random.ts'
import type { Logger } from '@libp2p/interface'

const values: Array<() => unknown> = [
  () => undefined,
  () => null,
  () => 'thrown by a handler',
  () => Symbol('thrown by a handler'),
  () => Object.create(null),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()

    return proxy
  },
  () => Object.defineProperties(new ApplicationFault('not to be read', { isOurs: true }), { message: { get: refuse }, stack: { get: refuse } }),
  () => new ApplicationFault('thrown by a handler', { isOurs: true })
]

/** What a listener that fails in this way returns; those that are late are known a few microtasks later */
interface Way {
  isLate: boolean
  raise (value: unknown): unknown
}

const ways: Way[] = [
  { isLate: false, raise: value => { throw value } },
  { isLate: true, raise: async value => { throw value } },
  { isLate: true, raise: foreignRejected },
  { isLate: true, raise: value => ({ then: (_: unknown, reject: (reason: unknown) => void) => { reject(value) } }) },
  { isLate: true, raise: value => ({ then: () => { throw value } }) }
]

export function oddValue (random: Random): unknown {
  return random.pick(values)()
}

/** Aborting takes an error, and is given anything */
export function reasonToAbort (run: Run, side: Side): Error {
  const reason = new ApplicationFault('aborted by the application')

  return run.isUpTo('oddFaults') && side.isOurs && side.random.chance(0.5) ? oddValue(side.random) as Error : reason
}

/** For a handler to throw: what has it called sees something else */
export function oddFault (random: Random): ApplicationFault {
  const value = oddValue(random)
  const { isLate, raise } = random.pick(ways)

  return new ApplicationFault('raised by a handler', { isOurs: true, isLate, raise: () => raise(value) })
}

/** A log that somebody reads: libp2p's formats errors then, and only then */
export function eagerLogger (): Logger {
  const write = (format: string, ...values: any[]): void => {
    for (const [index, [placeholder]] of [...String(format).matchAll(/%[a-zA-Z]/g)].entries()) {
      print(placeholder, values[index])
    }
  }

  return Object.assign((format: string, ...values: any[]) => { write(format, ...values) }, {
    enabled: true,
    error: write,
    trace: Object.assign(() => {}, { enabled: false }),
    newScope: () => eagerLogger()
  }) as Logger
}

/** As libp2p's logger does it */
function print (placeholder: string, value: any): string {
  if (placeholder !== '%e') {
    return String(value)
  }

  return value == null ? 'undefined' : `${value.message} ${value.stack} ${value.errors}`
}

function refuse (): never {
  throw new ApplicationFault('cannot be printed')
}
