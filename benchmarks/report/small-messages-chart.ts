// How many small messages a second each muxer carries, drawn as SVG: a panel for each row.
import { fullNameOf } from '../contestants.ts'
import { medianOf, ratioOf, samplesOf } from '../harness/samples.ts'
import { inWords } from '../rows.ts'
import { drawPanels } from './panels.ts'
import { isOfSmallMessages } from './verdict.ts'
import type { MuxerName } from '../contestants.ts'
import type { Row } from '../rows.ts'
import type { CellSample } from './metrics.ts'
import type { Scheme } from './svg.ts'

interface SmallMessages {
  label: string
  /** Ours by theirs, in each round: the median */
  rates: Array<{ muxer: MuxerName, messagesPerS: number, timesAsMany?: number }>
}

/** For "110 thousand" */
const FIGURE_WIDTH = 100

const ratio = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', compactDisplay: 'long', maximumSignificantDigits: 2 })

export function ratesOf (samples: CellSample[], rows: Row[], muxers: MuxerName[]): SmallMessages[] {
  return rows.filter(isOfSmallMessages).map(({ id, label }) => ({
    label,
    rates: muxers.map(muxer => {
      const own = samplesOf(samples, id, muxer)

      return { muxer, messagesPerS: medianOf(own, 'messagesPerS') ?? NaN, timesAsMany: ratioOf(samplesOf(samples, id, 'ours'), own, 'messagesPerS')?.median }
    })
  }))
}

function compare (rates: SmallMessages['rates']): string | undefined {
  const compared = rates.flatMap(({ muxer, timesAsMany }) => muxer === 'ours' || timesAsMany == null ? [] : `${ratio.format(timesAsMany)} times ${fullNameOf(muxer)}`)

  return compared.length === 0 ? undefined : `this muxer has ${compared.join(', ')}`
}

export function drawSmallMessages (scheme: Scheme, measured: SmallMessages[]): string {
  return drawPanels(scheme, {
    title: 'Small messages a second',
    subtitle: 'Over TCP and Noise. More is better; each panel has its own scale.',
    panels: measured.map(({ label, rates }) => ({
      title: inWords(label),
      subtitle: compare(rates),
      values: rates.map(({ muxer, messagesPerS }) => ({
        name: muxer === 'ours' ? 'this muxer' : fullNameOf(muxer),
        value: messagesPerS,
        figure: compact.format(messagesPerS),
        colour: muxer === 'ours' ? scheme.ours : scheme.other
      }))
    })),
    figureWidth: FIGURE_WIDTH
  })
}
