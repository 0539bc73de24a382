/**
 * What is in flight, as a pipe: from its entrance at the left, at the muxer, to the peer at the right. Both muxers' have one scale.
 */
import { isUrgent, prepare } from './canvas.ts'
import type { Palette } from './canvas.ts'
import type { Cells } from '../report.ts'

const SCALES_MS = [20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]
/** A scale becomes smaller when this part of the smaller one is enough */
const ROOMY_PART = 0.8
const LEAST_WIDTH = 1
const URGENT_WIDTH = 3
/** Cells move on until the next report, but a late one does not make the pipe look empty */
const MOST_MOVED_PART = 1 / 4
/** Wider cells have a gap between them */
const GAP = 1
const WIDE = 4

export function longestMs ({ toMs }: Cells): number {
  return toMs.at(-1) ?? 0
}

/** Does not jump to and fro at a border */
export function chooseScaleMs (longestMs: number, currentMs: number): number {
  const fit = (ms: number): number => SCALES_MS.find(scale => scale >= ms) ?? SCALES_MS[SCALES_MS.length - 1]
  const needed = fit(longestMs)

  return needed > currentMs ? needed : Math.min(currentMs, fit(longestMs / ROOMY_PART))
}

/** `elapsedMs` since the report */
export function drawPipe (canvas: HTMLCanvasElement, palette: Palette, cells: Cells, scaleMs: number, elapsedMs: number): void {
  const { context, width, height } = prepare(canvas)
  const movedMs = Math.min(elapsedMs, longestMs(cells) * MOST_MOVED_PART)
  const xOf = (ms: number): number => width - (ms - movedMs) / scaleMs * width

  const draw = (i: number, leastWidth: number): void => {
    const right = Math.min(width, xOf(cells.fromMs[i]))
    const cellWidth = Math.max(leastWidth, right - xOf(cells.toMs[i]))

    if (cells.toMs[i] > movedMs) {
      context.fillStyle = palette.ofStream(cells.streamIds[i])
      context.fillRect(right - cellWidth, 0, cellWidth - (cellWidth > WIDE ? GAP : 0), height)
    }
  }

  cells.streamIds.forEach((_, i) => { draw(i, LEAST_WIDTH) })
  // above the others: it is what one looks for
  cells.streamIds.forEach((id, i) => { isUrgent(id) && draw(i, URGENT_WIDTH) })
}
