// The steps that `npm run bench steps` times: each does its work, and its check sees whether it did.
import { expect, test } from 'vitest'
import { nsPerOperation } from '../../benchmarks/micro/timed.ts'
import { createSteps } from '../../benchmarks/micro/way.ts'

const steps = Object.entries(await createSteps())

test.each(steps)('a run of "%s" passes its check, again and again', async (_, { run, check }) => {
  // more than a window of each stream goes through
  for (let i = 0; i < 500; i++) {
    await run()
    check()
  }
})

const fresh = Object.entries(await createSteps())

test.each(fresh)('"%s" does not pass when it does nothing', (_, { check }) => {
  expect(check).toThrow(/instead of/)
})

test('a run that does not pass its check has no time', async () => {
  const run = { run: () => {}, check: () => { throw new Error('0 bytes came through instead of 1') } }

  await expect(nsPerOperation({ run }, 1, 1)).rejects.toThrow('instead of')
})
