// One end of a connection: hands down as Sender.pull does, and answers pings as its peer's program finds time to, or not at all.
import { Positions } from '../../../src/core/positions.ts'
import { RoundTrip } from '../../../src/core/window/round-trip.ts'
import { FIRST_MARK_VALUE, HEADER_BYTES } from '../../../src/core/wire/frame.ts'
import { pathInit, RECORD_BYTES, tellWritten, writeMark } from '../../../testing/core/driven-path.ts'
import type { CreatePathControl, PathControl } from '../../../src/core/path-control.ts'
import type { Program } from './program.ts'
import type { Timeline } from '../../../testing/simulation/timeline.ts'
import type { Socket } from './socket.ts'

/** What one write holds */
export interface Content {
  dataBytes: number
  /** When each urgent message in it was due */
  urgentDueMs: number[]
  pings: number[]
  pongs: number[]
}

/** When a ping that was read is answered: so many milliseconds later, or never */
export type Answers = (nowMs: number) => number | undefined

export interface EndpointInit {
  timeline: Timeline
  program: Pick<Program, 'nowMs' | 'post' | 'spend'>
  out: Pick<Socket<Content>, 'send' | 'onDrain'>
  in: Pick<Socket<Content>, 'read' | 'onReadable'>
  maxQueueDelayMs: number
  createPathControl: CreatePathControl
  answers: Answers
  /** Sealing or opening a megabyte takes so long */
  msPerMegabyte: number
}

const MAX_TURN_BYTES = 4_194_304
const MAX_TURN_MS = 5
export const URGENT_BYTES = 112
const BYTES_PER_MEGABYTE = 1e6

export class Endpoint {
  readonly control: PathControl
  /** What the application has written and nobody has handed down */
  waitingBytes = 0
  deliveredBytes = 0
  onData = (_byteLength: number): void => {}
  readonly latenciesMs: number[] = []
  readonly #init: EndpointInit
  readonly #roundTrip = new RoundTrip()
  #urgentDueMs: number[] = []
  #pongs: number[] = []
  #pendingPing: number | undefined
  readonly #positions = new Positions()
  #pingedBytes = 0
  #lastPongMs = 0
  #isFull = false
  #isLookArmed = false
  #isTurnAwaited = false

  constructor (init: EndpointInit) {
    this.#init = init
    this.control = init.createPathControl(pathInit(init.maxQueueDelayMs, RECORD_BYTES, () => init.program.nowMs), this.#positions)
    init.in.onReadable = () => { init.program.post(this.#read) }
    init.out.onDrain = () => {
      init.program.post(() => {
        this.#isFull = false
        this.#write()
      })
    }
    // keep-alive sends the first ping
    this.#pendingPing = this.#roundTrip.begin()
    init.program.post(this.#write)
  }

  /** What was measured so far */
  forget (): void {
    this.deliveredBytes = 0
    this.latenciesMs.length = 0
  }

  /** In a turn of its program */
  send (byteLength: number): void {
    this.#init.program.post(() => {
      this.waitingBytes += byteLength
      this.#write()
    })
  }

  /** It is due now, and sent in a turn of its program */
  sendUrgent (): void {
    const dueMs = this.#init.timeline.nowMs

    this.#init.program.post(() => {
      this.#urgentDueMs.push(dueMs)
      this.#write()
    })
  }

  readonly #read = (): void => {
    const { program, msPerMegabyte } = this.#init

    this.#init.in.read(byteLength => {
      this.control.onChunk(byteLength, program.nowMs)
      program.spend(byteLength / BYTES_PER_MEGABYTE * msPerMegabyte)
    }, content => { this.#take(content) })
    this.#write()
  }

  #take ({ dataBytes, urgentDueMs, pings, pongs }: Content): void {
    const { nowMs } = this.#init.program
    this.deliveredBytes += dataBytes
    this.onData(dataBytes)
    urgentDueMs.forEach(dueMs => this.latenciesMs.push(nowMs - dueMs))
    pings.forEach(value => { this.#answer(value) })
    pongs.forEach(value => { this.#onPong(value, nowMs) })
  }

  #answer (value: number): void {
    const { program, timeline, answers } = this.#init
    this.control.onPing(value, program.nowMs)
    const afterMs = answers(program.nowMs)

    if (afterMs === undefined) {
      return
    }

    // they stay in order
    const atMs = Math.max(this.#lastPongMs, program.nowMs + afterMs)
    this.#lastPongMs = atMs

    if (atMs <= program.nowMs) {
      this.#pongs.push(value)
    } else {
      timeline.at(atMs, () => {
        program.post(() => {
          this.#pongs.push(value)
          this.#write()
        })
      })
    }
  }

  #onPong (value: number, nowMs: number): void {
    if (value >= FIRST_MARK_VALUE) {
      this.control.onPong(value, nowMs)
    } else if (this.#roundTrip.end(value, nowMs) && this.#roundTrip.lastMs !== undefined) {
      this.control.onRoundTrip(this.#pingedBytes, this.#roundTrip.lastMs, nowMs)
    }
  }

  get #hasOutput (): boolean {
    return this.#pongs.length > 0 || this.#urgentDueMs.length > 0 || this.#pendingPing !== undefined || this.control.isMarkDue ||
      (this.waitingBytes > 0 && !this.control.isHeld)
  }

  readonly #write = (): void => {
    const { program } = this.#init
    const beganMs = program.nowMs
    let turnBytes = 0

    while (!this.#isFull && this.#hasOutput) {
      turnBytes += this.#pull()

      if (turnBytes >= MAX_TURN_BYTES || program.nowMs - beganMs >= MAX_TURN_MS) {
        this.#awaitTurn()
        break
      }
    }

    if (this.control.isHeld && !this.#isLookArmed) {
      this.#isLookArmed = true
      this.#init.timeline.in(Math.max(1, this.control.lookDelayMs), () => {
        program.post(() => {
          this.#isLookArmed = false
          this.control.look(program.nowMs)
          this.#write()
        })
      })
    }
  }

  #awaitTurn (): void {
    if (!this.#isTurnAwaited) {
      this.#isTurnAwaited = true
      this.#init.program.post(() => {
        this.#isTurnAwaited = false
        this.#write()
      })
    }
  }

  /** As Sender.pull */
  #pull (): number {
    const { control } = this
    const { program, out, msPerMegabyte } = this.#init
    const { nowMs } = program
    const { writeBytes } = control.planWrite(RECORD_BYTES, this.waitingBytes, 1, false)
    const content: Content = { dataBytes: 0, urgentDueMs: [], pings: [], pongs: [] }
    let markBytes = 0

    const mark = (): boolean => {
      const value = writeMark(control, this.#positions, nowMs)

      if (value !== undefined) {
        content.pings.push(value)
        markBytes += HEADER_BYTES
      }

      return value !== undefined
    }

    if (control.isMarkDue) {
      mark()
    }

    let byteLength = HEADER_BYTES * this.#pongs.length
    content.pongs = this.#pongs
    this.#pongs = []

    if (this.#pendingPing !== undefined) {
      this.#roundTrip.sent(nowMs)
      this.#pingedBytes = this.#positions.writtenBytes
      content.pings.push(this.#pendingPing)
      byteLength += HEADER_BYTES
      this.#pendingPing = undefined
    }

    content.urgentDueMs = this.#urgentDueMs
    byteLength += URGENT_BYTES * this.#urgentDueMs.length
    this.#urgentDueMs = []

    if (!control.isHeld && this.waitingBytes > 0 && byteLength < writeBytes) {
      content.dataBytes = Math.min(this.waitingBytes, writeBytes - byteLength - markBytes)
      byteLength += content.dataBytes
      this.waitingBytes -= content.dataBytes
    }

    if (tellWritten(control, this.#positions, byteLength, nowMs, this.waitingBytes === 0, URGENT_BYTES * content.urgentDueMs.length, content.dataBytes + content.urgentDueMs.length > 0)) {
      if (!mark() && this.#roundTrip.isStale(nowMs)) {
        this.#pendingPing = this.#roundTrip.begin()
      }
    }

    byteLength += markBytes
    program.spend(byteLength / BYTES_PER_MEGABYTE * msPerMegabyte)

    if (!out.send(byteLength, content, program.nowMs)) {
      this.#isFull = true
      control.onTransportFull(nowMs)
    }

    return byteLength
  }
}
