// The suite itself: it passes on this muxer, and finds each wrong implementation by the case that is meant for it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CASES, select } from '../../conformance/cases/index.ts'
import { NEEDS } from '../../conformance/case.ts'
import { run } from '../../conformance/runner.ts'
import { createTransport } from '../../conformance/transport.ts'
import { listen } from '../../testing/conformance/echo-target.ts'
import { muxers } from '../../testing/muxers.ts'
import { ACK, DATA, ping, PING } from '../../testing/protocol/frames.ts'
import { createMutantTarget } from './fixtures/mutant-target.ts'
import { MUTANTS } from './fixtures/mutants.ts'
import type { Case, Need } from '../../conformance/case.ts'
import type { Result } from '../../conformance/runner.ts'
import type { EchoTarget } from '../../testing/conformance/echo-target.ts'
import type { Mutant } from './fixtures/mutants.ts'

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

const SMALL_BYTES = 16
const SLOW_PONG_MS = 1_100

test.concurrent.each<[does: string, number: string, mutant: Mutant]>([
  ['sends all data in frames of 16 bytes', '3.4', {
    ...RIGHT,
    sends: ({ type, flags, payload }) => type !== DATA || payload.byteLength <= SMALL_BYTES
      ? [{}]
      : Array.from({ length: Math.ceil(payload.byteLength / SMALL_BYTES) }, (_, i) => ({
        flags: i === 0 ? flags : 0,
        payload: payload.subarray(i * SMALL_BYTES, (i + 1) * SMALL_BYTES)
      }))
  }],
  ['answers each ping after a second', '4.2', {
    ...RIGHT,
    sends: ({ type, flags, length }, { send }) => {
      const isPong = type === PING && flags === ACK

      if (isPong) {
        setTimeout(() => { send(ping(length, ACK)) }, SLOW_PONG_MS)
      }

      return isPong ? [] : [{}]
    }
  }]
])('a right implementation that %s passes %s', async (_, number, mutant) => {
  const [one] = select(number)
  const { port, stop } = await createMutantTarget(mutant, portFor(one))
  const results = await runOn(port, [one])
  stop()

  expect(failures(results)).toEqual([])
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
