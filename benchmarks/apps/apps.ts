// What applications get from each muxer.
import { byId, oneOf } from '../../testing/programs/names.ts'
import { parseOptions, plainContestants } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { endAfter, runBenchmark } from '../../testing/programs/run.ts'
import { format, renderSamples } from '../harness/table.ts'
import { muxerNames } from '../contestants.ts'
import { installQuic } from '../quic/install.ts'
import { allApplications, applications, isMeasuredWith } from './applications.ts'
import { startGossipSession } from './gossip.ts'
import { installApplications, installedVersions } from './installed/install.ts'
import { startPageSession } from './page/session.ts'
import { columns, legend, renderVerdicts, toMetrics } from './report.ts'
import { startSession } from './session.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Sample } from '../harness/samples.ts'
import type { Application } from './applications.ts'
import type { Metrics } from './report.ts'
import type { Measured, Session } from './session.ts'

/** Its files are others than those of all rounds that count */
const WARM_UP_ROUND = 0

const QUIC = { id: 'quic', label: 'quic', muxer: 'quic' as const }

/** `other` is the muxer of the other ends */
function createSession (application: Application, muxer: ContestantMuxer, other: ContestantMuxer, isShort: boolean): Session {
  if (application === applications.gossip) {
    return startGossipSession(muxer, isShort)
  }

  const start = application === applications.page ? startPageSession : startSession

  return start(application, [other, muxer], isShort)
}

/** New processes each time: when V8 collects garbage is the luck of a process, and bulk takes up to 1.5 times as long with bad luck */
async function measureWarm (session: Session, round: number): Promise<Measured> {
  await session.start()
  await session.measure(WARM_UP_ROUND)

  return session.measure(round)
}

await runBenchmark(async stopAtEnd => {
  const isShort = process.argv.includes('--short')
  const { muxers: asked, json, counts: { rounds }, own: { only, peers } } = parseOptions({
    contestants: [...plainContestants, QUIC],
    usual: isShort ? 'ours,stock' : 'ours,ours-gossip,stock,mplex,quic',
    counts: { rounds: isShort ? 1 : 3 },
    own: {
      only: { takes: 'applications', isList: true, about: 'some of them', default: allApplications.map(({ id }) => id).join() },
      peers: { takes: 'muxer', about: 'what the other ends run; the same if it is left out', isVariant: true },
      short: { about: 'what CI runs: a little of each', isVariant: true }
    }
  })
  const peersMuxer = peers == null ? undefined : oneOf('muxer', peers, muxerNames)
  installApplications()
  // QUIC speaks to QUIC alone
  const hasQuic = asked.includes(QUIC) && peersMuxer == null && await installQuic()
  const muxers = asked.filter(muxer => muxer !== QUIC || hasQuic)
  // hosts that gossip have no other ends
  const chosen = only.map(id => byId('application', id, allApplications)).filter(application => peersMuxer == null || application !== applications.gossip)
  const samples: Array<Sample<keyof Metrics>> = []

  try {
    for (const application of chosen) {
      samples.push(...await runRounds({
        row: application,
        contestants: muxers.filter(({ muxer }) => isMeasuredWith(application, muxer)),
        rounds,
        measure: async ({ muxer }, round) => endAfter(
          createSession(application, muxer, peersMuxer ?? muxer, isShort),
          stopAtEnd,
          async session => toMetrics(await measureWarm(session, round))
        ),
        describe: ({ durationS, cpuS }) => `${format(durationS)} s, ${format(cpuS)} s of CPU`
      }) as Array<Sample<keyof Metrics>>)
    }
  } finally {
    // what is measured by then is not lost with what fails
    const measured = chosen.filter(({ id }) => samples.some(({ rowId }) => rowId === id))

    if (measured.length > 0) {
      await report({
        tables: [renderSamples(samples, measured, muxers, columns), renderVerdicts(samples, measured, muxers.map(({ id }) => id))],
        extent: `${rounds} rounds, each in new processes, after one to warm up`,
        legend,
        json,
        measured: { samples, versions: installedVersions() }
      })
    }
  }
})
