// What must be so: after every event, when everything rests, and in the end.
import { law } from './flow.ts'
import { freeBytesOf } from '../../../testing/core/budgets.ts'
import { controlOf } from '../../../testing/core/sessions.ts'
import { MIN_WRITE_BYTES } from '../../../src/core/path-control.ts'
import { HIGH_WATERMARK_BYTES, LOW_WATERMARK_PART } from '../../../src/core/scheduler/watermarks.ts'
import type { Run } from './run.ts'
import type { Side } from './side.ts'
import type { StreamEnd } from './stream-end.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'

const MAX_UNACKED_STREAMS = 256
const DEFAULT_WINDOW_BYTES = 16_777_216
/** Behind the FIN of who would give more: half of the protocol's window */
const ENOUGH_CREDIT_BYTES = 131_072

/** After every event: credit, queues and counts */
export function checkAlways (run: Run): void {
  if (run.failure != null) {
    throw run.failure
  }

  for (const side of run.sides) {
    if (side.session != null) {
      checkSession(side)
    }
  }

  // what was put back is offered again by one; one bounds how long last words may take to leave
  if (run.sides.every(({ isOurs, isSessionAlive, linkEnd, ends }) => isOurs && !isSessionAlive && linkEnd.status !== 'open' && ends.every(({ hasPushedBack }) => !hasPushedBack))) {
    law(run.sim.timerCount === 0, () => `${run.sim.timerCount} timers are left of connections that have ended`)
  }
}

/** When everybody has been told what there is to be told: a listener that failed has ended its stream */
export function checkFaults (run: Run): void {
  for (const { ends } of run.sides) {
    for (const end of ends) {
      law(!end.isFailing || end.isOver, () => `${end.name} goes on after one of its listeners has failed`)
    }
  }
}

function checkSession (side: Side): void {
  const { session, name, plan: { options } } = side

  if (session == null) {
    return
  }

  const { streams } = session

  const { nodeBudget } = side

  if (!side.isSessionAlive) {
    law(nodeBudget.freeBytes === nodeBudget.maxBytes, () => `the session of the ${name} has ended, and the node has ${nodeBudget.freeBytes} bytes left of ${nodeBudget.maxBytes}`)
    law(streams.size === 0 && side.muxer.streams.length === 0, () => `the session of the ${name} has ended with ${streams.size} streams`)
    return
  }

  const counts = { inbound: 0, outbound: 0, unacked: 0, urgent: 0, queuedBytes: 0, takenBytes: 0, windowBytes: 0 }

  for (const state of streams.values()) {
    checkState(side, state)
    counts[state.isOutbound ? 'outbound' : 'inbound']++
    counts.unacked += Number(state.awaitsAck)
    counts.urgent += Number(state.lane === 0)
    counts.queuedBytes += state.isInDataLane ? state.sendQueue.byteLength : 0
    counts.windowBytes += state.receiveWindow.windowBytes + state.receiveWindow.raiseBytes
    counts.takenBytes += state.receiveWindow.grownBytes + state.receiveWindow.headStartBytes + state.receiveWindow.reserveBytes
  }

  checkInFlight(side)
  law(session.eventful.length === 0, () => `the ${name} has news that nobody was told`)
  law(streams.inboundCount >= counts.inbound && streams.outboundCount >= counts.outbound, () => `the ${name} counts ${streams.inboundCount} and ${streams.outboundCount} streams of ${counts.inbound} and ${counts.outbound}`)
  law(streams.inboundCount <= (options.maxInboundStreams ?? Infinity) && streams.outboundCount <= (options.maxOutboundStreams ?? Infinity), () => `the ${name} has ${streams.inboundCount} and ${streams.outboundCount} streams`)
  law(streams.unackedCount === counts.unacked && counts.unacked <= MAX_UNACKED_STREAMS, () => `the ${name} counts ${streams.unackedCount} streams that await an ACK of ${counts.unacked}`)
  law(streams.urgentCount === counts.urgent, () => `the ${name} counts ${streams.urgentCount} urgent streams of ${counts.urgent}`)
  law(session.lanes.queuedBytes === counts.queuedBytes, () => `the ${name} counts ${session.lanes.queuedBytes} queued bytes of ${counts.queuedBytes}`)
  law(nodeBudget.freeBytes + (nodeBudget.maxBytes < Infinity ? counts.windowBytes : 0) === nodeBudget.maxBytes, () => `the node of the ${name} has ${nodeBudget.freeBytes} bytes left of ${nodeBudget.maxBytes}, its windows have ${counts.windowBytes}`)
  law(freeBytesOf(streams.budget) >= 0 && freeBytesOf(streams.budget) + counts.takenBytes === (options.maxConnectionWindow ?? 2 * (options.streamOptions?.maxStreamWindowSize ?? DEFAULT_WINDOW_BYTES)), () => `the budget of the ${name} has ${freeBytesOf(streams.budget)} bytes left, its streams have taken ${counts.takenBytes}`)
}

/** What the muxer thinks is in flight, beside what has passed the wire */
function checkInFlight ({ session, name, tap, peer, plan: { isLight } }: Side): void {
  if (session == null) {
    return
  }

  const { writtenBytes, confirmedBytes, markedBytes } = session.positions

  law(writtenBytes === tap.writtenBytes, () => `the ${name} counts ${writtenBytes} bytes handed down of ${tap.writtenBytes}`)
  law(confirmedBytes <= peer.tap.receivedBytes, () => `the ${name} was told of ${confirmedBytes} bytes that have arrived, ${peer.tap.receivedBytes} have`)

  if (isLight) {
    law(markedBytes === 0, () => `the ${name} is light, and has written a mark`)
    return
  }

  const { acknowledgedBytes, isHeld, estimate } = controlOf(session)

  law(confirmedBytes <= acknowledgedBytes && acknowledgedBytes <= writtenBytes, () => `the ${name} takes ${acknowledgedBytes} bytes for arrived, of ${writtenBytes} handed down and ${confirmedBytes} that were told of`)
  law(estimate.bound.bytes >= 2 * MIN_WRITE_BYTES, () => `the ${name} allows ${estimate.bound.bytes} bytes in flight`)
  law(estimate.bound.writeBytes >= 1 && estimate.bytesPerMs < Infinity, () => `the ${name} has writes of ${estimate.bound.writeBytes} bytes on a path of ${estimate.bytesPerMs} bytes a millisecond`)
  law(!isHeld || writtenBytes > acknowledgedBytes, () => `the ${name} holds back data with nothing in flight`)
}

/** A stream, beside what has passed the wire */
function checkState ({ name, tap }: Side, state: StreamState): void {
  const { id, creditBytes, receiveWindow, readBuffer, sendQueue } = state
  const { creditBytes: grantedBytes, allowanceBytes } = tap.dialogue(id)
  const isEnded = state.life.remoteWriteStatus === 'closed'

  law(!state.life.isOver, () => `${name}'s stream ${id} is over and still there`)
  law(creditBytes === grantedBytes && creditBytes >= 0, () => `${name}'s stream ${id} counts ${creditBytes} bytes of credit, it has ${grantedBytes}`)
  law(receiveWindow.availableBytes === (isEnded ? 0 : allowanceBytes) && allowanceBytes >= 0, () => `${name}'s stream ${id} allows ${receiveWindow.availableBytes} bytes, the peer was told ${allowanceBytes}`)
  law(receiveWindow.availableBytes <= receiveWindow.windowBytes, () => `${name}'s stream ${id} allows ${receiveWindow.availableBytes} bytes with a window of ${receiveWindow.windowBytes}`)
  law(!isEnded || receiveWindow.readBytes === 0, () => `${name}'s stream ${id} keeps ${receiveWindow.readBytes} read bytes of its window after the FIN`)
  law(state.isInDataLane === state.canSendData, () => `${name}'s stream ${id} has ${sendQueue.byteLength} bytes and ${creditBytes} of credit, and is ${state.isInDataLane ? '' : 'not '}in the lane`)
  law(readBuffer.byteLength >= 0 && sendQueue.byteLength >= 0, () => `${name}'s stream ${id} holds less than nothing`)
}

/** Nothing is left to happen: all that may be sent was sent, and all that is owed was paid */
export function checkAtRest (run: Run): void {
  checkAlways(run)

  for (const side of run.sides) {
    const { session, name, peer } = side

    if (session == null || !side.isSessionAlive || run.isEnding) {
      continue
    }

    for (const end of side.ends.filter(({ isEndedByChange }) => isEndedByChange)) {
      const { isOpen, isReset } = side.tap.dialogue(Number(end.stream.id))
      law(isReset || !isOpen, () => `${end.name} has ended for changed bytes, and the peer was not told`)
    }

    law(!session.hasOutput, () => `the ${name} has output that it does not write`)
    law(side.tap.unansweredPings === 0 || !side.isOurs, () => `the ${name} leaves ${side.tap.unansweredPings} pings unanswered`)

    for (const state of session.streams.values()) {
      const { id, life, creditBytes, receiveWindow, sendQueue, readBuffer } = state
      const peersState = peer.session?.streams.get(id)
      const { windowBytes, availableBytes } = receiveWindow
      const unreadBytes = readBuffer.byteLength

      law(!state.canSendData, () => `${name}'s stream ${id} does not send its ${sendQueue.byteLength} bytes`)
      law(!state.awaitsDrain || sendQueue.byteLength > LOW_WATERMARK_PART * HIGH_WATERMARK_BYTES, () => `the writer of ${name}'s stream ${id} waits with ${sendQueue.byteLength} bytes`)
      law(life.writeStatus !== 'closing' || sendQueue.byteLength > 0, () => `${name}'s stream ${id} has nothing left to send and no FIN`)

      if (peersState != null) {
        law(!state.awaitsAck, () => `${name}'s stream ${id} was never acknowledged`)
        law(peersState.life.remoteWriteStatus === 'closed' || creditBytes === peersState.receiveWindow.availableBytes, () => `${name}'s stream ${id} has ${creditBytes} bytes of credit, the peer allows ${peersState.receiveWindow.availableBytes}`)
        const hasEnough = life.writeStatus === 'closed' && availableBytes > ENOUGH_CREDIT_BYTES
        law(life.remoteWriteStatus === 'closed' || hasEnough || windowBytes - availableBytes - unreadBytes <= windowBytes / 2, () => `${name}'s stream ${id} has read more than half its window of ${windowBytes} bytes and not said so: ${availableBytes} are left`)
      }
    }
  }
}

/** Every stream was used to its end: nothing is missing that nobody has given up */
export function checkSettled (run: Run): void {
  for (const side of run.sides) {
    for (const end of side.ends) {
      law(end.isOver, () => `${end.name} never ends: it is ${end.stream.status}, ${end.stream.writeStatus}, ${end.stream.readStatus}; sent ${end.outgoing.sentBytes}, received ${end.incoming.receivedBytes} of ${end.incoming.sentBytes}`)

      if (!end.conversation.isAborted && !side.mayLose(end)) {
        checkComplete(end)
      }
    }
  }

  checkNothingIsLeft(run)
}

/** Whether it makes sense to ask: for connections that never rest */
export function isSettled ({ pending, sides }: Run): boolean {
  // what a negotiation has put back is read after it
  return pending.size === 0 && sides.every(({ ends, session, isSessionAlive }) => ends.every(({ isOver, reading }) => isOver && reading !== 'negotiation') &&
    // one that its transport has ended may have had more to say
    (session == null || !isSessionAlive || (!session.hasOutput && session.streams.size === 0)))
}

function checkComplete (end: StreamEnd): void {
  const { incoming, name } = end

  law(end.conversation.ends.length === 2, () => `${name} has no other end`)
  law(end.reading === 'closed' || (incoming.receivedBytes === incoming.sentBytes), () => `${name} received ${incoming.receivedBytes} of ${incoming.sentBytes} bytes`)
  law(!end.side.isOurs || end.reading === 'closed' || end.hasEndedWell, () => `${name} was not told that it has all`)
}

/** Every stream is over on both sides, and no promise is due */
export function checkNothingIsLeft (run: Run): void {
  checkAlways(run)

  const [pending] = run.pending.values()
  law(run.pending.size === 0, () => `${run.pending.size} promises are not settled, such as ${pending}`)

  for (const side of run.sides) {
    law(side.muxer.streams.length === 0, () => `the muxer of the ${side.name} lists ${side.muxer.streams.length} streams`)

    if (side.session != null) {
      const { size, inboundCount, outboundCount, unackedCount, urgentCount } = side.session.streams
      // a reset that was never written keeps its place
      const places = side.isSessionAlive ? inboundCount + outboundCount : 0
      law(size + places + unackedCount + urgentCount === 0, () => `the ${side.name} counts ${size} streams, ${inboundCount} inbound, ${outboundCount} outbound, ${unackedCount} that await an ACK, ${urgentCount} urgent`)
    }
  }
}

/** A muxer that was closed has left nothing unsaid */
function checkGoodOrder (run: Run): void {
  if (run.sides.some(({ hasRefusedWrite }) => hasRefusedWrite)) {
    return
  }

  for (const { conversation, outgoing, name, side } of run.closedInGoodOrder) {
    const [peersEnd] = conversation.ends.filter(end => end.side !== side)

    if (peersEnd != null && !conversation.isAborted && !side.peer.mayLoseByPlan(peersEnd) && peersEnd.reading !== 'closed') {
      law(peersEnd.incoming.receivedBytes === outgoing.sentBytes, () => `${name} was closed in good order, and ${peersEnd.incoming.receivedBytes} of ${outgoing.sentBytes} bytes came`)
    }
  }
}

/** The connection has ended: every byte has come in order, or whoever waits for it has been told */
export function checkEnded (run: Run): void {
  checkNothingIsLeft(run)
  law(run.sim.timerCount === 0, () => `${run.sim.timerCount} timers are left`)
  checkGoodOrder(run)

  for (const side of run.sides) {
    law(side.muxer.status === 'closed', () => `the muxer of the ${side.name} is ${side.muxer.status}`)

    for (const end of side.ends) {
      const { incoming, stream } = end
      law(end.isOver, () => `${end.name} never ends: it is ${stream.status}`)

      const isWell = end.closed?.error == null
      const isComplete = incoming.isClosed && incoming.receivedBytes === incoming.sentBytes
      law(!isWell || isComplete || !side.isOurs || side.isLeaving || end.hasAborted || end.isFailing || end.reading === 'closed', () => `${end.name} received ${incoming.receivedBytes} of ${incoming.sentBytes} bytes, and no error`)
    }
  }
}
