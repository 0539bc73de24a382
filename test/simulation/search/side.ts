// One side of the connection: its muxer, the streams its application has, and what its application does by itself.
import { yamux as stock } from '@libp2p/yamux'
import { NodeBudget } from '../../../src/core/window/node-budget.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { fullControl, NoControl } from '../../../src/path-control.ts'
import { createConfig } from '../../../src/options/config.ts'
import { NodeMetrics } from '../../../src/observe/metrics.ts'
import { Muxer } from '../../../src/muxer/muxer.ts'
import { Random } from '../../../testing/simulation/random.ts'
import { act } from './actions.ts'
import { capricious } from './capricious.ts'
import { endConnection } from './endings.ts'
import { BrokenLaw, law } from './flow.ts'
import { createSink } from './metrics-sink.ts'
import { oddFault } from './odd-faults.ts'
import { ApplicationFault } from './run.ts'
import { StreamEnd } from './stream-end.ts'
import { WireTap } from './wire-tap.ts'
import type { Flow } from './flow.ts'
import type { ActionName, SidePlan } from './plan.ts'
import type { Run } from './run.ts'
import type { CreatePathControl } from '../../../src/core/path-control.ts'
import type { Session } from '../../../src/core/session.ts'
import type { FrameHeader } from '../../../testing/protocol/header-reader.ts'
import type { LinkEnd } from '../../../testing/simulation/link.ts'
import type { Stream, StreamMuxer } from '@libp2p/interface'

const FRAME_BYTES = 16_384
/** Reactions that cause reactions end here */
const MAX_REACTION_DEPTH = 3

/** What a sink of metrics does when it is told, so often at most in a run */
const SINK_ACTIONS: readonly ActionName[] = ['open', 'send', 'pause', 'abort', 'prioritise']
const SINK_CHANCE = 0.03
const MAX_SINK_ACTIONS = 100

export class Side {
  readonly isDialler: boolean
  readonly isOurs: boolean
  readonly random: Random
  readonly tap: WireTap
  readonly ends: StreamEnd[] = []
  /** The application has told this side's muxer or transport to end */
  isLeaving = false
  /** Its transport has thrown at a write */
  hasRefusedWrite = false
  /** Of all windows of the node, which has no other connection */
  readonly nodeBudget: NodeBudget
  readonly #run: Run
  readonly #nodeMetrics: NodeMetrics
  #linkEnd: LinkEnd | undefined
  #muxer: StreamMuxer | undefined
  #session: Session<unknown> | undefined
  #reactionDepth = 0
  #sinkActions = 0

  constructor (run: Run, isDialler: boolean, random: Random) {
    this.#run = run
    this.isDialler = isDialler
    this.isOurs = this.plan.isOurs
    this.random = random
    this.nodeBudget = new NodeBudget(this.plan.options.limits?.maxNodeWindow ?? Infinity)
    this.#nodeMetrics = new NodeMetrics(createSink(() => { this.#onMetric() }, code => { this.#onViolation(code) }), systemClock, this.nodeBudget, 1)
    this.tap = new WireTap(isDialler, this.isOurs, header => { run.trace(() => `  ${this.name} writes ${describe(header)}`) })
  }

  get name (): string {
    return this.isDialler ? 'dialler' : 'listener'
  }

  get plan (): SidePlan {
    return this.isDialler ? this.#run.plan.sides.dialler : this.#run.plan.sides.listener
  }

  get peer (): Side {
    return this.#run.sides[this.isDialler ? 1 : 0]
  }

  get linkEnd (): LinkEnd {
    return this.#linkEnd as LinkEnd
  }

  get muxer (): StreamMuxer {
    return this.#muxer as StreamMuxer
  }

  /** Of a muxer of ours */
  get session (): Session<unknown> | undefined {
    return this.#session
  }

  /** Nothing has ended it yet */
  get isSessionAlive (): boolean {
    return this.#session != null && this.#nodeMetrics.sessions.has(this.#session)
  }

  /** Each message is one event: both muxers keep them apart, and none is larger than a frame */
  get keepsMessages (): boolean {
    const { maxMessageSize = FRAME_BYTES } = this.peer.plan.options

    return [this, this.peer].every(({ plan }) => plan.options.coalesce?.mergeMessages === false) && this.#run.plan.messageBytes.max <= maxMessageSize
  }

  start (linkEnd: LinkEnd): void {
    const { options, listensAtMs, isLight, capricesSeed } = this.plan
    const usual: CreatePathControl = isLight ? init => new NoControl(init) : fullControl()
    const createPathControl = capricesSeed === undefined ? usual : capricious(usual, new Random(capricesSeed))
    this.#linkEnd = linkEnd
    this.#muxer = this.isOurs
      ? new Muxer(linkEnd, { ...createConfig(options), nodeBudget: this.nodeBudget }, systemClock, { createPathControl, metrics: this.#nodeMetrics })
      : stock(options as Parameters<typeof stock>[0])().createStreamMuxer(linkEnd)
    ;[this.#session] = this.#nodeMetrics.sessions

    const listen = (): void => {
      this.muxer.addEventListener('stream', evt => this.#run.attempt(() => { this.#onStream(evt.detail) }))
    }

    if (listensAtMs === 0) {
      listen()
    } else {
      this.#run.sim.at(listensAtMs, listen)
    }
  }

  /** The two directions of a stream, as this side sees them */
  flows (streamId: number): { outgoing: Flow, incoming: Flow } {
    const { fromDialler, fromListener } = this.#run.conversation(streamId).flows

    return this.isDialler ? { outgoing: fromDialler, incoming: fromListener } : { outgoing: fromListener, incoming: fromDialler }
  }

  open (use?: (end: StreamEnd) => void): void {
    const run = this.#run
    const abortAfterMs = this.random.chance(0.05) ? this.random.integer(0, 3) : undefined
    const controller = new AbortController()

    if (abortAfterMs != null) {
      run.hasCancelledOpens = true
      run.sim.at(run.sim.nowMs + abortAfterMs, () => { controller.abort() })
    }

    const opened = this.muxer.createStream({ signal: controller.signal }).then(stream => {
      const end = this.#add(stream)

      if (!run.isSettling) {
        use?.(end)
      }
    })

    run.start(run.track(`createStream() of the ${this.name}`, opened).then(err => {
      law(err == null || this.isLeaving || run.isEnding || controller.signal.aborted || err.name === 'TooManyOutboundProtocolStreamsError', () => `createStream() was rejected with ${err}`)
    }))
  }

  ping (): void {
    if (this.muxer instanceof Muxer) {
      const run = this.#run

      run.start(run.track(`ping() of the ${this.name}`, this.muxer.ping()).then(err => {
        law(err == null || run.isEnding, () => `ping() was rejected with ${err}`)
      }))
    }
  }

  /** The stream may be cut off for a reason that does not lie with who uses it */
  mayLose (end: StreamEnd): boolean {
    return this.#run.isEnding || this.mayLoseByPlan(end)
  }

  /** For a reason other than the end of the connection */
  mayLoseByPlan (end: StreamEnd): boolean {
    const run = this.#run
    const plans = [this.plan, this.peer.plan]
    const isRefused = end.conversation.ends.length === 1 && plans.some(({ options }) => options.maxInboundStreams === 2)
    const isCancelled = run.hasCancelledOpens && end.stream.direction === 'inbound'

    return isRefused || isCancelled || plans.some(({ options }) => options.windowUpdateMode === 'onReceive' || options.streamOptions?.inactivityTimeout === 200)
  }

  /** What the application does within an event handler, or the body of a loop; what handlers throw ends their stream */
  react (end: StreamEnd, isHandler: boolean): void {
    const { reactionChance, faultChance } = this.#run.plan

    if (this.#run.isEndDue && this.isOurs) {
      endConnection(this.#run, this)
    }

    if (this.#reactionDepth < MAX_REACTION_DEPTH && this.random.chance(reactionChance)) {
      this.#reactionDepth++

      try {
        act(this.#run, this, this.random, end)
      } finally {
        this.#reactionDepth--
      }
    }

    if (this.random.chance(faultChance)) {
      const fault = isHandler && this.isOurs && this.#run.isUpTo('oddFaults')
        ? oddFault(this.random)
        : new ApplicationFault('thrown by a handler', { isOurs: this.isOurs })

      if (isHandler && this.isOurs) {
        end.onFault(fault.isLate)
      }

      throw fault
    }
  }

  #onMetric (): void {
    const run = this.#run

    // it may be told within the constructor of its muxer
    if (this.#muxer == null || !run.isUpTo('busyMetrics') || run.isSettling || this.#reactionDepth >= MAX_REACTION_DEPTH || this.#sinkActions >= MAX_SINK_ACTIONS || !this.random.chance(SINK_CHANCE)) {
      return
    }

    this.#sinkActions++
    this.#reactionDepth++

    try {
      run.trace(() => `  ${this.name}'s metrics are told`)

      if (run.neighbour != null && this.random.chance(0.3)) {
        run.neighbour.send()
      } else {
        act(run, this, this.random, undefined, SINK_ACTIONS)
      }
    } catch (err) {
      // the muxer would only log it
      run.fail(err)
    } finally {
      this.#reactionDepth--
    }
  }

  /** No peer of ours, or stock one, is taken for an attacker */
  #onViolation (code: string): void {
    if (this.#run.plan.ending !== 'silence') {
      this.#run.fail(new BrokenLaw(`the ${this.name} ended the connection for ${code}`))
    }
  }

  #onStream (stream: Stream): void {
    this.#run.trace(() => `  ${this.name} sees stream ${stream.id}`)
    const end = this.#add(stream)

    if (!this.#run.isSettling) {
      const { negotiationChance } = this.#run.plan

      if (this.isOurs && negotiationChance > 0 && this.random.chance(negotiationChance)) {
        end.negotiate()
      } else if (!this.isOurs || this.random.chance(0.6)) {
        end.read(this.isOurs && this.random.chance(0.5))
      }

      this.react(end, true)
    }
  }

  #add (stream: Stream): StreamEnd {
    const end = new StreamEnd(this.#run, this, stream)
    this.ends.push(end)

    // what nobody reads a stock stream gives up when it is too much
    if (!this.isOurs && !this.#run.isSettling && end.stream.direction === 'outbound') {
      end.read(false)
    }

    return end
  }
}

function describe ({ type, flags, id, length }: FrameHeader): string {
  const names = ['SYN', 'ACK', 'FIN', 'RST'].filter((_, bit) => (flags & (1 << bit)) !== 0)

  return [['DATA', 'WINDOW_UPDATE', 'PING', 'GO_AWAY'][type], id, ...names, length].join(' ')
}
