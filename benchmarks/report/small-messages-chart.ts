// How many small messages a second each muxer carries, drawn as SVG: a panel for each row.
import { fullNameOf } from '../contestants.ts'
import { medianOf, ratioOf, samplesOf } from '../harness/samples.ts'
import { inWords } from '../rows.ts'
import { drawPanels } from './panels.ts'
import { OTHER_COLOUR, OUR_COLOUR } from './svg.ts'
import { formatTimes, isOfSmallMessages } from './verdict.ts'
import type { MuxerName } from '../contestants.ts'
import type { Row } from '../rows.ts'
import type { Bar } from './panels.ts'
import type { CellSample } from './metrics.ts'

/** For a figure of seven digits, or one of five with what ours is */
const FIGURE_WIDTH = 125

export function drawSmallMessages (samples: CellSample[], rows: Row[], muxers: MuxerName[]): string {
  function barOf (rowId: string, muxer: MuxerName): Bar {
    const own = samplesOf(samples, rowId, muxer)
    const value = medianOf(own, 'messagesPerS') ?? NaN
    const ratio = ratioOf(samplesOf(samples, rowId, 'ours'), own, 'messagesPerS')
    const rate = Math.round(value).toLocaleString('en')

    return {
      name: fullNameOf(muxer),
      value,
      figure: muxer === 'ours' || ratio == null ? rate : `${rate}, ours ${formatTimes(ratio.median)} ×`,
      colour: muxer === 'ours' ? OUR_COLOUR : OTHER_COLOUR
    }
  }

  return drawPanels({
    title: 'Small messages a second',
    subtitle: 'Over TCP and Noise, by the size of a message. More is better; each panel has a scale of its own.',
    panels: rows.filter(isOfSmallMessages).map(({ id, label }) => ({ title: inWords(label), bars: muxers.map(muxer => barOf(id, muxer)) })),
    figureWidth: FIGURE_WIDTH
  })
}
