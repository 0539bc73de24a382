// Every row of the table of hazards, and every promise of SECURITY.md, names tests that there are.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const tests = new URL('../', import.meta.url)

interface Reference {
  row: string
  file: string
  name: string
}

/** The last cell of each row holds references: `file` name, separated by commas */
function references (markdown: string): Reference[] {
  const rows = markdown.split('\n').filter(line => /^\| (?!---)/.test(line) && line.includes('| `'))

  return rows.flatMap(row => {
    const cells = row.split('|').slice(1, -1)

    return cells[cells.length - 1].split(/, (?=`)/).map(reference => {
      const [, file = '', name = ''] = /^ ?`([\w/-]+)` (.*?) ?$/.exec(reference) ?? []

      return { row: cells[0].trim(), file, name }
    })
  })
}

const documents = {
  'test/hazards/README.md': new URL('hazards/README.md', tests),
  'SECURITY.md': new URL('../SECURITY.md', tests)
}

test.each(Object.entries(documents))('each row of %s names tests that there are', (_, document) => {
  const named = references(readFileSync(document, 'utf8'))
  const missing = named.filter(({ file, name }) => {
    const text = readFileSync(fileURLToPath(new URL(`${file}.test.ts`, tests)), 'utf8').replaceAll('\\\'', '\'')

    return name.length < 8 || !text.includes(name)
  })

  expect(named.length).toBeGreaterThan(10)
  expect(missing).toEqual([])
})
