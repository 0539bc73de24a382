// One end of a stream, and the application that uses it. Checks all that the application can see.
import { Uint8ArrayList } from 'uint8arraylist'
import { COPIED_BELOW_BYTES } from '../../../src/core/buffers/send-queue.ts'
import { law } from './flow.ts'
import { ChangingBytes } from './changing-bytes.ts'
import { foreignCopy, foreignList } from './foreign.ts'
import { reasonToAbort } from './odd-faults.ts'
import { ApplicationFault, isError, print } from './run.ts'
import type { Conversation, Flow } from './flow.ts'
import type { Side } from './side.ts'
import type { Run } from './run.ts'
import type { MessageStreamEvents, Stream } from '@libp2p/interface'

const MAX_PUMPED_MESSAGES = 100
/** A stock stream that has used its window may hang when it is closed: it sends this part of it */
const MAX_STOCK_PART = 3 / 4
const STOCK_WINDOW_BYTES = 262_144
const FOREIGN_CHANCE = 0.4
const PAUSE_IN_LISTENER_CHANCE = 0.3
const COMPANION_CHANCE = 0.5
const FLOOD_MESSAGE_BYTES = 3
const MAX_NEGOTIATED_BYTES = 100
/** Bytes that were sent are changed at once, soon, or so late that they may have been written */
const MAX_CHANGE_DELAY_MS = 20

type Reading = 'nobody' | 'listener' | 'loop' | 'negotiation' | 'closed'

export class StreamEnd {
  readonly stream: Stream
  readonly side: Side
  readonly conversation: Conversation
  readonly outgoing: Flow
  readonly incoming: Flow
  reading: Reading = 'nobody'
  hasAborted = false
  /** It was aborted when it was over and nobody read it: what is unread stays */
  #keepsUnread = false
  hasPushedBack = false
  /** A listener has failed, and the muxer is about to learn of it */
  isFailing = false
  /** Bytes were changed after they were sent and before they were written */
  hasChangedBytes = false
  /** It ended because of that */
  isEndedByChange = false
  /** 'close' was dispatched, with this error if any */
  closed: { error?: Error } | undefined
  /** A loop came to its end without an error, or 'end' was dispatched while the stream was well */
  hasEndedWell = false
  readonly #run: Run
  #pumps = 0
  #isToldToWait = false
  #hasLoop = false
  /** Another loop reads beside it for a while: it does not leave anything to that */
  #hasCompanion = false
  /** It was over before the peer's FIN came */
  #isFinTooLate = false
  #chunksSinceAbort = 0
  /** A listener was given bytes that it has not counted yet, and does something else before */
  #hasUnseen = false

  constructor (run: Run, side: Side, stream: Stream) {
    const id = Number(stream.id)
    this.#run = run
    this.side = side
    this.stream = stream
    this.conversation = run.conversation(id)
    const { outgoing, incoming } = side.flows(id)
    this.outgoing = outgoing
    this.incoming = incoming
    law(this.conversation.ends.every(end => end.side !== side), () => `stream ${id} appeared twice at the ${side.name}`)
    this.conversation.ends.push(this)
    this.#listen()

    if (run.isSettling) {
      this.finish()
    }
  }

  get name (): string {
    return `${this.side.name}'s stream ${this.stream.id}`
  }

  /** It has told the application that it is over */
  get isOver (): boolean {
    return this.closed != null
  }

  get canRead (): boolean {
    return this.stream.readStatus === 'readable' || this.stream.readStatus === 'paused'
  }

  get canWrite (): boolean {
    return this.stream.writeStatus === 'writable'
  }

  /** What it may still send */
  get leftBytes (): number {
    const { outgoing, side } = this
    const stockBytes = MAX_STOCK_PART * (side.plan.options.streamOptions?.initialStreamWindowSize ?? STOCK_WINDOW_BYTES)
    const flowBytes = side.isOurs ? outgoing.leftBytes : Math.min(outgoing.leftBytes, stockBytes - outgoing.sentBytes)

    return Math.max(0, Math.min(flowBytes, this.#run.budgetBytes - this.#run.sentBytes))
  }

  /** Returns false when the application should wait */
  send (byteLength: number): boolean {
    const bytes = this.outgoing.take(byteLength)
    const cut = Math.floor(byteLength / 3)
    const parts = [bytes.subarray(0, cut), bytes.subarray(cut)]
    const isList = this.side.random.chance(0.2)

    if (this.#isForeign()) {
      return this.#send(isList ? foreignList(...parts) : foreignCopy(bytes))
    }

    return this.#send(isList ? new Uint8ArrayList(...parts) : bytes)
  }

  /** Sends bytes, and changes them some time later */
  sendChanging (byteLength: number): void {
    const { outgoing, stream } = this
    const { random } = this.side
    const { sim } = this.#run
    const bytes = new ChangingBytes(outgoing.take(byteLength), random)
    const endByte = outgoing.sentBytes
    this.#send(bytes.view)

    const change = (): void => {
      const isUnwritten = !this.isOver && outgoing.sentBytes - stream.writeBufferLength < endByte
      const isChanged = bytes.change()
      this.#run.trace(() => `  ${this.name}: ${isChanged ? '' : 'un'}changed are the ${isUnwritten ? 'un' : ''}written bytes up to ${endByte}`)

      if (isUnwritten && isChanged && byteLength >= COPIED_BELOW_BYTES) {
        this.hasChangedBytes = true
        this.conversation.isAborted = true
      }
    }

    switch (random.integer(0, 2)) {
      case 0:
        change()
        break
      case 1:
        queueMicrotask(change)
        break
      default:
        sim.at(sim.nowMs + random.next() * MAX_CHANGE_DELAY_MS, change)
    }
  }

  /** Very many, very small */
  flood (messages: number): void {
    for (let i = 0; i < messages && this.canWrite; i++) {
      const byteLength = Math.min(this.side.random.integer(1, FLOOD_MESSAGE_BYTES), this.leftBytes)

      if (byteLength === 0 || !this.send(byteLength)) {
        return
      }
    }
  }

  /** Sends as much as it may until so much is sent */
  pump (totalBytes: number, messageBytes: number): void {
    this.#run.start(this.#pump(totalBytes, messageBytes))
  }

  read (byLoop: boolean): void {
    if (this.reading !== 'nobody') {
      return
    }

    if (byLoop) {
      this.reading = 'loop'
      // which may get what it was handed before it is told to stop
      this.#hasLoop = true
      // a loop may miss a window, and throws if that is more than it may miss
      const mayMiss = this.side.plan.options.streamOptions?.maxReadBufferLength === undefined
      this.#hasCompanion = this.side.isOurs && !this.#run.isSettling && this.#run.isUpTo('companions') && this.side.random.chance(COMPANION_CHANCE) && mayMiss
      this.#run.start(this.#run.track(`the loop over ${this.name}`, this.#loop()).then(err => {
        law(err == null, () => `the loop over ${this.name} threw ${err} while it is ${this.stream.status}`)
      }))

      if (this.#hasCompanion) {
        this.#run.start(this.#accompany())
      }
    } else {
      this.reading = 'listener'
      this.#on('message', evt => {
        const isPlaying = !this.#run.isSettling && this.side.isOurs && this.#run.isUpTo('pausingListeners') && this.side.random.chance(PAUSE_IN_LISTENER_CHANCE)
        const isEarly = isPlaying && this.side.random.chance(0.5)

        if (isEarly) {
          this.#hasUnseen = true
          this.#pauseAndResume()
          this.#hasUnseen = false
        }

        this.#received(evt.data)

        if (isPlaying && !isEarly) {
          this.#pauseAndResume()
        }

        this.#react(true)
      })
    }
  }

  /** As libp2p does: a listener takes what comes until it has enough, and puts back the rest; later somebody else reads on */
  negotiate (): void {
    this.reading = 'negotiation'
    this.#run.start(this.#negotiate())
  }

  close (signal?: AbortSignal): void {
    this.outgoing.isClosed = true
    const isOpen = this.stream.status === 'open'

    this.#run.start(this.#run.track(`close() of ${this.name}`, this.stream.close({ signal })).then(err => {
      law(err != null || !isOpen || this.#hasWrittenFin, () => `close() of ${this.name} says that all is sent, and there was no FIN`)
    }))
  }

  closeRead (): void {
    this.reading = 'closed'
    this.#run.start(this.#run.track(`closeRead() of ${this.name}`, this.stream.closeRead()))
  }

  abort (errorCode: number): void {
    this.hasAborted = true
    this.#noteUnread()
    this.conversation.isAborted = true
    this.stream.abort(errorCode === 0 ? reasonToAbort(this.#run, this.side) : Object.assign(new ApplicationFault('aborted by the application'), { errorCode }))
  }

  /** A handler of the stream is about to throw: that aborts it, or discards what is unread of one that is over */
  onFault (isLate: boolean): void {
    this.isFailing ||= isLate
    this.hasAborted ||= !isLate
    this.conversation.isAborted = true
    this.#noteUnread()
  }

  /** Bytes that were read are put back, and must come again */
  pushBack (byteLength: number): void {
    const { incoming, stream } = this
    const count = Math.min(byteLength, incoming.receivedBytes)

    // a program that puts back what stands in front of a message it has in hand mixes them up itself
    if (count > 0 && !this.#hasUnseen) {
      this.hasPushedBack = true
      incoming.receivedBytes -= count
      const bytes = incoming.peek(count)
      stream.unshift(this.#isForeign() ? (this.side.random.chance(0.5) ? foreignCopy(bytes) : foreignList(bytes)) : bytes)
    }
  }

  /** Reads all there is, and closes when all is sent */
  finish (): void {
    if (this.canRead) {
      this.stream.resume()
      this.read(false)
    }

    this.#closeWhenSent()
  }

  #listen (): void {
    const { stream } = this
    const isOurs = this.side.isOurs

    // an early stream may have ended before anybody listened
    this.hasEndedWell = stream.readableEnded

    if (stream.status !== 'open') {
      // or its transport failed in the moment it was opened
      this.closed = { error: new Error('was over before the application had it') }
    }

    this.#on('close', evt => {
      this.#run.trace(() => `  ${this.name} closes${evt.error == null ? '' : `: ${print(evt.error)}`}`)
      law(this.closed == null, () => `${this.name} closed twice`)
      law(evt.error == null || isError(evt.error), () => `${this.name} closed with ${print(evt.error)}, which is no error`)
      law(evt.error != null || stream.status !== 'aborted' || !isOurs, () => `${this.name} was aborted and closed without an error`)
      law(evt.error != null || !this.side.hasRefusedWrite || this.#hasWrittenFin, () => `${this.name} closed without an error, and its transport never took its FIN`)
      this.closed = { error: evt.error }
      this.#isFinTooLate = !this.side.tap.dialogue(Number(stream.id)).hasPeerFinished
      // who negotiates may put back more than a stream may hold
      this.conversation.isAborted ||= evt.error?.name === 'StreamBufferError'
      this.#noteRefusal(evt.error)
      this.#checkChange(evt.error)

      if (this.isFailing) {
        this.#noteUnread()
        this.hasAborted = true
      }

      // 'aborted' without our doing: maxWriteBufferLength
      law(evt.error == null || this.conversation.isAborted || this.side.mayLose(this) || evt.error.name === 'StreamBufferError', () => `${this.name} closed with ${evt.error} for no reason that the application gave`)
    })
    this.#on('end', () => {
      this.#run.trace(() => `  ${this.name} ends`)

      if (stream.status === 'closed') {
        this.#noteRefusal(undefined)
      }

      // a loop may still have to take the last chunk
      this.#endedWell(isOurs && this.reading !== 'loop' && !this.#isCutOff)
    })
    this.#on('drain', () => {
      law(!isOurs || this.#isToldToWait, () => `${this.name} was told to go on without having been told to wait`)
      this.#isToldToWait = false
      this.#react(true)
    })
  }

  async #pump (totalBytes: number, messageBytes: number): Promise<void> {
    const run = this.#run
    let leftBytes = Math.min(totalBytes, messageBytes * MAX_PUMPED_MESSAGES)
    this.#pumps++

    while (Math.min(leftBytes, this.leftBytes) > 0 && this.canWrite) {
      const byteLength = Math.min(leftBytes, this.leftBytes, messageBytes)
      leftBytes -= byteLength

      if (!this.send(byteLength)) {
        const err = await run.track(`onDrain() of ${this.name}`, this.stream.onDrain())
        law(err == null || !this.canWrite, () => `onDrain() of ${this.name} was rejected with ${err} while it is open`)
      }
    }

    this.#pumps--

    if (run.isSettling) {
      this.#closeWhenSent()
    }
  }

  async #negotiate (): Promise<void> {
    const { stream, side: { random } } = this
    const neededBytes = random.integer(1, MAX_NEGOTIATED_BYTES)
    const { promise, resolve } = Promise.withResolvers<void>()
    let takenBytes = 0

    const onMessage = (evt: MessageStreamEvents['message']): unknown => this.#run.attempt(() => {
      this.#received(evt.data)
      takenBytes += evt.data.byteLength

      if (takenBytes >= neededBytes) {
        resolve()
      }
    })

    stream.addEventListener('message', onMessage)
    stream.addEventListener('end', () => { resolve() })
    stream.addEventListener('close', () => { resolve() })

    if (this.isOver) {
      resolve()
    }

    await promise
    await this.#pauseAtRandom()
    stream.removeEventListener('message', onMessage)

    if (takenBytes > neededBytes && this.reading === 'negotiation') {
      const hasAll = this.#hasAll

      try {
        this.pushBack(takenBytes - neededBytes)
      } catch (err) {
        law(!hasAll || this.hasAborted || this.isFailing, () => `${this.name} does not take back ${takenBytes - neededBytes} bytes that were negotiated with: ${print(err)}`)
        // with the connection or by a reset, and more may have been sent
        this.reading = 'closed'
        return
      }
    }

    await this.#pauseAtRandom()

    if (this.reading === 'negotiation') {
      this.reading = 'nobody'
      this.read(random.chance(0.5))
    }
  }

  async #pauseAtRandom (): Promise<void> {
    switch (this.side.random.integer(0, 2)) {
      case 0:
        await undefined
        break
      case 1:
        await new Promise(resolve => { setImmediate(resolve) })
        break
      default:
        await this.#run.sim.sleep(this.side.random.integer(0, 5))
    }
  }

  /** A second loop over the stream holds up the first one, and leaves after a few chunks, also while the first one waits */
  async #accompany (): Promise<void> {
    const { random } = this.side
    let chunksUntilBreak = random.integer(1, 3)

    try {
      for await (const bytes of this.stream) {
        law(bytes.byteLength > 0, () => `a companion on ${this.name} was given nothing`)
        await this.#run.sim.sleep(this.#run.isSettling ? 0 : random.integer(0, 20))

        if (this.#run.isSettling || --chunksUntilBreak === 0) {
          return
        }
      }
    } catch {
      // the loop that it accompanies judges how the stream ended
    }
  }

  async #loop (): Promise<void> {
    const { random } = this.side
    const isSlow = random.chance(0.5)
    let chunksUntilBreak = random.chance(0.2) && !this.#hasCompanion ? random.integer(1, 3) : Infinity

    try {
      for await (const bytes of this.stream) {
        this.#received(bytes)
        this.#react(false)

        if (this.#run.isSettling) {
          continue
        }

        if (isSlow) {
          await this.#run.sim.sleep(random.integer(0, 5))
        }

        if (--chunksUntilBreak === 0) {
          break
        }
      }

      if (chunksUntilBreak === 0) {
        this.#stopReading()
      } else {
        this.#endedWell(this.side.isOurs && this.closed?.error == null)
      }
    } catch (err: any) {
      if (isError(err) && err instanceof ApplicationFault) {
        // thrown in the body of the loop, or what the stream was aborted with
        if (!this.hasAborted) {
          if (this.#hasCompanion) {
            this.closeRead()
          } else {
            this.#stopReading()
          }
        }
      } else if (this.side.isOurs) {
        law(!this.#hasAll || this.hasAborted || this.isFailing, () => `the loop over ${this.name} threw ${print(err)} behind all bytes and the FIN`)

        if (!this.#isCutOff) {
          throw err
        }
      }
    }
  }

  /** The peer's FIN has come, to a session that goes on, and every byte in front of it was read */
  get #hasAll (): boolean {
    const { incoming, side, stream } = this

    return !this.#isFinTooLate && !side.isLeaving && !side.hasRefusedWrite && side.tap.dialogue(Number(stream.id)).hasPeerFinished && incoming.receivedBytes === incoming.sentBytes
  }

  get #isCutOff (): boolean {
    return this.stream.status === 'aborted' || this.stream.status === 'reset'
  }

  #stopReading (): void {
    this.reading = this.reading === 'closed' ? 'closed' : 'nobody'

    if (this.stream.readableEnded) {
      // that was said while the loop still had the last chunk to take
      this.#endedWell(this.side.isOurs && !this.#isCutOff)
    }

    if (this.#run.isSettling && this.canRead) {
      this.read(false)
    }
  }

  #noteUnread (): void {
    this.#keepsUnread ||= this.stream.status !== 'open' && (this.reading === 'nobody' || this.stream.readStatus === 'paused')
  }

  #received (bytes: Uint8Array | Uint8ArrayList): void {
    const { incoming } = this
    this.#run.trace(() => `  ${this.name} receives ${bytes.byteLength} bytes`)
    law(this.#hasLoop || this.stream.readStatus !== 'paused', () => `${this.name} received ${bytes.byteLength} bytes while it is paused`)
    // a loop may have been handed one chunk that it had not taken yet
    law(!this.hasAborted || this.#keepsUnread || (this.#hasLoop && ++this.#chunksSinceAbort === 1), () => `${this.name} received ${bytes.byteLength} bytes after it was aborted`)
    law(this.reading !== 'closed' || this.#hasLoop, () => `${this.name} received ${bytes.byteLength} bytes after closeRead()`)

    // the connection may have ended within a frame
    if (this.side.keepsMessages && !this.hasPushedBack && this.stream.status === 'open') {
      law(incoming.isNextMessage(bytes.byteLength), () => `${this.name} received ${bytes.byteLength} bytes at ${incoming.receivedBytes}, which is not one message`)
    }

    incoming.receive(ArrayBuffer.isView(bytes) ? [bytes] : bytes)
  }

  /** Whoever is told that this is all must have got all */
  #endedWell (isCertain: boolean): void {
    const { incoming } = this

    if (isCertain && this.reading !== 'closed' && !this.side.isLeaving && !this.hasAborted && !this.isFailing) {
      this.hasEndedWell = true
      law(incoming.isClosed && incoming.receivedBytes === incoming.sentBytes, () => `${this.name} was told that it has all, which is ${incoming.receivedBytes} of ${incoming.sentBytes} bytes${incoming.isClosed ? '' : ', and the sender has not closed it'}`)
    }
  }

  #react (isHandler: boolean): void {
    if (!this.#run.isSettling) {
      this.side.react(this, isHandler)
    }
  }

  #on<Type extends keyof MessageStreamEvents> (type: Type, listener: (evt: MessageStreamEvents[Type]) => void): void {
    this.stream.addEventListener(type, evt => this.#run.attempt(() => { listener(evt) }))
  }

  #send (data: Uint8Array | Uint8ArrayList): boolean {
    const { stream, conversation } = this
    this.#run.sentBytes += data.byteLength
    const isFree = stream.send(data)
    this.#isToldToWait ||= !isFree
    // beyond maxWriteBufferLength
    conversation.isAborted ||= stream.status === 'aborted'

    return isFree
  }

  #isForeign (): boolean {
    return this.side.isOurs && this.#run.isUpTo('foreignViews') && this.side.random.chance(FOREIGN_CHANCE)
  }

  /** In one call, of this stream or of another one; or lets one go on that was paused */
  #pauseAndResume (): void {
    const { random, ends } = this.side
    const end = random.chance(0.6) ? this : random.pick(ends)

    if (end.canRead) {
      this.#run.trace(() => `  ${this.name}: a listener pauses and resumes ${end.name}`)
      end.stream.pause()
      end.stream.resume()
    }
  }

  /** All bytes and the FIN were taken by the transport, or the peer has left and has no use for the FIN */
  get #hasWrittenFin (): boolean {
    const { isOurs, tap } = this.side
    const id = Number(this.stream.id)

    return !isOurs || tap.dialogue(id).hasFinished || (tap.wasLeft(id) && this.stream.writeBufferLength === 0)
  }

  /** The muxer gives up what nobody has begun to read on a stream of the peer that this side has closed */
  #noteRefusal (err: Error | undefined): void {
    const { stream, side, outgoing } = this
    const isUnfinished = side.isOurs && err == null && !side.isLeaving && !side.tap.dialogue(Number(stream.id)).hasPeerFinished
    const isRefused = isUnfinished && stream.direction === 'inbound' && outgoing.isClosed && this.reading === 'nobody'
    law(!isUnfinished || isRefused || this.#run.isEnding, () => `${this.name} closed without an error, and its peer has not finished`)
    this.hasAborted ||= isRefused
    this.conversation.isAborted ||= isRefused
  }

  /** A stream whose bytes were changed ends for that reason, and no other does */
  #checkChange (err: (Error & { code?: unknown }) | undefined): void {
    const { stream, side, conversation } = this
    const [peersEnd] = conversation.ends.filter(end => end !== this)
    this.isEndedByChange = side.isOurs && err?.code === 'ERR_SENT_BYTES_CHANGED'
    this.hasAborted ||= this.isEndedByChange

    law(!this.isEndedByChange || (this.hasChangedBytes && stream.status === 'aborted'), () => `${this.name} is ${stream.status} for changed bytes, and none were changed`)

    if (this.hasChangedBytes && !this.isEndedByChange) {
      const isGivenUp = this.hasAborted || this.isFailing || side.mayLose(this) || err?.name === 'StreamBufferError' || peersEnd?.stream.status === 'aborted' || peersEnd?.hasAborted === true
      law(isGivenUp, () => `${this.name} closed with ${print(err)} after bytes that waited were changed`)
      law(err != null || side.isLeaving, () => `${this.name} closed without an error after bytes that waited were changed`)
    }
  }

  #closeWhenSent (): void {
    if (this.#pumps === 0 && this.canWrite) {
      this.close()
    }
  }
}
