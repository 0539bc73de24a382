// docs/options.md says what the comments in src/options say.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createOptionsPage, OPTIONS_PAGE } from '../../scripts/options-page.ts'

test('docs/options.md is what `npm run docs` makes', () => {
  expect(readFileSync(OPTIONS_PAGE, 'utf8')).toBe(createOptionsPage())
})
