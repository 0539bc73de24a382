// Figures, tables, charts and their descriptions are those that were recorded.
import { expect, test } from 'vitest'
import { renderTree } from '../../benchmarks/render/tree.ts'

const { files, unused } = renderTree()

test('`npm run render` changes nothing', () => {
  expect(files.flatMap(({ differences }) => differences), 'Run `npm run render`').toEqual([])
})

test('what is recorded, and what is defined of it, is used in some document', () => {
  expect(unused).toEqual([])
})
