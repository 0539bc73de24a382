// The conformance suite finds in each implementation what its record says.
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CASES } from '../../conformance/cases/index.ts'
import { runTarget } from '../../conformance/record/run-target.ts'
import { TARGETS } from '../../conformance/record/targets.ts'
import type { RunRecord } from '../../conformance/output/json.ts'

describe.each(TARGETS)('$name', target => {
  // a toolchain may not be here
  test.skipIf(!existsSync(target.command[0]))('fails the cases that its record says', async () => {
    const { cases }: RunRecord = JSON.parse(readFileSync(new URL(`../../conformance/record/${target.name}.json`, import.meta.url), 'utf8'))
    const results = await runTarget(target, CASES)
    const failed = results.filter(({ outcome }) => outcome === 'failed')

    expect(failed.map(({ case: { number } }) => number), JSON.stringify(failed, undefined, 2)).toEqual(cases.filter(({ outcome }) => outcome === 'failed').map(({ number }) => number))
  })
})
