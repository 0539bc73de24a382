// Runs cases one after the other, each on a connection of its own.
import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_CASE_MS, MAX_CONNECTIONS_PER_CASE } from './bounds.ts'
import { NEEDS } from './case.ts'
import { preamble } from './preamble.ts'
import { Target } from './target.ts'
import { Failure, Inapplicable } from './transcript.ts'
import type { Case, Need } from './case.ts'
import type { MessageStream } from '@libp2p/interface'

export type Outcome = 'passed' | 'failed' | 'noted' | 'not run'

export interface Result {
  case: Case
  outcome: Outcome
  /** Why it was not run, or what was noted */
  note?: string
  /** Of a failure */
  expected?: string
  seen?: string[]
  durationMs: number
}

export interface RunInit {
  cases: Case[]
  connect (): Promise<MessageStream>
  /** Whether the suite dials */
  isDialler: boolean
  /** What is there at the other end, beside a listener */
  has: Need[]
  /** The protocol of streams in libp2p */
  protocol?: string
  onResult? (result: Result): void
}

/** After so many cases without a connection, whoever was there is gone */
const MAX_REFUSALS = 2
const A_CONNECTION = 'a connection to be taken'

/** Rejects when no connection can be made at the beginning: then there is nobody to test */
export async function run (init: RunInit): Promise<Result[]> {
  const first = await init.connect()
  first.abort(new Error('Only looked whether somebody is there'))
  const results: Result[] = []
  let refusals = 0

  for (const one of init.cases) {
    const result: Result = refusals < MAX_REFUSALS
      ? await runCase(one, init)
      : { case: one, outcome: 'not run', note: 'as the target takes no connection any more', durationMs: 0 }

    if (refusals < MAX_REFUSALS) {
      refusals = result.expected === A_CONNECTION ? refusals + 1 : 0
    }

    results.push(result)
    init.onResult?.(result)
  }

  return results
}

async function runCase (one: Case, { connect, isDialler, has, protocol }: RunInit): Promise<Result> {
  const startMs = performance.now()
  const result = (outcome: Outcome, rest: Partial<Result> = {}): Result => ({ case: one, outcome, durationMs: performance.now() - startMs, ...rest })

  if (one.needs !== 'listener' && !has.includes(one.needs)) {
    return result('not run', { note: `for want of a target that ${NEEDS[one.needs]}` })
  }

  const targets: Target[] = []
  const over = new AbortController()
  const another = async (): Promise<Target> => {
    if (targets.length === MAX_CONNECTIONS_PER_CASE) {
      throw new Error(`Case ${one.number} makes more than ${MAX_CONNECTIONS_PER_CASE} connections, which none may`)
    }

    const connection = await connect().catch(error => { throw new Failure(A_CONNECTION, [String(error.message)]) })
    const target = new Target(connection, { isDialled: isDialler, preamble: protocol == null ? new Uint8Array(0) : preamble(protocol), another })
    targets.push(target)

    // a case that was given up may still be talking
    if (over.signal.aborted) {
      target.leave()
    }

    return target
  }

  try {
    const target = await another()
    const note = await Promise.race([one.talk(target), failLate(target, over.signal)])

    return typeof note === 'string' ? result('noted', { note }) : result('passed')
  } catch (error: any) {
    if (error instanceof Failure) {
      return result('failed', { expected: error.expected, seen: error.seen })
    }

    if (error instanceof Inapplicable) {
      return result('not run', { note: error.message })
    }

    throw error
  } finally {
    over.abort()
    targets.forEach(target => { target.leave() })
  }
}

async function failLate (target: Target, signal: AbortSignal): Promise<never> {
  await sleep(MAX_CASE_MS, undefined, { signal })
  target.check(`the case to be over within ${MAX_CASE_MS / 1000} s`, false)
  throw new Error('unreachable')
}

/** Whether anything was tried at all */
export function hasRun (results: Result[]): boolean {
  return results.some(({ outcome }) => outcome !== 'not run')
}

/** The exit status: `must` alone decides */
export function passes (results: Result[]): boolean {
  return results.every(({ case: { level }, outcome }) => level !== 'must' || outcome !== 'failed')
}
