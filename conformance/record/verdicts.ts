// `node conformance/record/verdicts.ts`: renders verdicts.md from the records.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { GROUPS } from '../cases/index.ts'
import { LEVELS } from '../case.ts'
import { CHECKED } from './checked.ts'
import { TARGETS } from './targets.ts'
import type { RecordedCase, RunRecord } from '../output/json.ts'
import type { RecordedTarget } from './targets.ts'

const MARKS: Record<string, string> = { passed: '✓', failed: '✗', noted: 'i', 'not run': '-' }
const file = new URL('../verdicts.md', import.meta.url)
const reproductions = readdirSync(new URL('../reproductions', import.meta.url))

interface Verdict extends RunRecord {
  name: string
  byNumber: Map<string, RecordedCase>
}

function read ({ name }: RecordedTarget): Verdict {
  const record: RunRecord = JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8'))

  return { ...record, name, byNumber: new Map(record.cases.map(one => [one.number, one])) }
}

function table (header: string[], rows: string[][]): string {
  return [header, header.map((_, index) => index === 0 ? '---' : ':-:'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

function counts (verdicts: Verdict[]): string {
  return table(['', ...LEVELS.filter(level => level !== 'informational'), 'not run'], verdicts.map(({ target, cases }) => {
    const ofLevel = LEVELS.filter(level => level !== 'informational').map(level => {
      const ran = cases.filter(one => one.level === level && one.outcome !== 'not run')

      return `${ran.filter(({ outcome }) => outcome !== 'failed').length} of ${ran.length}`
    })

    return [target, ...ofLevel, String(cases.filter(({ outcome }) => outcome === 'not run').length)]
  }))
}

function names (verdicts: Verdict[]): string[] {
  return verdicts.map(({ target }) => target.slice(0, target.lastIndexOf(' ')))
}

function grid (verdicts: Verdict[]): string {
  return GROUPS.map(({ number, name, cases }) => {
    const rows = cases.filter(({ level }) => level !== 'informational').map(one => [`${one.number} ${one.title}`, one.level, ...verdicts.map(({ byNumber }) => MARKS[byNumber.get(one.number)?.outcome ?? 'not run'])])

    return `### ${number} ${name}\n\n${table(['', 'level', ...names(verdicts)], rows)}`
  }).join('\n\n')
}

function failures (verdicts: Verdict[]): string {
  return verdicts.filter(({ cases }) => cases.some(({ outcome }) => outcome === 'failed')).map(({ name, target, cases }) => {
    const rows = cases.filter(({ outcome }) => outcome === 'failed').map(({ number, level, title }) => {
      const reproduction = reproductions.find(reproduction => reproduction.startsWith(`${number}-`))
      const link = reproduction == null ? '' : ` [Reproduction](reproductions/${reproduction})`

      return `- **${number}** (${level}) ${title}: ${CHECKED[name]?.[number] ?? 'not checked.'}${link}`
    })

    return `### ${target}\n\n${rows.join('\n')}`
  }).join('\n\n')
}

function notes (verdicts: Verdict[]): string {
  const noted = GROUPS.flatMap(({ cases }) => cases).filter(({ number }) => verdicts.some(({ byNumber }) => byNumber.get(number)?.note != null && byNumber.get(number)?.outcome === 'noted'))

  return table(['', ...names(verdicts)], noted.map(({ number, title }) => [`${number} ${title}`, ...verdicts.map(({ byNumber }) => byNumber.get(number)?.outcome === 'noted' ? byNumber.get(number)?.note ?? '' : MARKS[byNumber.get(number)?.outcome ?? 'not run'])]))
}

export function render (): string {
  const verdicts = TARGETS.map(read)

  return `# Verdicts

The results of seven implementations. For each, an echo target from [peers](../peers) listened; as a dialler it may do otherwise. \`node conformance/record/record.ts\` makes the records in [record](record), \`node conformance/record/verdicts.ts\` this page.

Cases that pass:

${counts(verdicts)}

## Cases

✓ passes, ✗ fails, i has no verdict ([left open](#what-is-left-open)), - was not run.

${grid(verdicts)}

## What fails

With the cause of each, from its source code.

${failures(verdicts)}

## What is left open

What the implementations do where the specification leaves it open.

${notes(verdicts)}
`
}

if (import.meta.main) {
  writeFileSync(file, render())
}
