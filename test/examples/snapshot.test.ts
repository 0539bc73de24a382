// docs/examples/snapshot.ts. What is said of each cause is in test/muxer/snapshot.test.ts.
import { expect, test } from 'vitest'
import { startExample } from './fixtures/terminal.ts'

test('a table names the stream that the peer does not read, and the one that this side does not read', async () => {
  const terminal = startExample('snapshot.ts')

  await terminal.shows(/A timer of 10 ms took up to \d+ ms/)
  await terminal.shows(/'\/example\/read\/1' +│ undefined +│/)
  await terminal.shows(/'\/example\/never-read\/1' +│ 'credit' +│ 'normal' +│ [1-9]\d{2,} +│/)
  await terminal.shows(/'\/example\/news\/1' +│ 'reader' +│/)
  expect(await terminal.exitCode).toBe(0)
})
