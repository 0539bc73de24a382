/**
 * The picture of a connection: the axis, its round trips, and a row for each stream, as far as they are in view.
 */
import { prepare } from '../page/canvas.ts'
import { toBytes, toTime } from '../page/text.ts'
import { binFrames, binRoundTrips, binSpans, Kind } from './bins.ts'
import { nameOf } from './summary.ts'
import { lengthUs } from './window.ts'
import type { Palette } from '../page/canvas.ts'
import type { Bins } from './bins.ts'
import type { Row } from './summary.ts'
import type { Connection, Credit, Frame, Stream } from './timeline.ts'
import type { TimeWindow } from './window.ts'

export interface Scene {
  connection: Connection
  /** Those that have a row */
  streams: Stream[]
  window: TimeWindow
  /** When the capture began */
  startUs: number
  /** When what goes on in the connection is to end */
  endUs: number
  /** Of the streams, which are below the connection */
  scrolledPx: number
  /** With the row that has it */
  chosen?: { row: Row, frame: Frame }
  /** The row that arrow keys are in */
  current?: Row
}

/** In CSS pixels */
export const AXIS_PX = 22
const LABEL_PX = 17
const HALF_PX = 18
const CHART_PX = 52
const ROW_GAP_PX = 5
export const ROW_PX = LABEL_PX + 2 * HALF_PX + ROW_GAP_PX
/** The axis and the connection, which stay in view */
export const HEAD_PX = AXIS_PX + LABEL_PX + CHART_PX + 2 * HALF_PX + 2 * ROW_GAP_PX

const COLUMN_PX = 2
const TICK_EVERY_PX = 80
/** A payload of this much fills its half */
const TALLEST_BYTES = 2 ** 20
const LEAST_DATA_PX = 4
const UPDATE_PX = 5
/** Beyond it they would be one block */
const SHAPE_EVERY_PX = 7
/** Times a power of ten */
const STEPS = [1, 2, 5]

const FONT = '12px system-ui, sans-serif'

/** Where each row is: the connection in the head, streams below it */
export function rowAt (y: number, { connection, streams, scrolledPx }: Scene): Row | undefined {
  return y < HEAD_PX ? connection : streams.at(Math.floor((y - HEAD_PX + scrolledPx) / ROW_PX))
}

/** Whether `y` is in the half of what was sent, the upper one */
export function isUpperHalf (y: number, scene: Scene): boolean {
  const top = y < HEAD_PX ? HEAD_PX - ROW_GAP_PX - 2 * HALF_PX : HEAD_PX + Math.floor((y - HEAD_PX + scene.scrolledPx) / ROW_PX) * ROW_PX - scene.scrolledPx + LABEL_PX

  return y < top + HALF_PX
}

export function drawScene (canvas: HTMLCanvasElement, palette: Palette, scene: Scene): void {
  const { context, width, height } = prepare(canvas)
  const picture = new Picture(context, width, height, palette, scene)
  picture.drawStreams()
  picture.drawHead()
  picture.drawMoment()
}

class Picture {
  readonly #context: CanvasRenderingContext2D
  readonly #width: number
  readonly #height: number
  readonly #palette: Palette
  readonly #scene: Scene
  readonly #columns: number
  /** Where each is, and what it says */
  readonly #ticks: Array<[x: number, label: string]> = []

  constructor (context: CanvasRenderingContext2D, width: number, height: number, palette: Palette, scene: Scene) {
    this.#context = context
    this.#width = width
    this.#height = height
    this.#palette = palette
    this.#scene = scene
    this.#columns = Math.max(1, Math.ceil(width / COLUMN_PX))
    context.font = FONT
    context.textBaseline = 'alphabetic'
    const stepUs = roundUp(lengthUs(scene.window) * TICK_EVERY_PX / width)

    for (let us = Math.ceil((scene.window.fromUs - scene.startUs) / stepUs) * stepUs; us < scene.window.toUs - scene.startUs; us += stepUs) {
      this.#ticks.push([this.#xOf(scene.startUs + us), toAxis(us, stepUs)])
    }
  }

  drawStreams (): void {
    const { streams, scrolledPx } = this.#scene
    const first = Math.floor(scrolledPx / ROW_PX)

    for (let i = first; i < streams.length && this.#topOf(i) < this.#height; i++) {
      this.#drawStream(streams[i], this.#topOf(i))
    }
  }

  drawHead (): void {
    const { connection } = this.#scene
    this.#fill('card', 0, 0, this.#width, HEAD_PX)
    this.#drawAxis()
    const longestUs = this.#drawRoundTrips(AXIS_PX + LABEL_PX)
    const middle = HEAD_PX - ROW_GAP_PX - HALF_PX
    this.#drawTrack(middle)
    const bins = binFrames(connection.frames, this.#window, this.#columns)
    this.#drawBars(bins.sent, middle, -1)
    this.#drawBars(bins.received, middle, 1)
    this.#drawShapes(bins.sent, middle, -1)
    this.#drawShapes(bins.received, middle, 1)
    this.#circleChosen(connection, middle)
    this.#drawName(connection, AXIS_PX, longestUs === 0 ? 'no round trips' : `round trips, up to ${toTime(longestUs / 1000)}`)
    this.#fill('rule', 0, HEAD_PX - 1, this.#width, 1)
  }

  /** The time of the chosen frame, in all rows */
  drawMoment (): void {
    const { chosen } = this.#scene

    if (chosen != null) {
      this.#fill('ink', this.#xOf(chosen.frame.atUs) - 0.5, AXIS_PX - 4, 1, this.#height)
    }
  }

  #circleChosen (row: Row, middle: number): void {
    const { chosen } = this.#scene

    if (chosen?.row === row) {
      const context = this.#context
      context.strokeStyle = this.#palette.get('ink')
      context.lineWidth = 2
      context.beginPath()
      context.arc(this.#xOf(chosen.frame.atUs) + COLUMN_PX / 2, middle + (chosen.frame.isSent ? -1 : 1) * HALF_PX / 2, HALF_PX / 2, 0, 2 * Math.PI)
      context.stroke()
    }
  }

  get #window (): TimeWindow {
    return this.#scene.window
  }

  #xOf (atUs: number): number {
    return (atUs - this.#window.fromUs) / lengthUs(this.#window) * this.#width
  }

  #topOf (stream: number): number {
    return HEAD_PX + stream * ROW_PX - this.#scene.scrolledPx
  }

  #fill (colour: string, x: number, y: number, width: number, height: number): void {
    this.#context.fillStyle = this.#palette.get(colour)
    this.#context.fillRect(x, y, width, height)
  }

  #write (text: string, colour: string, x: number, y: number, align: CanvasTextAlign = 'left'): void {
    this.#context.fillStyle = this.#palette.get(colour)
    this.#context.textAlign = align
    this.#context.fillText(text, x, y)
  }

  #drawAxis (): void {
    for (const [x, label] of this.#ticks) {
      this.#fill('control', x, AXIS_PX - 6, 1, 6)

      if (x + 4 + this.#context.measureText(label).width < this.#width) {
        this.#write(label, 'quiet', x + 4, AXIS_PX - 8)
      }
    }
  }

  #fillTrack (top: number, height: number): void {
    this.#fill('track', 0, top, this.#width, height)
    this.#ticks.forEach(([x]) => { this.#fill('rule', x, top, 1, height) })
  }

  #drawName (row: Row, top: number, aside: string): void {
    const isCurrent = this.#scene.current === row
    const y = top + LABEL_PX - 5
    this.#write(aside, 'quiet', this.#width - 2, y, 'right')
    this.#context.font = `600 ${FONT}`
    const room = this.#width - 8
    const name = `${isCurrent ? '▸ ' : ''}${nameOf(row)}`
    const asideFits = this.#context.measureText(name).width + this.#context.measureText(aside).width < room

    if (!asideFits) {
      // a name is worth more than a sum
      this.#fill('card', 0, top, this.#width, LABEL_PX)
    }

    this.#write(name, isCurrent ? 'ours' : 'ink', 0, y)
    this.#context.font = FONT
  }

  #drawStream (stream: Stream, top: number): void {
    const bins = binFrames(stream.frames, this.#window, this.#columns)
    const middle = top + LABEL_PX + HALF_PX
    this.#drawTrack(middle)
    this.#drawHalf(bins.sent, stream.sent, middle, -1)
    this.#drawHalf(bins.received, stream.received, middle, 1)
    this.#circleChosen(stream, middle)
    this.#drawName(stream, top, `↑ ${toBytes(bins.sent.dataBytes)}  ↓ ${toBytes(bins.received.dataBytes)}`)
  }

  /** One direction: waits are above the data, which may be in every column */
  #drawHalf (bins: Bins, { waits, mostBytes }: Credit, middle: number, way: 1 | -1): void {
    this.#drawCredit(bins, mostBytes, middle, way)
    this.#drawBars(bins, middle, way)
    this.#drawWaits(binSpans(waits, this.#window, this.#columns, this.#scene.endUs), way === 1 ? middle : middle - HALF_PX)
    this.#drawShapes(bins, middle, way)
  }

  #drawTrack (middle: number): void {
    this.#fillTrack(middle - HALF_PX, 2 * HALF_PX)
    this.#fill('control', 0, middle - 0.5, this.#width, 1)
  }

  /** From the middle, where none is left, to the edge, which is the most that there ever was */
  #drawCredit ({ hasCredit, leastCredit, mostCredit, lastCredit, firstCredit }: Bins, fullBytes: number, middle: number, way: 1 | -1): void {
    const context = this.#context
    const yOf = (bytes: number): number => middle + way * (1 + bytes / fullBytes * (HALF_PX - 2))
    let credit = firstCredit
    context.strokeStyle = this.#palette.get('credit')
    context.lineWidth = 1.5
    context.beginPath()

    for (let column = 0; column < this.#columns; column++) {
      const x = column * COLUMN_PX

      if (hasCredit[column] === 1) {
        if (!Number.isNaN(leastCredit[column])) {
          context.moveTo(x, yOf(Number.isNaN(credit) ? leastCredit[column] : Math.min(leastCredit[column], credit)))
          context.lineTo(x, yOf(Number.isNaN(credit) ? mostCredit[column] : Math.max(mostCredit[column], credit)))
        }

        credit = lastCredit[column]
      }

      if (!Number.isNaN(credit)) {
        context.moveTo(x, yOf(credit))
        context.lineTo(x + COLUMN_PX, yOf(credit))
      }
    }

    context.stroke()
  }

  #drawWaits (parts: Float32Array, top: number): void {
    const context = this.#context
    context.fillStyle = hatching(context, this.#palette.get('urgent'))

    for (let column = 0; column < this.#columns;) {
      const start = column
      const part = parts[column]

      while (column < this.#columns && parts[column] === part) {
        column++
      }

      if (part > 0) {
        context.globalAlpha = part
        context.fillRect(start * COLUMN_PX, top, (column - start) * COLUMN_PX, HALF_PX)
      }
    }

    context.globalAlpha = 1
  }

  #drawBars ({ kinds, bytes }: Bins, middle: number, way: 1 | -1): void {
    for (let column = 0; column < this.#columns; column++) {
      const kind = kinds[column]
      const x = column * COLUMN_PX

      if ((kind & Kind.Data) !== 0) {
        this.#fillHalf('ours', x, middle, way, 0, dataPx(bytes[column]))
      }

      if ((kind & Kind.Mark) !== 0) {
        this.#fillHalf('quiet', x, middle, way, 0, HALF_PX / 2)
      }

      if ((kind & Kind.Ping) !== 0) {
        this.#fillHalf('ink', x, middle, way, 0, HALF_PX - 3)
      }

      if ((kind & Kind.Update) !== 0) {
        this.#fillHalf('stock', x, middle, way, HALF_PX - UPDATE_PX, HALF_PX)
      }
    }
  }

  #drawShapes ({ kinds }: Bins, middle: number, way: 1 | -1): void {
    let lastX = -Infinity
    let lastShape: Shape | undefined

    for (let column = 0; column < this.#columns; column++) {
      const x = column * COLUMN_PX
      const shape = shapeOf(kinds[column])

      // a reset is never left out for a neighbour
      if (shape != null && (x - lastX >= SHAPE_EVERY_PX || (shape === 'cross' && lastShape !== 'cross'))) {
        this.#drawShape(shape, x, middle + way * HALF_PX / 2)
        lastX = x
        lastShape = shape
      }
    }
  }

  /** Between two distances from the middle */
  #fillHalf (colour: string, x: number, middle: number, way: 1 | -1, from: number, to: number): void {
    this.#fill(colour, x, way === 1 ? middle + from : middle - to, COLUMN_PX, to - from)
  }

  #drawShape (shape: Shape, x: number, y: number): void {
    const context = this.#context
    context.strokeStyle = this.#palette.get('card')
    context.fillStyle = this.#palette.get(shape === 'cross' ? 'urgent' : 'ink')
    context.lineWidth = 2
    context.lineJoin = 'round'
    context.beginPath()

    if (shape === 'triangle') {
      context.moveTo(x - 1, y - 6)
      context.lineTo(x + 8, y)
      context.lineTo(x - 1, y + 6)
      context.closePath()
    } else if (shape === 'square') {
      context.rect(x - 4, y - 4, 8, 8)
    } else {
      const arms: Array<[number, number]> = [[-5, -3], [-3, -5], [0, -2], [3, -5], [5, -3], [2, 0], [5, 3], [3, 5], [0, 2], [-3, 5], [-5, 3], [-2, 0]]
      arms.forEach(([dx, dy]) => { context.lineTo(x + dx, y + dy) })
      context.closePath()
    }

    context.stroke()
    context.fill()
  }

  /** Each ping as a bar from its sending to its pong, at the height of its length. Those under way together are a hill. Returns the longest in the window. */
  #drawRoundTrips (top: number): number {
    const { connection: { roundTrips }, endUs } = this.#scene
    const bottom = top + CHART_PX
    const longest = binRoundTrips(roundTrips, this.#window, this.#columns, endUs)
    const longestUs = longest.reduce((most, us) => Math.max(most, us), 0)
    this.#fillTrack(top, CHART_PX)

    const yOf = (us: number): number => bottom - us / longestUs * (CHART_PX - 2)
    this.#context.globalAlpha = 0.35
    longest.forEach((us, column) => { us > 0 && this.#fill('round-trip', column * COLUMN_PX, yOf(us), COLUMN_PX, bottom - yOf(us)) })
    this.#context.globalAlpha = 1

    for (const { fromUs, toUs } of roundTrips) {
      const pongUs = Math.min(toUs, endUs)

      if (pongUs > this.#window.fromUs && fromUs < this.#window.toUs) {
        const x = Math.max(0, this.#xOf(fromUs))
        this.#fill('round-trip', x, yOf(pongUs - fromUs) - 1, Math.max(COLUMN_PX, Math.min(this.#width, this.#xOf(pongUs)) - x), 2)
      }
    }

    return longestUs
  }
}

type Shape = 'triangle' | 'square' | 'cross'

function shapeOf (kinds: number): Shape | undefined {
  if ((kinds & (Kind.Rst | Kind.GoAway)) !== 0) {
    return 'cross'
  }

  return (kinds & Kind.Fin) !== 0 ? 'square' : (kinds & Kind.Syn) !== 0 ? 'triangle' : undefined
}

/** Logarithmic: a hundred bytes and a mebibyte are to be seen in one row */
function dataPx (bytes: number): number {
  return Math.min(HALF_PX - 1, LEAST_DATA_PX + (HALF_PX - 1 - LEAST_DATA_PX) * Math.log2(1 + bytes / 64) / Math.log2(1 + TALLEST_BYTES / 64))
}

function roundUp (value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))

  return (STEPS.find(step => step * power >= value) ?? 10) * power
}

/** With as many decimals as tell neighbours apart */
function toAxis (us: number, stepUs: number): string {
  const decimals = Math.max(0, 6 - Math.floor(Math.log10(stepUs)))

  return `${(us / 1e6).toFixed(decimals)} s`
}

const patterns = new Map<string, CanvasPattern>()

/** Stripes, so that it is told by more than its colour */
function hatching (context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  const known = patterns.get(colour)

  if (known != null) {
    return known
  }

  const size = 6
  const tile = new OffscreenCanvas(size, size)
  const pen = tile.getContext('2d')

  if (pen == null) {
    return colour
  }

  pen.fillStyle = colour
  pen.globalAlpha = 0.3
  pen.fillRect(0, 0, size, size)
  pen.globalAlpha = 1
  pen.strokeStyle = colour
  pen.lineWidth = 1.5

  for (const start of [-size, 0, size]) {
    pen.moveTo(start, size)
    pen.lineTo(start + size, 0)
  }

  pen.stroke()
  const pattern = context.createPattern(tile, 'repeat')

  if (pattern == null) {
    return colour
  }

  patterns.set(colour, pattern)

  return pattern
}
