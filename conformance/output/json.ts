// For programs: one object with all that is known of each case.
import type { Result } from '../runner.ts'

export interface RunRecord {
  target: string
  cases: RecordedCase[]
}

export interface RecordedCase {
  number: string
  title: string
  level: string
  source: string
  outcome: string
  note?: string
  expected?: string
  seen?: string[]
}

export function toRecord (target: string, results: Result[]): RunRecord {
  return {
    target,
    cases: results.map(({ case: { number, title, level, source }, outcome, note, expected, seen }) => ({ number, title, level, source, outcome, note, expected, seen }))
  }
}

export function json (target: string, results: Result[]): string {
  return `${JSON.stringify(toRecord(target, results), null, 2)}\n`
}
