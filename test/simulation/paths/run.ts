// Runs a plan: what arrives, and how long urgent messages take, with the bound on bytes in flight or without it.
import { fullControl } from '../../../src/path-control.ts'
import { Random } from '../../../testing/simulation/random.ts'
import { Endpoint } from './endpoint.ts'
import { Bottleneck } from '../../../testing/simulation/bottleneck.ts'
import { Program } from './program.ts'
import { Timeline } from '../../../testing/simulation/timeline.ts'
import { Socket } from './socket.ts'
import type { CreatePathControl } from '../../../src/core/path-control.ts'
import type { Answers, Content } from './endpoint.ts'
import type { Way } from './socket.ts'
import type { Answering, Plan, Turns, Work } from './plan.ts'

const REQUEST_BYTES = 100

/** Of a link and all connections on it */
export interface Outcome {
  deliveredBytes: number
  /** From this node alone, and on each connection */
  sentBytes: number
  sentBytesOfEach: number[]
  urgentP99Ms: number
}

export interface RunOptions {
  maxQueueDelayMs: number
  /** What this node's connections have in place of the muxer's own */
  createControl?: () => CreatePathControl
  /** Nothing but urgent messages */
  isIdle?: boolean
  /** Called every `stepMs`, with this node's ends of the connections */
  stepMs?: number
  onStep?(nowMs: number, own: Endpoint[]): void
}

function turnsOf ({ meanMs, busyPart }: Turns, random: Random): () => number {
  if (meanMs === 0) {
    return () => 0
  }

  return () => {
    const isBusy = random.chance(busyPart)
    const ms = meanMs * (0.5 + random.next())

    return isBusy ? ms : Math.min(1, ms)
  }
}

function createAnswers (answering: Answering, random: Random): Answers {
  switch (answering.kind) {
    case 'none':
      return () => undefined
    case 'some':
      return () => random.chance(answering.droppedPart) ? undefined : 0
    case 'few': {
      let nextMs = 0

      return nowMs => {
        if (nowMs < nextMs) {
          return undefined
        }

        nextMs = nowMs + 1000 / answering.perSecond

        return 0
      }
    }
    case 'late':
      return () => random.chance(answering.part) ? answering.minMs + random.next() * (answering.maxMs - answering.minMs) : 0
    case 'clumps':
      return nowMs => Math.ceil(nowMs / answering.everyMs) * answering.everyMs - nowMs
    default:
      return () => 0
  }
}

function further (timeline: Timeline, link: Bottleneck, ms: number): Way {
  return {
    get rateBytesPerMs () { return link.rateBytesPerMs },
    get delayMs () { return link.delayMs + ms },
    send (byteLength, onArrived) { link.send(byteLength, () => { timeline.in(ms, onArrived) }) }
  }
}

/** `from` answers, `to` asks */
function ask (from: Endpoint, to: Endpoint, { atOnce, answerBytes }: Extract<Work, { kind: 'requests' }>): void {
  let askedBytes = 0
  let arrivedBytes = 0

  from.onData = byteLength => {
    askedBytes += byteLength

    for (; askedBytes >= REQUEST_BYTES; askedBytes -= REQUEST_BYTES) {
      from.send(answerBytes)
    }
  }

  to.onData = byteLength => {
    arrivedBytes += byteLength

    for (; arrivedBytes >= answerBytes; arrivedBytes -= answerBytes) {
      to.send(REQUEST_BYTES)
    }
  }

  to.send(atOnce * REQUEST_BYTES)
}

export function run (plan: Plan, { maxQueueDelayMs, createControl = fullControl, isIdle = false, stepMs = Infinity, onStep }: RunOptions): Outcome[] {
  const random = new Random(plan.seed)
  const timeline = new Timeline()
  const program = new Program(timeline, turnsOf(plan.turns, random.fork()))
  const createPathControl = createControl()

  const links = plan.links.map(({ steps, backSteps = steps, jitterMs }) => {
    const [there, back] = [random.fork(), random.fork()]
    const jitterOf = (random: Random): () => number => () => random.next() * jitterMs

    return { there: new Bottleneck(timeline, { steps, jitterMs: jitterOf(there) }), back: new Bottleneck(timeline, { steps: backSteps, jitterMs: jitterOf(back) }) }
  })

  const connections = plan.connections.map(({ link, buffers, peerTurns, answering, work, peersWork = work, startMs, isTwoWay, isPeerUnbounded = false, furtherMs = 0 }) => {
    const { there, back } = links[link]
    const toPeer = new Socket<Content>(timeline, further(timeline, there, furtherMs), buffers)
    const fromPeer = new Socket<Content>(timeline, further(timeline, back, furtherMs), buffers)
    const { msPerMegabyte } = plan
    const common = { timeline, maxQueueDelayMs, msPerMegabyte }
    const [peerRandom, answersRandom] = [random.fork(), random.fork()]
    const own = new Endpoint({ ...common, program, out: toPeer, in: fromPeer, createPathControl, answers: () => 0 })
    const peer = new Endpoint({ ...common, maxQueueDelayMs: isPeerUnbounded ? Infinity : maxQueueDelayMs, program: new Program(timeline, turnsOf(peerTurns, peerRandom)), out: fromPeer, in: toPeer, createPathControl: fullControl(), answers: createAnswers(answering, answersRandom) })

    const begin = (endpoint: Endpoint, work: Work): void => {
      if (work.kind === 'bulk') {
        endpoint.send(Infinity)
      } else if (work.kind === 'requests') {
        ask(endpoint, endpoint === own ? peer : own, work)
      } else {
        const burst = (): void => {
          endpoint.send(work.byteLength)
          timeline.in(work.everyMs, burst)
        }

        burst()
      }
    }

    const remind = (): void => {
      own.sendUrgent()
      timeline.in(plan.urgentEveryMs, remind)
    }

    timeline.in(startMs + plan.urgentEveryMs / 2, remind)

    if (!isIdle) {
      timeline.in(startMs, () => {
        begin(own, work)

        if (isTwoWay) {
          begin(peer, peersWork)
        }
      })
    }

    return { link, own, peer }
  })

  for (let atMs = 0; atMs < plan.durationMs; atMs += stepMs) {
    timeline.runUntil(atMs)
    onStep?.(atMs, connections.map(({ own }) => own))
  }

  timeline.runUntil(plan.settledMs)
  connections.forEach(({ own, peer }) => { [own, peer].forEach(end => { end.forget() }) })
  timeline.runUntil(plan.durationMs)

  return links.map((_, index) => {
    const on = connections.filter(({ link }) => link === index)
    const latenciesMs = on.flatMap(({ peer }) => peer.latenciesMs).sort((a, b) => a - b)

    return {
      deliveredBytes: on.reduce((sum, { own, peer }) => sum + own.deliveredBytes + peer.deliveredBytes, 0),
      sentBytes: on.reduce((sum, { peer }) => sum + peer.deliveredBytes, 0),
      sentBytesOfEach: on.map(({ peer }) => peer.deliveredBytes),
      urgentP99Ms: latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? Infinity
    }
  })
}
