// What CI runs at the same time: all of it has to pass, and each lane's words stay together.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('../.ci/side-by-side.js', import.meta.url))

function run (...lanes: string[]): { status: number | null, stdout: string } {
  return spawnSync(process.execPath, [script, ...lanes], { encoding: 'utf8' })
}

test('lanes that pass pass together, and what each says stands together', () => {
  const { status, stdout } = run('echo one; sleep 0.5; echo two', 'echo three; sleep 0.5; echo four >&2')

  expect(status).toBe(0)
  expect(stdout).toContain('\none\ntwo\n')
  expect(stdout).toContain('\nthree\nfour\n')
})

test('a lane that fails in any of its commands fails all, and ends what the others have started', () => {
  const { status, stdout } = run('echo begun; (exit 3); echo never', 'sleep 1000 && echo late')

  expect(status).toBe(3)
  expect(stdout).not.toMatch(/^(never|late)$/m)
})

test('what a failed lane has said stands last, where one looks for it', () => {
  const { stdout } = run('sleep 0.5; echo why; exit 1', 'trap "echo ended; exit 1" TERM; while true; do sleep 0.1; done')

  expect(stdout).toMatch(/\nended\n[^]*\nwhy\n$/)
})
