// The conformance suite finds in each implementation what its record says.
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CASES } from '../../conformance/cases/index.ts'
import { runTarget } from '../../conformance/record/run-target.ts'
import { TARGETS } from '../../conformance/record/targets.ts'
import type { RunRecord } from '../../conformance/output/json.ts'

/** A busy machine may answer a case too late, but not again and again */
const ATTEMPTS = 3

// most of the time is spent waiting for what does not come
describe.concurrent('the conformance suite fails', () => {
  for (const target of TARGETS) {
    // a toolchain may not be here
    test.skipIf(!existsSync(target.command[0]))(`${target.name} in the cases that its record says`, async () => {
      const { cases }: RunRecord = JSON.parse(readFileSync(new URL(`../../conformance/record/${target.name}.json`, import.meta.url), 'utf8'))
      const recorded = new Map(cases.map(({ number, outcome }) => [number, outcome === 'failed']))
      let differing = await runTarget(target, CASES)

      for (let attempt = 1; ; attempt++) {
        differing = differing.filter(({ case: { number }, outcome }) => (outcome === 'failed') !== recorded.get(number))

        if (differing.length === 0 || attempt === ATTEMPTS) {
          break
        }

        differing = await runTarget(target, differing.map(({ case: each }) => each))
      }

      expect(differing.map(({ case: { number, title }, outcome, expected }) => ({ number, title, outcome, expected }))).toEqual([])
    })
  }
})
