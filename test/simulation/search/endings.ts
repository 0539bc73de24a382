// How a connection ends.
import { reasonToAbort } from './odd-faults.ts'
import { ApplicationFault } from './run.ts'
import type { Ending } from './plan.ts'
import type { Run } from './run.ts'
import type { Side } from './side.ts'

/** Then a muxer that is closed gives up what is queued */
const CLOSE_TIMEOUT_MS = 5000

const endings: Record<Ending, (run: Run, side: Side) => void> = {
  'close muxer': closeMuxer,
  'close both': (run, side) => {
    closeMuxer(run, side)
    closeMuxer(run, side.peer)
  },
  // the peer is told, and closes the link
  'abort muxer': (run, side) => {
    side.muxer.abort(reasonToAbort(run, side))

    // the peer has heard no last words: the application cuts the link, as libp2p does
    if (side.hasRefusedWrite) {
      side.linkEnd.abort(new ApplicationFault('aborted by the application'))
    }
  },
  'abort both': (run, side) => {
    side.muxer.abort(reasonToAbort(run, side))
    side.linkEnd.abort(new ApplicationFault('aborted by the application'))
  },
  'abort link': (_, side) => { side.linkEnd.abort(new ApplicationFault('the cable was cut')) },
  'close link': (run, side) => { run.start(run.track(`close() of the ${side.name}'s link`, side.linkEnd.close())) },
  // the plan has stopped the link
  silence: () => {}
}

export function endConnection (run: Run, side: Side): void {
  const { ending } = run.plan
  run.trace(() => `${side.name}: ${ending}`)
  run.isEnding = true
  run.isEndDue = false
  side.isLeaving = ending !== 'silence'
  side.peer.isLeaving ||= ending === 'close both'
  endings[ending](run, side)
}

/** As libp2p does it */
function closeMuxer (run: Run, side: Side): void {
  // also those that nobody has listened for yet
  side.muxer.streams.forEach(({ id }) => { side.flows(Number(id)).outgoing.isClosed = true })

  run.start((async () => {
    const startMs = run.sim.nowMs
    const open = side.ends.filter(({ stream }) => side.muxer.streams.includes(stream))
    await run.track(`close() of the ${side.name}'s muxer`, side.muxer.close())

    if (run.plan.ending === 'close muxer' && run.sim.nowMs < startMs + CLOSE_TIMEOUT_MS) {
      run.closedInGoodOrder = open
    }

    await run.track(`close() of the ${side.name}'s link`, side.linkEnd.close())
  })())
}
