// A control that bounds the peer as a seed says, with no regard to the path: whatever it does, no byte and no stream may be lost or wait for ever.
import { NO_PEER_CONTROL } from '../../../src/core/peer-control.ts'
import type { CreatePathControl } from '../../../src/core/path-control.ts'
import type { PeerControl } from '../../../src/core/peer-control.ts'
import type { Random } from '../../../testing/simulation/random.ts'

const BOUNDS_BYTES = [1, 5000, 20_000.25, 300_000.7, Infinity]

function capriciousPeer (random: Random): PeerControl {
  let boundBytes = Infinity
  const change = (): boolean => {
    boundBytes = random.chance(0.3) ? random.pick(BOUNDS_BYTES) : boundBytes

    return random.chance(0.3)
  }

  return {
    ...NO_PEER_CONTROL,
    get boundBytes () { return boundBytes },
    creditMs: random.pick([0, 10, Infinity]),
    shortestMs: random.pick([0, 10, Infinity]),
    onReceived: change,
    onRoundEnded: change,
    onSilence () { boundBytes = Infinity }
  }
}

/** A control whose peer is bound so */
export function capricious (create: CreatePathControl, random: Random): CreatePathControl {
  return (init, positions) => Object.assign(create(init, positions), { peer: capriciousPeer(random) })
}
