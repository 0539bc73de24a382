// `npm run bench apps`: what applications get from each muxer.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { findContestantMuxer } from '../contestants.ts'
import { muxerNames } from '../muxers.ts'
import { oneOf } from '../harness/names.ts'
import { parseCount } from '../harness/options.ts'
import { installQuic } from '../quic/install.ts'
import { format, renderMachine } from '../harness/table.ts'
import { findRow } from '../rows.ts'
import { runBenchmark } from '../harness/run.ts'
import { allApplications, applications, isMeasuredWith } from './applications.ts'
import { startGossipSession } from './gossip.ts'
import { installApplications } from './installed/install.ts'
import { startPageSession } from './page/session.ts'
import { legend, renderTable, renderVerdicts, toMetrics } from './report.ts'
import { startSession } from './session.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { MuxerName } from '../muxers.ts'
import type { Stoppable } from '../harness/run.ts'
import type { Application } from './applications.ts'
import type { Sample } from './report.ts'
import type { Session } from './session.ts'

interface Options {
  muxers: ContestantMuxer[]
  /** Of the other ends, if not the same; hosts that gossip have none, and QUIC speaks to QUIC alone */
  peers?: MuxerName
  applications: Application[]
  rounds: number
  isShort: boolean
  jsonPath?: string
}

const MUXERS = 'ours,ours-gossip,stock,mplex,quic'
const SHORT_MUXERS = 'ours,stock'

function parseOptions (): Options {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: allApplications.map(({ id }) => id) },
      muxers: { type: 'string' },
      peers: { type: 'string' },
      rounds: { type: 'string' },
      short: { type: 'boolean', default: false },
      json: { type: 'string' }
    }
  })
  const { short: isShort, peers } = values

  return {
    muxers: (values.muxers ?? (isShort ? SHORT_MUXERS : MUXERS)).split(',').map(findContestantMuxer).filter(muxer => peers == null || muxer !== 'quic'),
    peers: peers == null ? undefined : oneOf('muxer', peers, muxerNames),
    applications: values.only.map(id => findRow(id, allApplications)).filter(application => peers == null || application !== applications.gossip),
    rounds: values.rounds == null ? isShort ? 1 : 3 : parseCount('rounds', values.rounds),
    isShort,
    jsonPath: values.json
  }
}

function createSession (application: Application, muxer: ContestantMuxer, { peers, isShort }: Options): Session {
  if (application === applications.gossip) {
    return startGossipSession(muxer, isShort)
  }

  const start = application === applications.page ? startPageSession : startSession

  return start(application, [peers ?? muxer, muxer], isShort)
}

/** Another begins each round: who comes first finds another machine than who comes last */
function inTurn<Item> (items: Item[], round: number): Item[] {
  const first = round % items.length

  return [...items.slice(first), ...items.slice(0, first)]
}

/** Some of libp2p's errors have no message */
async function during<Result> (title: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (err) {
    throw new Error(`${title}: ${err instanceof Error ? `${err.name} ${err.message}` : String(err)}`, { cause: err })
  }
}

async function measure (application: Application, options: Options, stopAtEnd: (started: Stoppable[]) => void, onSample: (sample: Sample) => void): Promise<void> {
  const sessions = new Map<ContestantMuxer, Session>()
  const title = application.label.replaceAll('\n', ' ')

  for (const muxer of options.muxers.filter(muxer => isMeasuredWith(application, muxer))) {
    const session = createSession(application, muxer, options)
    stopAtEnd([session])
    sessions.set(muxer, session)
    await during(`${title}, ${muxer}`, async () => session.start())
  }

  // the first round warms up
  for (let round = 0; round <= options.rounds; round++) {
    for (const [muxer, session] of inTurn([...sessions], round)) {
      const metrics = toMetrics(await during(`${title}, ${muxer}`, async () => session.measure(round)))

      if (round > 0) {
        onSample({ applicationId: application.id, muxer, round, metrics })
        console.info(`${title}, round ${round} of ${options.rounds}, ${muxer}: ${format(metrics.durationS)} s, ${format(metrics.cpuS)} s of CPU`)
      }
    }
  }

  await Promise.all(sessions.values().map(async session => session.stop()))
}

async function report (samples: Sample[], { applications, muxers, rounds, jsonPath }: Options): Promise<void> {
  const measured = applications.filter(({ id }) => samples.some(({ applicationId }) => applicationId === id))

  if (measured.length === 0) {
    return
  }

  console.info(`\n${renderTable(samples, measured, muxers)}\n\n${renderVerdicts(samples, measured, muxers)}\n`)
  console.info(`${renderMachine()}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'} after one to warm up\n\n${legend}`)

  if (jsonPath != null) {
    await writeFile(jsonPath, JSON.stringify({ machine: renderMachine(), samples }, null, 2))
  }
}

await runBenchmark(async stopAtEnd => {
  const asked = parseOptions()
  installApplications()
  const hasQuic = asked.muxers.includes('quic') && await installQuic()
  const options = { ...asked, muxers: asked.muxers.filter(muxer => muxer !== 'quic' || hasQuic) }
  const samples: Sample[] = []

  try {
    for (const application of options.applications) {
      await measure(application, options, stopAtEnd, sample => { samples.push(sample) })
    }
  } finally {
    // what is measured by then is not lost with what fails
    await report(samples, options)
  }
})
