// docs/examples/README.md says of all that is there how it is run.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './fixtures/terminal.ts'

const examples = readdirSync(join(root, 'docs/examples')).filter(name => name !== 'README.md')
const readme = readFileSync(join(root, 'docs/examples/README.md'), 'utf8')

test.each(examples)('README.md says how %s is run', name => {
  expect(readme).toContain(`npm run example docs/examples/${name}`)
})

test.each(examples)('%s has a test of its own', name => {
  expect(existsSync(join(root, 'test/examples', `${parse(name).name}.test.ts`))).toBe(true)
})

test('README.md runs nothing that is not there', () => {
  const run = [...readme.matchAll(/npm run example docs\/examples\/([^ `]+)/g)].map(([, path]) => path)
  const there = readdirSync(join(root, 'docs/examples'), { recursive: true, encoding: 'utf8' })

  expect(run.filter(path => !there.includes(path))).toEqual([])
})
