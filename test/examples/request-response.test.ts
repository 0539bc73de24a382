// docs/examples/request-response.ts, which asks and answers itself.
import { beforeAll, expect, test } from 'vitest'
import { startExample } from './fixtures/terminal.ts'
import type { Terminal } from './fixtures/terminal.ts'

let terminal: Terminal

beforeAll(async () => {
  terminal = startExample('request-response.ts')
  await terminal.shows(/^200 together/m)
  expect(await terminal.exitCode).toBe(0)
})

test('a request is answered', async () => {
  await terminal.shows(/^1, 2, 3: 6$/m)
})

test('a request that cannot be answered gets the reason', async () => {
  await terminal.shows(/^1, two: Error: two is not a number$/m)
})

test('a request that takes too long ends, at both ends', async () => {
  // the peer hears of it at once, not when the connection ends
  await terminal.shows(/^slowly: TimeoutError.*\nNobody waits for this sum any more\n200 together/m)
})

test('200 requests together are answered each', async () => {
  const [sums] = await terminal.shows(/^200 together: (.*)$/m)
  expect(sums.split(' ').map(Number)).toEqual(Array.from({ length: 200 }, (_, i) => 2 * i))
})
