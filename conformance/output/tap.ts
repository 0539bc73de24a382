// For what reads the Test Anything Protocol, version 13. A case that is no `must` is a TODO there if it fails.
import type { Result } from '../runner.ts'

function directive ({ case: { level }, outcome, note }: Result): string {
  return outcome === 'not run' ? ` # SKIP ${note}` : outcome === 'failed' && level !== 'must' ? ` # TODO ${level}` : note == null ? '' : `: ${note}`
}

function diagnostics ({ outcome, expected, seen = [] }: Result): string {
  return outcome === 'failed' ? ['---', `expected: ${JSON.stringify(expected)}`, 'seen: |', ...seen.map(line => `  ${line}`), '...'].map(line => `  ${line}\n`).join('') : ''
}

export function tap (results: Result[]): string {
  const lines = results.map((result, index) => {
    const { case: { number, title }, outcome } = result

    return `${outcome === 'failed' ? 'not ok' : 'ok'} ${index + 1} - ${number} ${title}${directive(result)}\n${diagnostics(result)}`
  })

  return `TAP version 13\n1..${results.length}\n${lines.join('')}`
}
