// `npm run test:lodestar`: Lodestar's stack with this muxer for as long as wished, then a look at what is left.
import { parseCount } from '../../testing/programs/names.ts'
import { readOptions } from '../../testing/programs/options.ts'
import { runBenchmark } from '../../testing/programs/run.ts'
import { checkOutcome, unexpectedErrors } from './checks.ts'
import { startNetwork } from './network.ts'
import { populations } from './plan.ts'
import type { Outcome } from './network.ts'

const MAX_SHOWN = 10

function summarise ({ quiet: { counts, metrics }, peers, departed, alone }: Outcome): string {
  const published = [...peers, ...departed].reduce((sum, peer) => sum + peer.counts.attestationsSent, 0)
  const flushes = metrics.get('libp2p_coalescing_yamux_flush_frames_count') ?? NaN
  const frames = metrics.get('libp2p_coalescing_yamux_flush_frames_sum') ?? NaN

  return `${published} attestations of peers, ${counts.attestationsSent} and ${counts.blocksGossiped} blocks of the beacon node, ` +
    `${counts.requests} ranges of blocks it asked for, ${departed.length} departures, ${alone.scrapes} scrapes, ` +
    `${(frames / flushes).toFixed(2)} frames per flush`
}

await runBenchmark(async stopAtEnd => {
  const values = readOptions({ command: 'npm run test:lodestar --', about: 'a beacon node\'s stack with 100 peers that come and go' }, {
    seconds: { takes: 'number', about: 'how long with each population', default: '600' },
    only: { takes: 'populations', isList: true, about: 'some of them', default: Object.keys(populations).join() }
  })
  const durationS = parseCount('seconds', values.seconds)

  for (const name of values.only) {
    const population = populations[name]

    if (population == null) {
      throw new Error(`There is no population "${name}", only ${Object.keys(populations).join(', ')}`)
    }

    console.info(`\n${name}`)
    const network = startNetwork(population)
    stopAtEnd([network])
    const outcome = await network.run(durationS * 1000, line => { console.info(`  ${line}`) })
    await network.stop()

    const claims = checkOutcome(outcome, population, durationS)
    console.info(`  ${summarise(outcome)}`)
    claims.forEach(([claim, isTrue]) => { console.info(`  ${isTrue ? '✓' : '✗'} ${claim}`) })

    if (claims.some(([, isTrue]) => !isTrue)) {
      const problems = [...outcome.alone.failures, ...outcome.peerFailures, ...unexpectedErrors(outcome.alone.logErrors), ...unexpectedErrors(outcome.peerLogErrors)]
      console.error(problems.slice(0, MAX_SHOWN).join('\n'))
      throw new Error(`${name}: see what is marked with ✗`)
    }
  }
})
