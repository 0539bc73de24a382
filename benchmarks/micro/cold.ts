// How long a lone request takes while V8's compilers stand still, beside mplex: what code costs a node that has many connections and
// runs little of it often. Run with --no-opt --no-sparkplug --no-maglev (list.ts).
import { parseRecordPath } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { figure, format, renderSamples, times } from '../harness/table.ts'
import { contestants, prepare, works } from './lone-requests.ts'
import type { Sample } from '../harness/samples.ts'

const ROUNDS = 8
/** A thread's clock of CPU time moves in steps of 4 ms; these take 100 and more */
const REQUESTS = 2000

const columns = [figure('ms', 'cpuMs'), times('time', 'cpuMs', 'mplex')]

/** Of this thread alone: what else the machine does counts less than in time on the wall */
function cpuMs (): number {
  const { user, system } = process.threadCpuUsage()

  return (user + system) / 1000
}

const json = parseRecordPath()
const samples: Array<Sample<'cpuMs'>> = []

for (const work of works) {
  const compared = await Promise.all(contestants.map(async contestant => ({ ...contestant, requestOnce: await prepare(contestant.id, work.id) })))

  samples.push(...await runRounds({
    row: work,
    contestants: compared,
    rounds: ROUNDS,
    // for what is made once
    hasWarmUp: true,
    async measure ({ requestOnce }) {
      const startMs = cpuMs()

      for (let request = 0; request < REQUESTS; request++) {
        await requestOnce()
      }

      return { cpuMs: cpuMs() - startMs }
    },
    describe: ({ cpuMs }) => `${format(cpuMs)} ms`
  }))
}

await report({
  tables: [renderSamples(samples, [...works], contestants, columns)],
  extent: `${ROUNDS} rounds`,
  legend: `CPU time of ${REQUESTS.toLocaleString('en')} requests, interpreted. × mplex compares within each round: median (lowest–highest), above 1 is slower`,
  json,
  measured: { samples }
})
