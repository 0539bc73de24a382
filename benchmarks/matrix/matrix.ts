// `npm run bench matrix`: scenario x muxer x transport.
import { availableParallelism } from 'node:os'
import { Listr } from 'listr2'
import { buildPeers } from '../../peers/build.ts'
import { isNative, transports } from '../contestants.ts'
import { report } from '../harness/report.ts'
import { nativePeers } from '../pair/native.ts'
import { describeOthers, percentTakenByOthers } from '../processors.ts'
import { installQuic } from '../quic/install.ts'
import { runBenchmark } from '../../testing/programs/run.ts'
import { describeFailures } from './measure.ts'
import { parseOptions } from './selection.ts'
import { assertNoGrossLoss } from './short.ts'
import { legend, renderTables } from './tables.ts'
import { groupTasks } from './tasks.ts'
import type { PeerKind } from '../../peers/list.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Measuring } from './measure.ts'
import type { Group } from './selection.ts'

/** Leaves out whom this machine cannot run, and says so */
async function findPresent (groups: Group[]): Promise<{ programs: PeerKind[], present: Group[] }> {
  const asked = new Set<string>(groups.flatMap(({ muxers }) => muxers))
  const programs = buildPeers(nativePeers.filter(({ name }) => asked.has(name)))
  const hasQuic = asked.has('quic') && await installQuic()
  const isPresent = (muxer: ContestantMuxer): boolean => muxer === 'quic' ? hasQuic : !isNative(muxer) || programs.some(({ name }) => name === muxer)

  return { programs, present: groups.map(group => ({ ...group, muxers: group.muxers.filter(isPresent) })) }
}

await runBenchmark(async stopAtEnd => {
  const { groups, rounds, isShort, json } = parseOptions()
  const { programs, present } = await findPresent(groups)
  const measuring: Measuring = { samples: [], failures: [], processors: [], report () {} }

  // signals end the processes of the pairs, which makes the tasks fail
  await new Listr(present.flatMap(group => groupTasks({
    prefix: `${transports[group.transport]}: `, group, programs, rounds, measuring, stopAtEnd
  })), { registerSignalListeners: false }).run()

  const { samples, failures, processors } = measuring
  const doubts = describeOthers(percentTakenByOthers(processors, availableParallelism()))
  await report({ tables: present.flatMap(group => renderTables(samples, group)), extent: `${rounds} rounds`, legend: [...doubts, legend].join('\n\n'), json, measured: { samples } })

  if (failures.length > 0) {
    throw new Error(describeFailures(failures))
  }

  if (isShort) {
    assertNoGrossLoss(samples)
  }
})
