/**
 * The last writes as rows of frames, the newest at the top.
 */
import { prepare } from './canvas.ts'
import type { Palette } from './canvas.ts'
import type { Writes } from '../report.ts'

const ROW = 7
const ROW_GAP = 2
/** Frames and writes may be shorter than a pixel, and are to be seen */
const LEAST_WIDTH = 2
const WIDE = 4

export function longestBytes ({ frameCounts, frameBytes }: Writes): number {
  let frame = 0

  return frameCounts.reduce((longest, count) => {
    const bytes = frameBytes.subarray(frame, frame += count).reduce((sum, bytes) => sum + bytes, 0)

    return Math.max(longest, bytes)
  }, 0)
}

export function drawWrites (canvas: HTMLCanvasElement, palette: Palette, { frameCounts, frameBytes, streamIds }: Writes, scaleBytes: number): void {
  const { context, width, height } = prepare(canvas)
  let endFrame = frameBytes.length

  for (let row = 0, write = frameCounts.length - 1; write >= 0 && (row + 1) * ROW <= height; row++, write--) {
    let startBytes = 0

    for (let frame = endFrame - frameCounts[write]; frame < endFrame; frame++) {
      const frameWidth = frameBytes[frame] / scaleBytes * width
      context.fillStyle = palette.ofStream(streamIds[frame])
      context.fillRect(startBytes / scaleBytes * width, row * ROW, Math.max(LEAST_WIDTH, frameWidth - (frameWidth > WIDE ? 1 : 0)), ROW - ROW_GAP)
      startBytes += frameBytes[frame]
    }

    endFrame -= frameCounts[write]
  }
}
