// The steps in which a group is measured, a line in the terminal each.
import { GroupRun } from './measure.ts'
import type { GroupInit } from './measure.ts'
import type { Stoppable } from '../../testing/programs/run.ts'
import type { ListrTask } from 'listr2'

interface Steps extends GroupInit {
  /** Ahead of each title */
  prefix?: string
  rounds: number
  /** Since the program began: rounds that do not fit in are left out, but for the first */
  budgetMs?: number
  /** What is measured beside the rows, in processes of its own */
  afterRound?(round: number): Promise<void>
  stopAtEnd(started: Stoppable[]): void
}

export function groupTasks ({ prefix = '', rounds, budgetMs = Infinity, afterRound, stopAtEnd, ...init }: Steps): ListrTask[] {
  const { group, measuring } = init
  let run: GroupRun
  let roundMs = 0
  const tasks: ListrTask[] = [{
    title: `${prefix}Start two processes for each of ${group.muxers.join(', ')}`,
    async task () {
      run = new GroupRun(init)
      stopAtEnd([run])
      await run.connect()
    }
  }]

  function step (what: string, work: () => Promise<void>, skip?: ListrTask['skip']): void {
    tasks.push({
      title: `${prefix}${what}`,
      skip,
      async task (_, task) {
        measuring.report = line => { task.output = line }
        await work()
      }
    })
  }

  step('Warm up', async () => run.warmUp())

  for (let round = 1; round <= rounds; round++) {
    step(`Round ${round} of ${rounds}`, async () => {
      const startMs = performance.now()
      await run.measureRound()
      roundMs = performance.now() - startMs
      await afterRound?.(round)
    }, () => round > 1 && performance.now() + roundMs > budgetMs && 'there is no time left for it')
  }

  step('Stop', async () => run.stop())

  return tasks
}
