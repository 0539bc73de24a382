// docs/examples/upload-limit. What the limit does, and when, is in test/path/upload-limit.test.ts, in virtual time.
import { expect, test } from 'vitest'
import { startExample } from './fixtures/terminal.ts'

test('all bytes of both uploads arrive, without a limit and with one', async () => {
  const terminal = startExample('upload-limit/start.ts')

  expect(await terminal.exitCode).toBe(0)
  await terminal.shows(/ without a limit +│ '2000000 \+ 2000000' +│/)
  await terminal.shows(/ with 1 MB\/s +│ '2000000 \+ 2000000' +│/)
}, 60_000)
