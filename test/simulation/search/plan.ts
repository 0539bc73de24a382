// What a seed decides before anything happens: who talks, over which link, how the applications behave, how it ends.
import { Random } from '../../../testing/simulation/random.ts'
import { applyMischief, planMischief } from './mischief.ts'
import type { CoalesceOptions, MergeMessages } from '../../../src/options/coalesce.ts'
import type { YamuxMuxerInit } from '../../../src/options/config.ts'
import type { Lane } from '../../../src/core/scheduler/lane.ts'
import type { LinkOptions } from '../../../testing/simulation/link.ts'
import type { MischiefPlan } from './mischief.ts'

const USUAL_ACTIONS = ['open', 'openMany', 'send', 'pump', 'read', 'pause', 'resume', 'pushBack', 'close', 'closeRead', 'abort', 'prioritise', 'ping', 'rest', 'sendChanging', 'flood'] as const
export const ACTIONS = [...USUAL_ACTIONS, 'ask'] as const
export const ENDINGS = ['close muxer', 'close both', 'abort muxer', 'abort both', 'abort link', 'close link', 'silence'] as const

export type ActionName = typeof ACTIONS[number]
export type Ending = typeof ENDINGS[number]

export interface SidePlan {
  isOurs: boolean
  /** As light has it: nothing bounds what is in flight */
  isLight: boolean
  /** What its peer may have in flight changes at any time */
  capricesSeed?: number
  /** When its application begins to listen for streams */
  listensAtMs: number
  options: YamuxMuxerInit
}

export interface Plan {
  sides: { dialler: SidePlan, listener: SidePlan }
  link: LinkOptions
  steps: number
  /** How often each action is chosen beside the others; some not at all in this run */
  weights: Record<ActionName, number>
  /** How often an event handler does something of its own, or throws */
  reactionChance: number
  faultChance: number
  /** How much all streams send together */
  budgetBytes: number
  messageBytes: { min: number, max: number }
  /** All streams are brought to their end, and every byte must be there, before the connection ends */
  settles: boolean
  ending: Ending
  /** Both sides send a lot just before the end */
  endsInFlight: boolean
  /** It ends from within an event handler, if one runs in time */
  endsInHandler: boolean
  mischief: MischiefPlan
  /** How often the application negotiates a protocol before it reads a stream that the peer has opened */
  negotiationChance: number
}

const USUAL_WEIGHTS: Record<typeof USUAL_ACTIONS[number], number> = {
  open: 6, openMany: 1, send: 20, pump: 8, read: 6, pause: 4, resume: 6, pushBack: 2, close: 4, closeRead: 1, abort: 2, prioritise: 3, ping: 1, rest: 1, sendChanging: 0, flood: 0
}

const MEGABYTE = 1_000_000
/** Which sides are light is drawn apart: all else of a seed is what it is without */
const LIGHT = 0x119447

/** With `isLight` at least one side of ours is light */
export function planOf (seed: number, isLight = false): Plan {
  const random = new Random(seed)
  const link = planLink(random.fork())
  const keepAlive = random.fork()
  const keepsAlive = keepAlive.chance(0.15)
  const isSilent = keepsAlive && keepAlive.chance(0.5)
  const stock = random.fork()
  const hasStock = !isSilent && stock.chance(0.15)
  const stockDials = stock.chance(0.5)
  const options = random.fork()
  const mergeMessages = options.pick(['backlog', 'backlog', true, false] as const)
  const planSide = (isOurs: boolean): SidePlan => ({
    isOurs,
    isLight: false,
    listensAtMs: isOurs && options.chance(0.1) ? options.integer(0, 40) : 0,
    options: {
      ...(isOurs ? planOptions(options.fork(), mergeMessages) : { streamOptions: { inactivityTimeout: 0 } }),
      enableKeepAlive: keepsAlive,
      keepAliveInterval: 1000
    }
  })

  if (hasStock) {
    // a stock muxer that its transport told to wait loses drains, and hangs
    link[stockDials ? 'toListener' : 'toDialler'] = { socketBufferBytes: Infinity }
  }

  if (isSilent) {
    // what takes no time at all is not stopped
    link.delayMs = Math.max(link.delayMs, 0.05)
    link.stalls = [{ atMs: keepAlive.integer(0, 200), forMs: Infinity }]
  }

  const plan: Plan = {
    sides: { dialler: planSide(!(hasStock && stockDials)), listener: planSide(!(hasStock && !stockDials)) },
    link,
    settles: !isSilent && random.chance(0.5),
    ending: isSilent ? 'silence' : random.pick(ENDINGS.filter(ending => ending !== 'silence')),
    endsInFlight: random.chance(0.6),
    endsInHandler: random.chance(0.3),
    ...planApplication(random.fork(), keepsAlive),
    // last, so that usual runs are what they were before there was any
    mischief: planMischief(random.fork(), hasStock),
    negotiationChance: 0
  }

  applyMischief(plan, random.fork())
  planBounds(plan, random.fork())
  planRequests(plan, random.fork())
  planStockWindow(plan, random.fork())
  planPeers(plan, random.fork())
  planNodeWindows(plan, random.fork())

  if (isLight) {
    planLight(plan, new Random(seed ^ LIGHT))
  }

  return plan
}

function planLight ({ sides }: Plan, random: Random): void {
  const ours = Object.values(sides).filter(({ isOurs }) => isOurs)
  random.pick([ours, [ours[0]], ours.slice(-1)]).forEach(side => { side.isLight = true })
}

/** A stock muxer takes its own initial window for what it may send, and tells nobody: the other side has to have room for that */
function planStockWindow ({ sides: { dialler, listener } }: Plan, random: Random): void {
  for (const [{ isOurs, options }, peer] of [[dialler, listener], [listener, dialler]] as const) {
    const initialStreamWindowSize = random.pick([undefined, MEGABYTE, 4_194_304])

    if (!isOurs && initialStreamWindowSize !== undefined) {
      options.streamOptions = { ...options.streamOptions, initialStreamWindowSize }
      peer.options.maxConnectionWindow = undefined
      peer.options.streamOptions = { ...peer.options.streamOptions, maxReadBufferLength: undefined, maxStreamWindowSize: undefined }
    }
  }
}

/** Requests as libp2p's programs make them: many in a turn, each closed behind its only message, and read by whoever has negotiated the protocol */
function planRequests (plan: Plan, random: Random): void {
  plan.weights.ask = random.pick([0, 0, 1, 4])
  plan.negotiationChance = random.pick([0, 0.3, 0.8])
}

/** How much the peer may have in flight */
function planPeers ({ sides }: Plan, random: Random): void {
  for (const side of Object.values(sides)) {
    side.capricesSeed = random.chance(0.3) ? random.integer(1, 1e9) : undefined
  }
}

/** How large all windows of a node may be. A stock peer may have to exceed its own. */
function planNodeWindows ({ sides }: Plan, random: Random): void {
  const hasStock = Object.values(sides).some(({ isOurs }) => !isOurs)

  for (const { options } of Object.values(sides)) {
    const maxNodeWindow = random.pick([undefined, undefined, 0, MEGABYTE, 3 * MEGABYTE])
    options.limits = { ...options.limits, maxNodeWindow: hasStock ? undefined : maxNodeWindow }
  }
}

/** How much of what is handed down may wait below the muxer */
function planBounds ({ sides }: Plan, random: Random): void {
  for (const { options } of Object.values(sides)) {
    options.coalesce = { ...options.coalesce, maxQueueDelayMs: random.pick([undefined, undefined, 1, 100, Infinity]) }
  }
}

function planLink (random: Random): LinkOptions {
  const sizes = random.fork()
  const isRough = random.chance(0.5)

  return {
    rateBytesPerS: random.pick([MEGABYTE / 2, 2 * MEGABYTE, 10 * MEGABYTE, 100 * MEGABYTE, Infinity]),
    delayMs: random.pick([0, 0.05, 1, 20]),
    socketBufferBytes: random.pick([1, 5000, 65_536, 65_536, 2_097_152, Infinity]),
    // now and then the end of a piece is within a header, or a few bytes into a body
    segmentBytes: isRough ? () => sizes.chance(0.1) ? sizes.integer(1, 30) : 65_536 : random.pick([1460, 65_536]),
    stalls: random.chance(0.2) ? [{ atMs: random.integer(0, 50), forMs: random.integer(1, 500) }] : []
  }
}

function planOptions (random: Random, mergeMessages: MergeMessages): YamuxMuxerInit {
  const initialStreamWindowSize = random.pick([262_144, 262_144, 262_145, 400_000, MEGABYTE])

  return {
    coalesce: { ...planStrategy(random), ...planBatch(random), mergeMessages },
    maxMessageSize: random.pick([undefined, undefined, 1024, 16_384, 65_536]),
    windowUpdateMode: random.chance(0.1) ? 'onReceive' : 'onRead',
    maxConnectionWindow: random.pick([undefined, 0, 300_000]),
    maxInboundStreams: random.chance(0.1) ? 2 : 1000,
    maxOutboundStreams: random.chance(0.1) ? 3 : 1000,
    maxEarlyStreams: Infinity,
    // an application may open, reset and refuse more than a well-behaved one would: seed 54958 does 1,016 streams in 0.7 s, 319281 15,000 in 6 s
    limits: { resets: { burst: Infinity }, refusedStreams: { burst: Infinity } },
    priority: random.chance(0.3) ? () => random.pick<Lane>(['urgent', 'normal', 'bulk']) : undefined,
    streamOptions: {
      initialStreamWindowSize,
      maxStreamWindowSize: random.pick([undefined, initialStreamWindowSize, 1.5 * MEGABYTE]),
      inactivityTimeout: random.chance(0.1) ? 200 : 0,
      maxReadBufferLength: random.pick([undefined, 300_000]),
      maxWriteBufferLength: random.chance(0.1) ? 400_000 : Infinity
    }
  }
}

function planStrategy (random: Random): CoalesceOptions {
  switch (random.pick(['default', 'turn', 'delay', 'adaptive', 'off'])) {
    case 'turn': return { strategy: 'turn' }
    case 'delay': return { strategy: 'delay', delayMs: random.pick([0.5, 2, 50]), highWatermark: random.pick([undefined, 0.1, 1]) }
    case 'adaptive': return { strategy: 'adaptive', maxDelayMs: random.pick([undefined, 20]) }
    case 'off': return { strategy: 'off' }
    default: return {}
  }
}

function planBatch (random: Random): CoalesceOptions {
  const maxBytes = random.pick([undefined, undefined, 2048, 5000, 200_000])

  return { maxBytes, reservedBytes: random.pick([undefined, 0, 1000]) }
}

function planApplication (random: Random, keepsAlive: boolean): Pick<Plan, 'steps' | 'weights' | 'reactionChance' | 'faultChance' | 'budgetBytes' | 'messageBytes'> {
  const weights = { ...USUAL_WEIGHTS, ask: 0 }

  for (const name of USUAL_ACTIONS) {
    weights[name] *= random.pick([0, 1, 1, 1, 4])
  }

  // without it nothing happens, and a connection that is kept alive never rests
  weights.open = Math.max(weights.open, 3)
  weights.rest = keepsAlive ? 0 : weights.rest

  return {
    steps: random.pick([10, 30, 60, 100]),
    weights,
    reactionChance: random.pick([0, 0, 0.05, 0.3, 0.3]),
    faultChance: random.pick([0, 0, 0, 0.1]),
    budgetBytes: random.pick([100_000, MEGABYTE, 3 * MEGABYTE]),
    messageBytes: random.pick([{ min: 1, max: 300 }, { min: 1, max: 16_384 }, { min: 1, max: 200_000 }, { min: 50_000, max: 300_000 }, { min: 100_000, max: 700_000 }])
  }
}
