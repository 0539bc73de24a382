// `npm run bench matrix`: scenario x muxer x transport, as tables in the terminal, one HTML page and JSON.
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Listr } from 'listr2'
import { buildPeers } from '../../peers/build.ts'
import { isNative, transports } from '../contestants.ts'
import { nativePeers } from '../pair/native.ts'
import { describeOthers, percentTakenByOthers } from '../processors.ts'
import { installQuic } from '../quic/install.ts'
import { writeRecord } from '../harness/record.ts'
import { renderGroups, renderMachine } from '../harness/table.ts'
import { runBenchmark } from '../../testing/programs/run.ts'
import { compare } from './compare.ts'
import { renderHtml } from './html.ts'
import { describeFailures, readResults } from './results.ts'
import { parseOptions } from './selection.ts'
import { assertNoGrossLoss } from './short.ts'
import { groupTasks } from './tasks.ts'
import { describeComparison, legend, renderTerminal } from './text.ts'
import type { PeerKind } from '../../peers/list.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Measuring } from './measure.ts'
import type { Results } from './results.ts'
import type { Group, Options } from './selection.ts'

const DEFAULT_HTML = fileURLToPath(new URL('../.build/bench.html', import.meta.url))

/** Leaves out whom this machine cannot run, and says so */
async function findPresent (groups: Group[]): Promise<{ programs: PeerKind[], present: Group[] }> {
  const asked = new Set<string>(groups.flatMap(({ muxers }) => muxers))
  const programs = buildPeers(nativePeers.filter(({ name }) => asked.has(name)))
  const hasQuic = asked.has('quic') && await installQuic()
  const isPresent = (muxer: ContestantMuxer): boolean => muxer === 'quic' ? hasQuic : !isNative(muxer) || programs.some(({ name }) => name === muxer)

  return { programs, present: groups.map(group => ({ ...group, muxers: group.muxers.filter(isPresent) })) }
}

async function write (path: string, content: string): Promise<void> {
  await mkdir(dirname(resolve(path)), { recursive: true })
  await writeFile(path, content)
}

async function report (results: Results, { groups, htmlPath, json, comparePath, isShort }: Options): Promise<void> {
  const comparison = comparePath == null ? undefined : compare(await readResults(comparePath), results)

  for (const { transport } of groups) {
    console.info(`\n${renderTerminal(results, transport)}`)
  }

  console.info(`\n${renderMachine()}, ${results.rounds} ${results.rounds === 1 ? 'round' : 'rounds'}\n`)

  for (const doubt of describeOthers(results.takenPercent ?? 0)) {
    console.info(`! ${doubt}\n`)
  }

  if (comparison != null) {
    const { summary, headings, groups } = describeComparison(comparison)
    console.info(`${summary}\n${groups.length > 0 ? `${renderGroups(headings, groups)}\n` : ''}`)
  }

  if (json != null) {
    await writeRecord(json, { extent: `${results.rounds} rounds`, ...results })
  }

  if (htmlPath != null || !isShort) {
    const path = htmlPath ?? DEFAULT_HTML
    await write(path, renderHtml(results, comparison))
    console.info(`${legend}\n\nAll columns, and the ratios as bars, are in ${relative('', path)}`)
  }
}

await runBenchmark(async stopAtEnd => {
  const options = parseOptions()
  const { programs, present } = await findPresent(options.groups)
  const measuring: Measuring = { samples: [], failures: [], processors: [], report () {} }
  const startedAt = new Date().toISOString()

  // signals end the processes of the pairs, which makes the tasks fail
  await new Listr(present.flatMap(group => groupTasks({
    prefix: `${transports[group.transport]}: `, group, programs, rounds: options.rounds, measuring, stopAtEnd
  })), { registerSignalListeners: false }).run()

  const { samples, failures, processors } = measuring
  const takenPercent = percentTakenByOthers(processors, availableParallelism())
  await report({ startedAt, rounds: options.rounds, samples, takenPercent, failures }, options)

  if (failures.length > 0) {
    throw new Error(describeFailures(failures))
  }

  if (options.isShort) {
    assertNoGrossLoss(samples)
  }
})
