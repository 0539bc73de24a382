// The suite itself: it passes on this muxer, and finds each wrong implementation by the case that is meant for it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CASES, select } from '../../conformance/cases/index.ts'
import { NEEDS } from '../../conformance/case.ts'
import { run } from '../../conformance/runner.ts'
import { createTransport } from '../../conformance/transport.ts'
import { listen } from '../../testing/conformance/echo-target.ts'
import { muxers } from '../../testing/muxers.ts'
import { createMutantTarget } from './fixtures/mutant-target.ts'
import { MUTANTS } from './fixtures/mutants.ts'
import type { Case, Need } from '../../conformance/case.ts'
import type { Result } from '../../conformance/runner.ts'
import type { EchoTarget } from '../../testing/conformance/echo-target.ts'

const RIGHT = { foundBy: '' }

let echoes: Record<'quiet' | 'opening', EchoTarget>

beforeAll(async () => {
  const factory = (await muxers.ours())({})
  const [quiet, opening] = await Promise.all([false, true].map(async opens => listen('127.0.0.1:0', { factory, opens })))
  echoes = { quiet, opening }
})

afterAll(async () => {
  await Promise.all(Object.values(echoes).map(async echo => echo.stop()))
})

async function runOn (port: number, cases: Case[]): Promise<Result[]> {
  const transport = await createTransport({ host: '127.0.0.1', port, listen: false, libp2p: false })

  return run({ cases, connect: transport.connect, isDialler: true, has: Object.keys(NEEDS) as Need[] })
}

function failures (results: Result[]): unknown[] {
  return results.filter(({ outcome }) => outcome === 'failed').map(({ case: { number }, expected, seen }) => ({ number, expected, seen }))
}

function portFor ({ needs }: Case): number {
  const echo = needs.includes('opener') ? echoes.opening : echoes.quiet

  return Number(echo.address.split(':')[1])
}

test('every must and should has a mutant', () => {
  const found = Object.values(MUTANTS).map(({ foundBy }) => foundBy)

  expect(CASES.filter(({ level, number }) => level !== 'informational' && !found.includes(number)).map(({ number }) => number)).toEqual([])
})

test('the right implementation behind the mutants passes every case, through a mutant without a fault', async () => {
  const { port, stop } = await createMutantTarget(RIGHT, Number(echoes.opening.address.split(':')[1]))

  expect(failures(await runOn(port, CASES))).toEqual([])
  stop()
})

describe('the suite', () => {
  test.concurrent.each(Object.entries(MUTANTS))('finds a target that %s', async (_, mutant) => {
    const [one] = select(mutant.foundBy)
    const { port, stop } = await createMutantTarget(mutant, portFor(one))
    const [{ outcome, expected }] = await runOn(port, [one])
    stop()

    expect(outcome, expected).toBe('failed')
  })
})
