// `node conformance/record/record.ts [name ...]`: runs all cases on each echo target that `npm run peers` has built, and keeps the results beside this file.
import { writeFileSync } from 'node:fs'
import { CASES } from '../cases/index.ts'
import { json } from '../output/json.ts'
import { runTarget } from './run-target.ts'
import { TARGETS } from './targets.ts'

const names = process.argv.slice(2)

for (const target of TARGETS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const { name, implementation, version } = target
  const results = await runTarget(target, CASES)
  writeFileSync(new URL(`${name}.json`, import.meta.url), json(`${implementation} ${version}`, results))
  console.info(`${implementation} ${version}: ${results.filter(({ outcome }) => outcome === 'failed').length} of ${results.length} cases fail`)
}
