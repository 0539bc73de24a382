// For what shows tests: JUnit's XML. Only a `must` is a failure there; other cases that fail are skipped ones, with what was seen.
import { GROUPS } from '../cases/index.ts'
import type { Result } from '../runner.ts'

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;' }

function escape (text: string): string {
  return text.replaceAll(/[&<>"\n]/g, character => ENTITIES[character])
}

function body ({ case: { level }, outcome, note, expected = '', seen = [] }: Result): string {
  if (outcome === 'failed') {
    return level === 'must'
      ? `<failure message="${escape(`expected ${expected}`)}">${escape(seen.join('\n'))}</failure>`
      : `<skipped message="${escape(`${level}, expected ${expected}\n${seen.join('\n')}`)}"/>`
  }

  return outcome === 'not run' ? `<skipped message="${escape(note ?? '')}"/>` : note == null ? '' : `<system-out>${escape(note)}</system-out>`
}

export function junit (target: string, results: Result[]): string {
  const suites = GROUPS.flatMap(({ number, name, cases }) => {
    const ofGroup = results.filter(result => cases.includes(result.case))
    const failures = ofGroup.filter(({ case: { level }, outcome }) => level === 'must' && outcome === 'failed').length
    const rows = ofGroup.map(result => {
      const { number, level, title } = result.case

      return `    <testcase classname="${escape(target)}" name="${escape(`${number} (${level}) ${title}`)}" time="${(result.durationMs / 1000).toFixed(3)}">${body(result)}</testcase>\n`
    })

    return rows.length === 0 ? [] : [`  <testsuite name="${number} ${name}" tests="${rows.length}" failures="${failures}">\n${rows.join('')}  </testsuite>\n`]
  })

  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="yamux conformance">\n${suites.join('')}</testsuites>\n`
}
