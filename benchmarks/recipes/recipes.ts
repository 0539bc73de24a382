// What the recipes of docs/recipes.md are worth: the same work with each muxer, as it comes and with the recipe.
import { byId } from '../../testing/programs/names.ts'
import { runBenchmark } from '../../testing/programs/run.ts'
import { parseOptions, plainContestants } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { renderSamples } from '../harness/table.ts'
import { canLayLink } from '../uplink/link.ts'
import { recipes, URGENT_SECONDS } from './list-of-recipes.ts'
import type { Sample } from '../harness/samples.ts'
import type { Metrics } from '../report/metrics.ts'

const legend = [
  'Two new processes for each measurement; everything that arrives is verified. With a recipe, both ends have it.',
  'Of noise-crypto, cork and join-message: payload that arrives in a second over the loopback interface, the CPU time of both processes, and',
  'the calls of write and writev that the sender makes. With WebSockets, those of the process that dials.',
  `Of notsent-lowat: the benchmark uplink for ${URGENT_SECONDS} s, with the urgent stream marked where the muxer has lanes. The setting is that of both namespaces.`,
  '× without  within each round: median (lowest–highest)'
].join('\n')

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds }, own } = parseOptions({
    contestants: plainContestants,
    usual: 'ours,stock,mplex',
    counts: { rounds: 5 },
    own: { only: { takes: 'recipes', isList: true, isVariant: true, about: 'some of them', default: recipes.map(({ id }) => id).join() } }
  })
  const asked = own.only.map(id => byId('recipe', id, recipes)).filter(({ needsLink }) => !needsLink || canLayLink('npm run bench recipes'))
  const tables: string[] = []
  const measured: Array<Sample<keyof Metrics>> = []

  for (const { label, work, variants, columns, measure, describe } of asked) {
    const contestants = muxers.flatMap(({ muxer }) => variants.map(variant => ({ id: `${muxer}-${variant.id}`, label: `${muxer}, ${variant.label}`, muxer, variant })))
    const groups = work.flatMap(row => muxers.map(({ muxer }) => ({ id: `${row.id}, ${muxer}`, label: `${row.label}\n${muxer}` })))
    const samples: Array<Sample<keyof Metrics>> = []

    for (const row of work) {
      const rounded = await runRounds({
        row,
        contestants,
        rounds,
        measure: async ({ muxer, variant }) => ({ muxer, variant, metrics: await measure(row.id, muxer, variant.id, stopAtEnd) }),
        describe: ({ metrics }) => describe(metrics)
      })

      // a group of the table is one muxer's, a row of the record has all
      samples.push(...rounded.map(({ round, metrics: { muxer, variant, metrics } }) => ({ rowId: `${row.id}, ${muxer}`, muxer: variant.id, round, metrics })))
      measured.push(...rounded.map(({ round, metrics: { muxer, variant, metrics } }) => ({ rowId: row.id, muxer: `${muxer}-${variant.id}`, round, metrics })))
    }

    tables.push(`\n${label}\n${renderSamples(samples, groups, variants, columns)}`)
  }

  await report({ tables, extent: `${rounds} rounds`, legend, json, measured: { samples: measured } })
})
