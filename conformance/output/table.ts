// For people: a line a case as they run, what was expected and seen of those that fail, and a summary.
import { LEVELS } from '../case.ts'
import type { Group } from '../case.ts'
import type { Outcome, Result } from '../runner.ts'

const MARKS: Record<Outcome, string> = { passed: '✓', failed: '✗', noted: 'i', 'not run': '-' }

export class Table {
  readonly #groups: Group[]
  readonly #write: (text: string) => void
  readonly #caseCount: number
  #ranCount = 0
  #group: Group | undefined

  constructor (groups: Group[], caseCount: number, write: (text: string) => void) {
    this.#groups = groups
    this.#caseCount = caseCount
    this.#write = write
  }

  add ({ case: one, outcome, note, expected, seen }: Result): void {
    const group = this.#groups.find(({ cases }) => cases.includes(one))

    if (group !== this.#group) {
      this.#group = group
      this.#write(`\n${group?.number} ${group?.name}\n`)
    }

    const progress = `${++this.#ranCount}/${this.#caseCount}`.padStart(7)
    this.#write(`${progress}  ${MARKS[outcome]} ${one.number.padEnd(5)} ${one.level.padEnd(13)} ${one.title}${outcome === 'noted' ? `: ${note}` : ''}\n`)

    if (outcome === 'failed') {
      const reports = one.reports == null ? [] : [`      others that went wrong here: ${one.reports.join(', ')}`]
      const lines = [`rule: ${one.rule}`, `      ${one.source}`, ...reports, `expected ${expected}`, 'seen on the wire (> sent, < received):', ...(seen ?? []).map(line => `  ${line}`)]
      this.#write(lines.map(line => `${' '.repeat(15)} ${line}\n`).join(''))
    }
  }

  end (results: Result[]): void {
    const rows = LEVELS.filter(level => results.some(result => result.case.level === level)).map(level => {
      const ofLevel = results.filter(result => result.case.level === level)
      const counts = Object.keys(MARKS).map(outcome => [ofLevel.filter(result => result.outcome === outcome).length, outcome] as const)

      return `${level.padEnd(13)} ${counts.filter(([count]) => count > 0).map(([count, outcome]) => `${count} ${level === 'informational' && outcome === 'failed' ? 'could not be noted' : outcome}`).join(', ')}\n`
    })

    const reasons = Map.groupBy(results.filter(({ outcome }) => outcome === 'not run'), ({ note }) => note)
    const notRun = [...reasons].map(([note, cases]) => `not run: ${cases.map(one => one.case.number).join(', ')} ${note}\n`)

    this.#write(`\n${rows.join('')}${notRun.join('')}`)
  }
}
