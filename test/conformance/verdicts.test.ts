// The page of verdicts is what the records say, and every failure in them was looked into.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CASES } from '../../conformance/cases/index.ts'
import { CHECKED } from '../../conformance/record/checked.ts'
import { TARGETS } from '../../conformance/record/targets.ts'
import { render } from '../../conformance/record/verdicts.ts'
import type { RunRecord } from '../../conformance/output/json.ts'

const REPRODUCTIONS = new URL('../../conformance/reproductions/', import.meta.url)
const MAX_REPRODUCTION_LINES = 30

const records = TARGETS.map(({ name, implementation, version }) => {
  const record: RunRecord = JSON.parse(readFileSync(new URL(`../../conformance/record/${name}.json`, import.meta.url), 'utf8'))

  return { name, implementation, version, ...record, failed: record.cases.filter(({ outcome }) => outcome === 'failed') }
})

test('verdicts.md is rendered from the records', () => {
  expect(readFileSync(new URL('../../conformance/verdicts.md', import.meta.url), 'utf8')).toBe(render())
})

test.each(records)('the record of $name is of its version, and of all cases as they are', ({ target, implementation, version, cases }) => {
  expect(target).toBe(`${implementation} ${version}`)
  expect(cases.map(({ number, title, level, source }) => ({ number, title, level, source }))).toEqual(CASES.map(({ number, title, level, source }) => ({ number, title, level, source })))
})

test.each(records)('each failure of $name was checked, and nothing else', ({ name, failed }) => {
  expect(Object.keys(CHECKED[name] ?? {}).toSorted()).toEqual(failed.map(({ number }) => number).toSorted())
})

test('this muxer passes every case', () => {
  expect(records.find(({ name }) => name === 'libp2p-coalescing-yamux')?.failed).toEqual([])
})

test('each must that somebody fails has a reproduction of at most 30 lines', () => {
  const files = readdirSync(REPRODUCTIONS)
  const failed = new Set(records.flatMap(record => record.failed.filter(({ level }) => level === 'must').map(({ number }) => number)))

  expect(files.map(file => file.split('-')[0]).toSorted()).toEqual([...failed].toSorted())
  expect(files.filter(file => readFileSync(new URL(file, REPRODUCTIONS), 'utf8').split('\n').length > MAX_REPRODUCTION_LINES)).toEqual([])
})

test('numbers of cases are those of their groups, in order and once', () => {
  const numbers = CASES.map(({ number }) => number.split('.').map(Number))

  expect(numbers).toEqual(numbers.toSorted(([group, number], [otherGroup, otherNumber]) => group - otherGroup || number - otherNumber))
  expect(new Set(CASES.map(({ number }) => number)).size).toBe(CASES.length)
})
