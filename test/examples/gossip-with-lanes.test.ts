// docs/examples/gossip-with-lanes. How long messages take is not for tests to say; benchmarks do.
import { expect, test } from 'vitest'
import { startExample } from './fixtures/terminal.ts'

test('gossip arrives beside bulk, urgent if it is told to, and its latency is shown', async () => {
  const terminal = startExample('gossip-with-lanes/start.ts')

  expect(await terminal.exitCode).toBe(0)
  // lane, median, longest, and what the transfers have
  await terminal.shows(/ without lanes +│ 'normal' +│ \d+ +│ \d+ +│ [\d.]*[1-9][\d.]* /)
  await terminal.shows(/ with lanes +│ 'urgent' +│ \d+ +│ \d+ +│ [\d.]*[1-9][\d.]* /)
}, 60_000)
