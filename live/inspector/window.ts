/**
 * The part of a capture's time that is shown, and which frames and spans are in it.
 */
import type { Frame, Span, Stream } from './timeline.ts'

export interface TimeWindow {
  fromUs: number
  toUs: number
}

/** So that the first and the last frame are not at the very edge */
const MARGIN_PART = 0.02
const LEAST_US = 50

export function lengthUs ({ fromUs, toUs }: TimeWindow): number {
  return toUs - fromUs
}

/** All of it, and a little more */
export function around ({ fromUs, toUs }: TimeWindow): TimeWindow {
  const marginUs = Math.max(LEAST_US, (toUs - fromUs) * MARGIN_PART)

  return { fromUs: fromUs - marginUs, toUs: toUs + marginUs }
}

/** The window within `bounds`, with the same length if that fits */
export function within (window: TimeWindow, bounds: TimeWindow): TimeWindow {
  const length = Math.min(lengthUs(window), lengthUs(bounds))
  const fromUs = Math.min(Math.max(window.fromUs, bounds.fromUs), bounds.toUs - length)

  return { fromUs, toUs: fromUs + length }
}

/** `atUs` stays where it is. A factor below 1 shows less time. */
export function zoom ({ fromUs, toUs }: TimeWindow, factor: number, atUs: number): TimeWindow {
  const bounded = Math.max(factor, LEAST_US / (toUs - fromUs))

  return { fromUs: atUs - (atUs - fromUs) * bounded, toUs: atUs + (toUs - atUs) * bounded }
}

export function pan ({ fromUs, toUs }: TimeWindow, byUs: number): TimeWindow {
  return { fromUs: fromUs + byUs, toUs: toUs + byUs }
}

/** The index of the first frame from `atUs` on */
export function firstFrom (frames: readonly Frame[], atUs: number): number {
  let low = 0
  let high = frames.length

  while (low < high) {
    const middle = (low + high) >>> 1

    if (frames[middle].atUs < atUs) {
      low = middle + 1
    } else {
      high = middle
    }
  }

  return low
}

/** The frame that is closest to `atUs`, at most `mostUs` away, and of the direction that is asked for */
export function nearest (frames: readonly Frame[], atUs: number, mostUs = Infinity, isSent?: boolean): Frame | undefined {
  const start = firstFrom(frames, atUs)
  const find = (step: 1 | -1, from: number): Frame | undefined => {
    for (let i = from; i >= 0 && i < frames.length && Math.abs(frames[i].atUs - atUs) <= mostUs; i += step) {
      if (isSent == null || frames[i].isSent === isSent) {
        return frames[i]
      }
    }

    return undefined
  }
  const [before, after] = [find(-1, start - 1), find(1, start)]

  return before == null || (after != null && after.atUs - atUs < atUs - before.atUs) ? after : before
}

/** Those that are open at some time in the window, or have a frame there */
export function streamsIn (streams: readonly Stream[], { fromUs, toUs }: TimeWindow): Stream[] {
  return streams.filter(stream => stream.frames[0].atUs < toUs && (stream.toUs >= fromUs || stream.frames[stream.frames.length - 1].atUs >= fromUs))
}

/** `endUs` is when spans that go on are to end */
export function overlapUs (span: Span, { fromUs, toUs }: TimeWindow, endUs: number): number {
  return Math.max(0, Math.min(span.toUs, endUs, toUs) - Math.max(span.fromUs, fromUs))
}
