// One seed from its plan to its end: what a search is made of.
import { createHash } from 'node:crypto'
import { simulate } from '../../../testing/simulation/simulate.ts'
import { act } from './actions.ts'
import { endConnection } from './endings.ts'
import { checkAlways, checkAtRest, checkEnded, checkFaults, checkSettled, isSettled } from './laws.ts'
import { Neighbour } from './neighbour.ts'
import { oddValue } from './odd-faults.ts'
import { planOf } from './plan.ts'
import { ApplicationFault, printable, Run } from './run.ts'
import { Side } from './side.ts'
import { deliverForeignChunks, readLogs, refuseWrite } from './unruly-link.ts'
import { Random } from '../../../testing/simulation/random.ts'
import type { Hash } from 'node:crypto'
import type { Plan } from './plan.ts'
import type { Simulation } from '../../../testing/simulation/simulate.ts'
import type { LinkEnd } from '../../../testing/simulation/link.ts'

const END_MS = 600_000
const STEPS_AROUND_THE_END = 5
const LAST_BYTES = 600_000
const LAST_WRITERS = 3
const LAST_WAIT_MS = 30
/** A full socket buffer of 1 MiB takes 2 s on the slowest link; the shortest timeout that is not planned is 60 s */
const CALM_MS = 5000
/** One step in so many is followed by a rest in a usual run */
const REST_WEIGHT = 100
/** The application draws other numbers than the plan */
const APPLICATION = 0x5eed
/** And mischief others again */
const MISCHIEF = 0xbad5eed

export interface SeedResult {
  /** What applications did, and what happened because of it */
  steps: number
  events: number
  bytes: number
  /** Of all that was written to the transports, in order; those of many seeds are added up, modulo WIRE_DIGESTS */
  wireDigest: number
}

export interface SeedInit {
  /** See planOf */
  isLight?: boolean
  /** Gets a trace, line by line */
  write? (line: string): void
  /** Runs when something has happened */
  onEvent? (): void
}

export const WIRE_DIGESTS = 2 ** 48
const WIRE_DIGEST_BYTES = 6

/** Throws when a law is broken */
export async function runSeed (seed: number, { isLight, write, onEvent = () => {} }: SeedInit = {}): Promise<SeedResult> {
  const plan = planOf(seed, isLight)
  const result: SeedResult = { steps: 0, events: 0, bytes: 0, wireDigest: 0 }
  const wire = createHash('sha256')
  let run: Run | undefined

  const onFault = (err: unknown): void => {
    run?.onUncaught(err)
    // the rest of the turn was put off
    run?.sim.at(run.sim.nowMs, () => {})
  }

  process.setUncaughtExceptionCaptureCallback(onFault)
  process.on('unhandledRejection', onFault)
  write?.(describePlan(plan))

  try {
    await simulate({ seed, shufflesTies: true, endMs: END_MS }, async sim => {
      run = new Run(sim, plan, new Random(seed ^ APPLICATION), write)
      watch(run, sim, result, onEvent)
      connect(run, new Random(seed ^ MISCHIEF), wire)
      await play(run, result, plan.steps)
      await end(run, result)
    })
  } catch (err) {
    throw printable(err)
  } finally {
    process.off('unhandledRejection', onFault)
    process.setUncaughtExceptionCaptureCallback(null)
  }

  result.bytes = run?.sentBytes ?? 0
  result.wireDigest = wire.digest().readUIntBE(0, WIRE_DIGEST_BYTES)

  return result
}

function watch (run: Run, sim: Simulation, result: SeedResult, onEvent: () => void): void {
  run.start(sim.until(() => {
    result.events++
    onEvent()
    checkAlways(run)
    checkFaults(run)

    return false
  }))
}

function connect (run: Run, mischief: Random, wire: Hash): void {
  const { sim, plan, random, sides } = run
  sides.push(new Side(run, true, random.fork()), new Side(run, false, random.fork()))
  const [dialler, listener] = sides
  const sideOf = (to: 'listener' | 'dialler'): Side => to === 'listener' ? listener : dialler

  const { diallerEnd, listenerEnd } = sim.link({
    ...plan.link,
    onSend: ({ to, bytes }) => {
      wire.update(`${to} ${bytes.byteLength}`).update(bytes)

      try {
        sideOf(to).peer.tap.wrote(bytes)
      } catch (err) {
        // a muxer would take it for a failure of its transport
        run.fail(err)
      }
    },
    onArrived: ({ to, bytes }) => { sideOf(to).tap.received(bytes) }
  })

  makeUnruly(run, dialler, diallerEnd, mischief)
  makeUnruly(run, listener, listenerEnd, mischief)
  dialler.start(diallerEnd)
  listener.start(listenerEnd)

  if (plan.mischief.neighbour != null) {
    run.neighbour = new Neighbour(run, mischief.fork(), plan.mischief.neighbour)
  }
}

function makeUnruly (run: Run, side: Side, end: LinkEnd, mischief: Random): void {
  const { refusal } = run.plan.mischief

  if (!side.isOurs) {
    return
  }

  if (run.isUpTo('foreignViews')) {
    deliverForeignChunks(end, mischief.fork())
  }

  if (run.isUpTo('oddFaults')) {
    readLogs(end)
  }

  if (refusal?.isDialler === side.isDialler) {
    refuseWrite(end, refusal, () => {
      run.trace(() => `  ${side.name}'s transport throws`)
      run.isEnding = true
      side.hasRefusedWrite = true

      return run.isUpTo('oddFaults') ? oddValue(mischief) : new ApplicationFault('the transport is broken', { isOurs: true })
    })
  }
}

/** The applications do something, and wait a little, so many times */
async function play (run: Run, result: SeedResult, steps: number): Promise<void> {
  const { random, plan, sides } = run

  for (let step = 0; step < steps; step++) {
    result.steps++
    act(run, random.pick(sides), random)
    run.neighbour?.act()
    checkAlways(run)
    await pause(run)

    if (random.chance(plan.weights.rest / REST_WEIGHT) && !run.isEnding) {
      await rest(run)
    }
  }
}

/** Waits until nothing happens any more but timeouts */
async function rest (run: Run): Promise<void> {
  run.trace(() => 'rest')
  await run.sim.calm(CALM_MS)
  checkAtRest(run)
}

async function pause ({ random, sim, plan }: Run): Promise<void> {
  switch (random.integer(0, 3)) {
    case 0:
      await undefined
      break
    case 1:
      await new Promise(resolve => { setImmediate(resolve) })
      break
    case 2:
      await sim.sleep(random.next() * Math.max(1, 2 * plan.link.delayMs))
      break
  }
}

async function end (run: Run, result: SeedResult): Promise<void> {
  const { plan, random, sim, sides } = run

  if (plan.settles) {
    await settle(run)
  }

  if (plan.endsInFlight && !plan.settles) {
    await sendALot(run)
  }

  if (plan.endsInHandler && !plan.settles) {
    run.isEndDue = true
    await play(run, result, STEPS_AROUND_THE_END)
  }

  if (!run.sides.some(({ isLeaving }) => isLeaving)) {
    // what a stock muxer does on a transport that is gone is its own affair
    endConnection(run, random.pick(sides.filter(({ isOurs }) => isOurs)))
  }

  await play(run, result, STEPS_AROUND_THE_END)
  run.neighbour?.finish()
  await sim.idle()
  finishReading(run)
  await sim.idle()
  checkEnded(run)
  run.neighbour?.checkFinished()
  await run.neighbour?.end()
}

async function settle (run: Run): Promise<void> {
  const { sim, plan, sides } = run
  const keepsAlive = plan.sides.dialler.options.enableKeepAlive === true

  if (!keepsAlive) {
    await rest(run)
  }

  run.trace(() => 'settle')
  run.isSettling = true
  sides.flatMap(({ ends }) => ends).forEach(end => { end.finish() })

  if (keepsAlive) {
    await sim.until(() => isSettled(run))
  } else {
    await rest(run)
  }

  checkSettled(run)
}

/** So that something is in flight */
async function sendALot (run: Run): Promise<void> {
  const { random, sim, sides, plan: { messageBytes } } = run
  run.trace(() => 'send a lot')
  run.budgetBytes = run.sentBytes + LAST_BYTES

  for (const { ends } of sides) {
    for (const end of ends.filter(({ canWrite }) => canWrite).slice(0, LAST_WRITERS)) {
      end.pump(LAST_BYTES / LAST_WRITERS, random.integer(messageBytes.min, messageBytes.max))
    }
  }

  await sim.sleep(random.next() * LAST_WAIT_MS)
}

/** What has arrived can be read after the end */
function finishReading (run: Run): void {
  run.isSettling = true

  for (const end of run.sides.flatMap(({ ends }) => ends)) {
    if (end.canRead) {
      end.stream.resume()
      end.read(false)
    }
  }
}

function describePlan (plan: Plan): string {
  return JSON.stringify(plan, (_, value) => value === Infinity ? 'Infinity' : typeof value === 'function' ? 'random' : value)
}
