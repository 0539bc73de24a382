// What the recipes put in the place of Noise's crypto and of libp2p's modules: it is made of what is installed, carries what is sent, and saves calls.
import { beforeAll, describe, expect, test } from 'vitest'
import { recipes } from '../../benchmarks/recipes/list-of-recipes.ts'
import { byId } from '../../testing/programs/names.ts'

/** Of stock, whose every message is a send() of its own; the pair verifies all that arrives */
async function writesPerMegabyte (id: string, variant: string): Promise<number> {
  const { socketWritesPerMegabyte = NaN } = await byId('recipe', id, recipes).measure('1x4k', 'stock', variant, () => {})

  return socketWritesPerMegabyte
}

describe('over TCP', () => {
  let without: number

  beforeAll(async () => { without = await writesPerMegabyte('cork', 'without') })

  test.each([
    ['the crypto for Noise saves the calls for the pieces of small messages', 'noise-crypto', 'noise-crypto', 0.6],
    ['cork() around a send() saves the calls for all pieces but one', 'cork', 'cork-write', 0.5],
    ['cork() around a turn saves the calls for all its records but a few', 'cork', 'cork-turn', 0.1]
  ])('%s', async (_, id, variant, part) => {
    expect(await writesPerMegabyte(id, variant)).toBeLessThan(part * without)
  })
})

test('over WebSockets, one message for a send() saves the calls for all pieces but one', async () => {
  expect(await writesPerMegabyte('join-message', 'join-message')).toBeLessThan(0.5 * await writesPerMegabyte('join-message', 'without'))
})
