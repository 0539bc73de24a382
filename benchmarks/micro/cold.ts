// How long a lone request takes while V8's compilers stand still, beside mplex: what code costs a node that has many connections and
// runs little of it often. Run with --no-opt --no-sparkplug --no-maglev (list.ts).
import Table from 'cli-table3'
import { median } from 'simple-statistics'
import { takeNoOptions } from '../harness/options.ts'
import { contestants, prepare, works } from './lone-requests.ts'

const ROUNDS = 8
/** A thread's clock of CPU time moves in steps of 4 ms; these take 100 and more */
const REQUESTS = 2000

/** Of this thread alone: what else the machine does counts less than in time on the wall */
function cpuMs (): number {
  const { user, system } = process.threadCpuUsage()

  return (user + system) / 1000
}

takeNoOptions()

const table = new Table({ head: ['interpreted, CPU time by mplex\'s', ...contestants], style: { head: [], border: [] } })

for (const work of works) {
  const requests = await Promise.all(contestants.map(async contestant => prepare(contestant, work)))
  const tookMs: number[][] = contestants.map(() => [])

  for (let round = 0; round <= ROUNDS; round++) {
    for (let i = 0; i < contestants.length; i++) {
      // each is first as often as the others
      const turn = (i + round) % contestants.length
      const startMs = cpuMs()

      for (let request = 0; request < REQUESTS; request++) {
        await requests[turn]()
      }

      // the first round is for what is made once
      if (round > 0) {
        tookMs[turn].push(cpuMs() - startMs)
      }
    }
  }

  const mplex = tookMs[contestants.indexOf('mplex')]
  table.push([work, ...tookMs.map(times => median(times.map((ms, round) => ms / mplex[round])).toFixed(2))])
}

console.info(table.toString())
