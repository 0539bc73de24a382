// What applications do: one action at a time, with the streams they have.
import { ACTIONS } from './plan.ts'
import type { ActionName } from './plan.ts'
import type { Run } from './run.ts'
import type { Side } from './side.ts'
import type { StreamEnd } from './stream-end.ts'
import type { Random } from '../../../testing/simulation/random.ts'

/** Stock streams are used as stock can be: always read, written to as they are, closed or aborted */
const FIT_FOR_STOCK = new Set<ActionName>(['open', 'send', 'pump', 'close', 'abort', 'read'])
const LANES = ['urgent', 'normal', 'bulk'] as const
const STREAMS_AT_ONCE = 30
/** More than are announced in a turn */
const MAX_REQUESTS_AT_ONCE = 80
const MAX_PUMPED_BYTES = 1_000_000
/** More than a window would be too much (StreamBufferError) */
const MOST_PUT_BACK_TO_BYTES = 200_000
const FLOOD_MESSAGES = { min: 200, max: 1500 }

type Action = (run: Run, side: Side, random: Random, end: StreamEnd) => void

const onSides: Partial<Record<ActionName, (run: Run, side: Side, random: Random) => void>> = {
  open: (_, side) => { side.open() },
  openMany: (_, side) => {
    for (let i = 0; i < STREAMS_AT_ONCE; i++) {
      side.open()
    }
  },
  ping: (_, side) => { side.ping() },
  ask: (run, side, random) => {
    for (let i = random.integer(1, MAX_REQUESTS_AT_ONCE); i > 0; i--) {
      side.open(end => {
        const byteLength = messageBytes(run, random, end)

        if (byteLength > 0 && end.canWrite) {
          end.send(byteLength)
        }

        end.close()
      })
    }
  }
}

const onStreams: Partial<Record<ActionName, Action>> = {
  send: (run, _, random, end) => {
    const byteLength = messageBytes(run, random, end)

    if (byteLength > 0 && end.canWrite) {
      end.send(byteLength)
    }
  },
  pump: (run, _, random, end) => {
    const byteLength = messageBytes(run, random, end)

    if (byteLength > 0) {
      end.pump(random.integer(byteLength, MAX_PUMPED_BYTES), byteLength)
    }
  },
  read: (_, side, random, end) => { end.read(side.isOurs && random.chance(0.5)) },
  pause: (_, __, ___, end) => {
    if (end.canRead) {
      end.stream.pause()
    }
  },
  resume: (_, __, ___, end) => {
    if (end.canRead) {
      end.stream.resume()
    }
  },
  pushBack: (_, __, random, end) => {
    // what is put back while a loop holds a chunk comes behind that chunk
    if (end.canRead && end.reading === 'listener' && !end.isOver && end.stream.readBufferLength < MOST_PUT_BACK_TO_BYTES) {
      end.pushBack(random.integer(1, 1000))
    }
  },
  close: (run, _, random, end) => {
    if (random.chance(0.1)) {
      const controller = new AbortController()
      run.sim.at(run.sim.nowMs + random.integer(0, 3), () => { controller.abort() })
      end.close(controller.signal)
    } else {
      end.close()
    }
  },
  closeRead: (_, __, ___, end) => { end.closeRead() },
  abort: (_, __, random, end) => {
    if (!end.isOver) {
      end.abort(random.pick([0, 0, 7, 0x1001, 0xffff_ffff]))
    }
  },
  sendChanging: (run, _, random, end) => {
    const byteLength = messageBytes(run, random, end)

    if (byteLength > 0 && end.canWrite) {
      end.sendChanging(byteLength)
    }
  },
  flood: (run, _, random, end) => {
    end.flood(random.integer(FLOOD_MESSAGES.min, FLOOD_MESSAGES.max))

    if (random.chance(0.8)) {
      const patienceMs = random.next() * 2 * (run.plan.link.delayMs + 1)
      run.sim.at(run.sim.nowMs + patienceMs, () => { giveUp(end) })
    }
  },
  prioritise: (_, __, random, end) => {
    if ('priority' in end.stream) {
      end.stream.priority = random.pick(LANES)
    }
  }
}

/** Does something: with `end` half of the time, if it is given */
export function act (run: Run, side: Side, random: Random, end?: StreamEnd, names: readonly ActionName[] = ACTIONS): void {
  if (run.isEnding && !side.isOurs) {
    // what a stock muxer does on a transport that is gone is its own affair
    return
  }

  const name = random.weighted(names.map(name => [side.isOurs || FIT_FOR_STOCK.has(name) ? run.plan.weights[name] : 0, name]))
  const chosen = (name === 'resume' ? chooseWaiting(side, random) : undefined) ?? (end != null && random.chance(0.5) ? end : choose(side, random))
  run.trace(() => `${side.name}: ${name}${chosen == null || onSides[name] != null ? '' : ` ${chosen.stream.id}`}`)
  onSides[name]?.(run, side, random)

  if (chosen != null) {
    onStreams[name]?.(run, side, random, chosen)
  }
}

/** Whoever is flooded ends the stream, with more of the flood in flight */
function giveUp ({ conversation, side, isOver }: StreamEnd): void {
  const [flooded] = conversation.ends.filter(end => end.side !== side)

  if (flooded != null && !flooded.isOver && !isOver) {
    flooded.abort(0)
  }
}

/** One that is paused and holds bytes: if others' bytes have just come in, its own may have come with them */
function chooseWaiting (side: Side, random: Random): StreamEnd | undefined {
  const waiting = side.ends.filter(({ stream }) => stream.readStatus === 'paused' && stream.readBufferLength > 0)

  return waiting.length > 0 ? random.pick(waiting) : undefined
}

/** Mostly one that is not over, if there are any */
function choose (side: Side, random: Random): StreamEnd | undefined {
  const open = side.ends.filter(end => !end.isOver)
  const ends = open.length > 0 && random.chance(0.9) ? open : side.ends

  return ends.length === 0 ? undefined : random.pick(ends)
}

function messageBytes (run: Run, random: Random, end: StreamEnd): number {
  const { messageBytes: { min, max } } = run.plan

  return Math.min(random.integer(min, max), end.leftBytes)
}
